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
    return _become("tilevm")


def tilec() -> int:
    return _become("tilec")
