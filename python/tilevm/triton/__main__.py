"""python -m tilevm.triton [--device=cpu|cuda] [--check=LEVEL] [--capability=M.N] [--tune=once|first] script.py …  |  -m module …  |  -c code …
python -m tilevm.triton export script.py --kernel NAME --signature TYPES -o FILE.tbc [--sm 80,90]

Runs a Python program whose Triton kernels run on tilevm: on the CPU if nothing else is said; there its cuTile kernels do, too. Child
processes do so as well. Options of tilevm stand before the script; TILEVM_TRITON_DEVICE, TILEVM_CHECK, TILEVM_TRITON_CAPABILITY and
TILEVM_TRITON_TUNE are their defaults. `export` writes a kernel as a file for applications; `export --help` says more.
With --traceback an error that ends the program is printed with all calls.
"""
from __future__ import annotations

if __name__ == "__main__":
    import sys

    if sys.argv[1:2] == ["export"]:
        from ._export import main as export

        export(sys.argv[2:])
    else:
        from .._frontend.command import main

        main("tilevm.triton", __doc__, ["triton"])
