"""python -m tilevm.triton [--device=cpu|cuda] [--check=LEVEL] [--capability=M.N] script.py …  |  -m module …  |  -c code …
python -m tilevm.triton export script.py --kernel NAME --signature TYPES -o FILE.tbc [--sm 80,90]

Runs a Python program whose Triton kernels run on tilevm: on the CPU if nothing else is said. Child processes do so, too. Options of
tilevm stand before the script; TILEVM_TRITON_DEVICE, TILEVM_CHECK and TILEVM_TRITON_CAPABILITY are their defaults. `export` writes a
kernel as a file for applications; `export --help` says more.
"""
from __future__ import annotations

_OPTIONS = {"--device": "TILEVM_TRITON_DEVICE", "--check": "TILEVM_CHECK", "--capability": "TILEVM_TRITON_CAPABILITY",
            "--tune": "TILEVM_TRITON_TUNE"}


def _install(device: str) -> None:
    from ._install import install

    install(device)


if __name__ == "__main__":
    import sys

    if sys.argv[1:2] == ["export"]:
        from ._export import main as export

        export(sys.argv[2:])
    else:
        from .._frontend.command import main

        main("tilevm.triton", __doc__, _OPTIONS, _install)
