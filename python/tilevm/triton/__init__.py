"""Triton kernels, unmodified, on any CPU and on GPUs through tilevm's compiler.

    TRITON_DEFAULT_BACKEND=tilevm python script.py     # any program; or
    python -m tilevm.triton script.py …                # a program
    python -m tilevm.triton -m pytest tests/ …         # a module

    import tilevm.triton
    tilevm.triton.install(device="cpu")                # or "cuda"; before the first launch
    kernel[(8,)](x, y, n, BLOCK=128)                   # torch tensors, NumPy arrays

Triton's own frontend compiles a kernel to TTIR and specialises the arguments of launches; behind that stand the VM (device "cpu"), or
this package's compiler and runtime ("cuda"). Programs see a GPU of NVIDIA: on the cpu, torch's "cuda" device is the CPU. What a kernel
does wrong is a `tilevm.TrapError` with the line of the Python file. Needs the package triton; docs/triton.md says which versions.

    compiler.py, driver.py   the back end, as Triton's entry points name it
    _install.py      what is put in place of what, and when
    _signature.py    arguments by their types;   _memory.py: what lies behind a pointer
    _tune.py         measuring on the cpu
    _export.py       kernels as files, for applications

What it shares with tilevm.cutile (errors, torch's "cuda" on the CPU, child processes) is in tilevm/_frontend.
"""
from __future__ import annotations

from .._frontend.report import KernelWarning
from .._frontend.state import State
from ._export import export
from ._install import install, installed

__all__ = ["KernelWarning", "State", "export", "install", "installed"]
