"""python -m tilevm.tilus [--check=LEVEL] [--capability=M.N] [--tune=once|first] script.py …  |  -m module …  |  -c code …

Runs a Python program whose Tilus kernels run on the CPU; its cuTile and Triton kernels do, too. Child processes do so as well. Options of
tilevm stand before the script; TILEVM_CHECK, TILEVM_TILUS_CAPABILITY and TILEVM_TILUS_TUNE are their defaults. The capability is that of
the GPU that programs see: 9.0, or 10.0 for programs that use tcgen05.
With --check=full a missing sync, wait or commit is an error that names both accesses.
With --traceback an error that ends the program is printed with all calls.
"""
from __future__ import annotations

if __name__ == "__main__":
    from .._frontend.command import main

    main("tilevm.tilus", __doc__, ["tilus"])
