"""tilevm: tile kernels on any CPU and on GPUs.

    import numpy, tilevm

    add = tilevm.load("vector_add.tbc")["vector_add"]
    c = add(numpy.arange(8, dtype="float32"), numpy.full(8, 0.5, "float32"))

`load` reads .tbc files, text, NVIDIA's Tile IR bytecode and Triton's TTIR. A `Module` is disassembled, saved, exported, compiled for GPUs; its
`Kernel`s are called with arrays of NumPy, torch, or whatever speaks DLPack. Failures are `Error`s with code, place and fix.
"""
from __future__ import annotations

from . import _tilevm
from ._errors import (ArgumentError, Diagnostic, Error, InternalError, ModuleError, NotFoundError, OutOfMemoryError, StateError,
                      StoppedError, TrapError, UnavailableError, UnsupportedError, make_error)
from ._warnings import KernelWarning, tell_warnings
from ._device import Device, deliver_print, device, has_gpu, set_print
from ._interface import Array, Parameter, Scalar
from ._kernel import Kernel
from ._launch import Launch
from ._module import Module, load, loads, tool, verify
from ._release import __version__
from ._stream import Event, Graph, Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .builder import Builder as Builder

__all__ = [
    "ArgumentError", "Array", "Builder", "Device", "Diagnostic", "Error", "Event", "Graph", "InternalError", "Kernel", "KernelWarning", "Launch",
    "Module", "ModuleError", "NotFoundError", "OutOfMemoryError", "Parameter", "Scalar", "StateError", "StoppedError", "Stream", "TrapError",
    "UnavailableError", "UnsupportedError", "__version__", "device", "get_include", "has_gpu", "load", "loads", "set_print", "tool",
    "verify",
]


def get_include() -> str:
    """The folder of the C and C++ headers, for extensions; their library lies beside it, in ../lib."""
    import os

    return os.path.join(os.path.dirname(__file__), "_native", "include")


def __getattr__(name: str) -> object:
    if name == "Builder":  # reads the table of operations
        from .builder import Builder

        return Builder
    raise AttributeError(f"module 'tilevm' has no attribute {name!r}")


_tilevm.set_hooks(make_error, deliver_print, tell_warnings)


def _at_exit() -> None:
    import atexit

    atexit.register(_tilevm.finalize)


_at_exit()
