"""python -m tilevm.cutile [--device=cpu|cuda] [--check=LEVEL] [--capability=M.N] [--tune=once|first] script.py …  |  -m module …  |  -c code …

Runs a Python program whose cuTile kernels run on tilevm: on the CPU if nothing else is said; there its Triton kernels do, too. Child
processes do so as well. Options of tilevm stand before the script; TILEVM_CUTILE_DEVICE, TILEVM_CHECK, TILEVM_CUTILE_CAPABILITY and
TILEVM_CUTILE_TUNE are their defaults.
With --traceback an error that ends the program is printed with all calls.
"""
from __future__ import annotations

if __name__ == "__main__":
    from .._frontend.command import main

    main("tilevm.cutile", __doc__, ["cutile"])
