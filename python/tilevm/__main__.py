"""python -m tilevm [--device=cpu|cuda] [--check=LEVEL] [--capability=M.N] [--tune=once|first] script.py …  |  -m module …  |  -c code …

Runs a Python program whose cuTile and Triton kernels run on tilevm: on the CPU if nothing else is said. Child processes do so, too.
Options of tilevm stand before the script. Their defaults are TILEVM_CHECK, and TILEVM_CUTILE_DEVICE, TILEVM_TRITON_DEVICE and so on.
The command, which runs and shows kernels in files, is `tilevm`.
With --traceback an error that ends the program is printed with all calls.
"""
from __future__ import annotations

if __name__ == "__main__":
    from ._frontend.command import main

    main("tilevm", __doc__, ["cutile", "triton"])
