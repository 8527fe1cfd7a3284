"""Tilus programs (class K(tilus.Script)), unmodified, on any CPU.

    python -m tilevm.tilus script.py …                # a program
    python -m tilevm.tilus --check=full script.py …   # with every check: a missing barrier is an error with both lines

    import tilevm.tilus
    tilevm.tilus.install()                            # before the first launch

Tilus' own frontend makes a program of a script, once for each schedule of its tuning spaces; behind that stands the VM in the place of nvcc
and a GPU. torch's "cuda" is the CPU. Needs the package tilus; docs/tilus.md says which versions, and what runs.

The translator walks Tilus' IR in Python and writes the text form. A reader in C++ would need a text of that IR first, with types, layouts
and lines, which Tilus does not have, and a parser for it; the objects have all that already.

    _install.py      puts tilevm in the place of Tilus' code generator, nvcc and the GPU
    _lines.py        notes lines of Python in Tilus' IR;   _inference.py: lets its layout inference end
    _build.py        writes a program as files into a folder;   _host.py: sizes that the host computes
    _launch.py       launches kernels;   _tune.py: measures schedules
    _scan.py         finds facts of a function before it is translated;   _groups.py: refuses groups of threads that wait for each other
    _translate.py    translates statements, and has the table of instructions. The families of these are
                     _registers _global _shared _copies _barriers _matrix _tmem _atomics _views _random _printing
    _expr.py         translates expressions;   _calls.py: functions in them;   _small.py: types of less than eight bits
    _window.py       windows of an allocation;   _scratch.py: rearranges tiles by way of memory
    _state.py        values that loops carry;   _order.py: tokens;   _writer.py: the text;   _types.py: element types
"""
from __future__ import annotations

from .._frontend.report import KernelWarning
from .._frontend.state import State
from ._install import install, installed

__all__ = ["KernelWarning", "State", "install", "installed"]
