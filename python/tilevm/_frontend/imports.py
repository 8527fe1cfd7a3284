"""Functions that are called when a module has been imported: now if it was, else right behind its import.

    when_imported("torch", patch)      # patch(module)
"""
from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Callable, Dict, List

    Then = Callable[[ModuleType], None]

_waiting: "Dict[str, List[Then]]" = {}


def when_imported(name: str, then: "Then") -> None:
    """Calls then(module), once; several in the order in which they were given."""
    if name in sys.modules:
        then(sys.modules[name])
        return
    if not _waiting:
        sys.meta_path.insert(0, _Finder())
    _waiting.setdefault(name, []).append(then)


class _Loader:
    """Loads as the module's own loader does, then calls what waits for it. Somebody may only want to know where the module is."""

    def __init__(self, loader: "Any", name: str) -> None:
        self._loader, self._name = loader, name

    def create_module(self, spec: "Any") -> "Any":
        return self._loader.create_module(spec)

    def exec_module(self, module: "ModuleType") -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        for then in _waiting.pop(self._name, []):
            then(module)


class _Finder:
    """Finds modules that somebody waits for as the other finders do."""

    def find_spec(self, name: str, path: "Any", target: "Any" = None) -> "Any":
        if name not in _waiting:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader, name)  # type: ignore[assignment]
                return spec
        return None
