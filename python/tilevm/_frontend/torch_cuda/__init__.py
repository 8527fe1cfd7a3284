"""A torch whose "cuda" is the CPU, for programs that were written for a GPU and run on a machine without one.

    fresh.py      tensors without values, for full checks
    reads.py      what torch makes of elements that no kernel wrote
    redirect.py   device="cuda" in any call of torch means the CPU; which tensors are said to be where
    numerics.py   functions that round otherwise on the CPU
    streams.py    streams and events: work is done when a call returns
    graphs.py     graphs that record and replay
    device.py     the properties of the device, its memory
    random.py     its random numbers
    inductor.py   files that torch.compile writes for a GPU
    operators.py  implementations of operators that a program registers for "CUDA"

Tensors that were put on "cuda" say so. Copies between "cpu" and "cuda" are copies, so that a reference stays what it was. What a GPU
would refuse, such as an operation on tensors of both, is not refused.
"""
from __future__ import annotations

from ..._errors import UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from ..state import State


_NEEDED = ("Event", "accelerator", "_C._is_torch_function_all_disabled", "_C._len_torch_function_stack", "library.Library._destroy")


def _check_version(torch: "ModuleType") -> None:
    """Errors: UnsupportedError, if this torch lacks what is replaced or called here."""
    for name in _NEEDED:
        found: "Any" = torch
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is None:
            raise UnsupportedError(f"error[torch.version]: torch {getattr(torch, '__version__', '')} has no torch.{name}, which tilevm needs to "
                                   "make \"cuda\" the CPU; it is tested with torch 2.15\n  fix: pip install --upgrade torch")


def install(torch: "ModuleType", state: "State") -> None:
    """Once, right after torch was imported; for all threads. Errors: UnsupportedError for a torch that is too old."""
    _check_version(torch)
    from . import device, fresh, graphs, inductor, operators, random, redirect, streams

    fresh.start(state)
    device.install(torch, state)
    random.install(torch)
    streams.install(torch)
    graphs.install(torch)
    redirect.install(torch)
    operators.install(torch)
    inductor.install(torch, state)
