"""Tilus programs (class K(tilus.Script)), unmodified, on any CPU.

    python -m tilevm.tilus script.py …                # a program
    python -m tilevm.tilus --check=full script.py …   # with every check: a missing barrier is an error with both lines

    import tilevm.tilus
    tilevm.tilus.install()                            # before the first launch

Tilus' own frontend makes a program of a script, once for each schedule of its tuning spaces; behind that stands the VM in the place of nvcc
and a GPU. torch's "cuda" is the CPU. Needs the package tilus; docs/tilus.md says which versions, and what runs.

The translator walks Tilus' IR in Python and writes the text form. A reader in C++ would need a text of that IR first, with types, layouts
and lines, which Tilus does not have, and a parser for it; the objects have all that already.

    _install.py      what is put in place of what
    _lines.py        lines of Python in Tilus' IR
    _build.py        a program as files in a folder;   _host.py: sizes that the host computes
    _launch.py       launches;   _tune.py: schedules that are measured
    _scan.py         facts of a function before it is translated;   _groups.py: groups of threads that cannot run one after the other
    _translate.py    statements, and the table of instructions; families of these:
                     _registers _global _shared _copies _barriers _matrix _tmem _atomics _views _printing
    _expr.py         expressions;   _calls.py: functions in them;   _small.py: types of less than eight bits
    _state.py        what loops carry;   _order.py: tokens;   _writer.py: the text;   _types.py
"""
from __future__ import annotations

from .._frontend.report import KernelWarning
from .._frontend.state import State
from ._install import install, installed

__all__ = ["KernelWarning", "State", "install", "installed"]
