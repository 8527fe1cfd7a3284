"""The commands `tilevm` and `tilec` of an environment: the programs inside the package, in place of this process."""
from __future__ import annotations

import os
import sys


def _become(name: str) -> "int":
    from ._errors import UnavailableError
    from ._module import tool

    try:
        path = tool(name)
    except UnavailableError as error:
        print(error, file=sys.stderr)
        return 5
    os.execv(path, [name, *sys.argv[1:]])


def tilevm() -> int:
    """The command; `judge`, and `replay` of what it found, are of this package."""
    if sys.argv[1:2] == ["judge"]:
        from .judge._command import main

        return main(sys.argv[2:])
    if sys.argv[1:2] == ["replay"] and len(sys.argv) > 2 and all(path.endswith(".judge.json") for path in sys.argv[2:]):
        from .judge._command import replay

        return replay(sys.argv[2:])
    return _become("tilevm")


def tilec() -> int:
    return _become("tilec")
