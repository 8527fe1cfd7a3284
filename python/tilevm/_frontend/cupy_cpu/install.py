"""Puts the module beside this file in the place of CuPy, which cannot make an array on a machine without a GPU.

    install((9, 0))         # from here on `import cupy` gives it; a CuPy that is imported already stays
"""
from __future__ import annotations

import importlib
import importlib.machinery
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Tuple

_MODULES = {"cupy": "", "cupy.cuda": ".cuda", "cupy.random": ".random", "cupy.cuda.runtime": ".cuda"}
_NAMESPACES = ("linalg", "fft", "testing")


class _Finder:
    """Knows cupy, and its parts that programs import by name."""

    def __init__(self, capability: "Tuple[int, int]") -> None:
        self.capability = capability

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        if name in _MODULES or name in [f"cupy.{part}" for part in _NAMESPACES]:
            return importlib.machinery.ModuleSpec(name, self, origin="tilevm", is_package=name in ("cupy", "cupy.cuda"))  # type: ignore[arg-type]
        return None

    def create_module(self, spec: "Any") -> "Any":
        package = __name__.rpartition(".")[0]
        whole = importlib.import_module(package)
        whole.cuda.capability = self.capability
        if spec.name in _MODULES:
            found = importlib.import_module(package + _MODULES[spec.name])
            return found.runtime if spec.name.endswith("runtime") else found
        return getattr(whole, spec.name.rpartition(".")[2])

    def exec_module(self, module: "ModuleType") -> None:
        pass


def install(capability: "Tuple[int, int]") -> None:
    """Once, for all threads."""
    if "cupy" not in sys.modules:
        sys.meta_path.insert(0, _Finder(capability))
