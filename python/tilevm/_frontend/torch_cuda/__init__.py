"""A torch whose "cuda" is the CPU, for programs that were written for a GPU and run on a machine without one.

    fresh.py      tensors without values, for full checks
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from ..state import State


def install(torch: "ModuleType", state: "State") -> None:
    """Once, right after torch was imported; for all threads."""
    from . import device, fresh, graphs, inductor, operators, random, redirect, streams

    fresh.start(state)
    device.install(torch, state)
    random.install(torch)
    streams.install(torch)
    graphs.install(torch)
    redirect.install(torch)
    operators.install(torch)
    inductor.install(torch, state)
