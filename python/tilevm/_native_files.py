"""Where this package has what is compiled, by the names that each system gives to it."""
from __future__ import annotations

import os
import sys

_PACKAGE = os.path.dirname(__file__)


def library(name: str) -> str:
    """The path of a library, "tilevm" or "tilevm_forms"; "tilec" where the package was built with the compiler."""
    if sys.platform == "win32":
        return os.path.join(_PACKAGE, f"{name}.dll")
    return os.path.join(_PACKAGE, "_native", "lib", f"lib{name}.dylib" if sys.platform == "darwin" else f"lib{name}.so.1")


def command(name: str) -> str:
    """The path of a program, which need not be there."""
    return os.path.join(_PACKAGE, "_native", "bin", f"{name}.exe" if sys.platform == "win32" else name)
