"""tilevm: tile kernels on any CPU and on GPUs.

    import numpy, tilevm

    add = tilevm.load("vector_add.tbc")["vector_add"]
    c = add(numpy.arange(8, dtype="float32"), numpy.full(8, 0.5, "float32"))

`load` reads .tbc files, text, NVIDIA's Tile IR bytecode and Triton's TTIR. A `Module` is disassembled, saved, exported, compiled for GPUs; its
`Kernel`s are called with arrays of NumPy, torch, or whatever speaks DLPack. Failures are `Error`s with code, place and fix.

PYTEST_DONT_REWRITE: this module may be imported before pytest, which would warn that it cannot rewrite a plugin's assertions any more.
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
    from typing import Optional

    from .builder import Builder as Builder

__all__ = [
    "ArgumentError", "Array", "Builder", "Device", "Diagnostic", "Error", "Event", "Graph", "InternalError", "Kernel", "KernelWarning",
    "Launch", "Module", "ModuleError", "NotFoundError", "OutOfMemoryError", "Parameter", "Scalar", "StateError", "StoppedError", "Stream",
    "TrapError", "UnavailableError", "UnsupportedError", "__version__", "device", "get_cmake_dir", "get_include", "get_include_dir",
    "get_library_dir", "get_pkgconfig_dir", "has_gpu", "install", "load", "loads", "set_print", "tool", "verify",
]


def get_include() -> str:
    """The folder of the C and C++ headers, for extensions.

        cc app.c -I"$(python -c 'import tilevm; print(tilevm.get_include())')" …
    """
    import os

    return os.path.join(os.path.dirname(__file__), "_native", "include")


get_include_dir = get_include


def get_library_dir() -> str:
    """The folder of libtilevm.so, for applications that link it (-L FOLDER -ltilevm -Wl,-rpath,FOLDER)."""
    import os

    return os.path.join(os.path.dirname(__file__), "_native", "lib")


def get_pkgconfig_dir() -> str:
    """The folder of tilevm.pc:  PKG_CONFIG_PATH="$(python -c 'import tilevm; print(tilevm.get_pkgconfig_dir())')" pkg-config --cflags --libs tilevm"""
    import os

    return os.path.join(get_library_dir(), "pkgconfig")


def get_cmake_dir() -> str:
    """The folder of tilevmConfig.cmake:  cmake -Dtilevm_DIR="$(python -c 'import tilevm; print(tilevm.get_cmake_dir())')" """
    import os

    return os.path.join(get_library_dir(), "cmake", "tilevm")


def install(device: str = "cpu", *, capability: "Optional[str]" = None, check: "Optional[str]" = None, threads: "Optional[int]" = None,
            tune: "Optional[str]" = None) -> None:
    """From here on kernels of cuTile and of Triton run on `device`: "cpu" (the VM), "cuda", "cuda:N". Options are those of
    tilevm.cutile.install and tilevm.triton.install.

        import tilevm
        tilevm.install(check="full")
    """
    from ._frontend.command import install_all

    install_all(["cutile", "triton"], device, capability=capability, check=check, threads=threads, tune=tune)


def __getattr__(name: str) -> object:
    if name in ("script", "builder", "judge"):  # modules of this package that need no other one
        import importlib

        return importlib.import_module(f"tilevm.{name}")
    if name == "Builder":  # reads the table of operations
        from .builder import Builder

        return Builder
    if name in ("torch", "cutile", "triton"):
        raise AttributeError(f"module 'tilevm' has no attribute {name!r} before `import tilevm.{name}`")
    near = {"compile": "tilevm.load(file).compile(90)", "jit": "@tilevm.script.kernel", "kernel": "@tilevm.script.kernel",
            "run": "tilevm.load(file)['kernel'](x)",
            "open": "tilevm.load(file)", "read": "tilevm.load(file)", "parse": "tilevm.loads(text)", "from_text": "tilevm.loads(text)",
            "include_dir": "tilevm.get_include_dir()"}.get(name)
    raise AttributeError(f"module 'tilevm' has no attribute {name!r}" + (f"; there is {near}" if near else ""))


def _name_classes() -> None:
    """Public classes are called as users find them, in tracebacks, reprs and pickles: tilevm.TrapError."""
    for name in __all__:
        thing = globals().get(name)
        if isinstance(thing, type):
            thing.__module__ = "tilevm"


_name_classes()
_tilevm.set_hooks(make_error, deliver_print, tell_warnings)


def _at_exit() -> None:
    import atexit

    atexit.register(_tilevm.finalize)


_at_exit()
