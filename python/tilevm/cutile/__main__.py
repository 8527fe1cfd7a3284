"""python -m tilevm.cutile [--device=cpu|cuda] [--check=LEVEL] [--capability=M.N] script.py …  |  -m module …  |  -c code …

Runs a Python program whose cuTile kernels run on tilevm: on the CPU if nothing else is said. Child processes do so, too. Options of
tilevm stand before the script; TILEVM_CUTILE_DEVICE, TILEVM_CHECK and TILEVM_CUTILE_CAPABILITY are their defaults.
"""
from __future__ import annotations

_OPTIONS = {"--device": "TILEVM_CUTILE_DEVICE", "--check": "TILEVM_CHECK", "--capability": "TILEVM_CUTILE_CAPABILITY",
            "--tune": "TILEVM_CUTILE_TUNE"}


def _install(device: str) -> None:
    from ._install import install

    install(device)


if __name__ == "__main__":
    from .._frontend.command import main

    main("tilevm.cutile", __doc__, _OPTIONS, _install)
