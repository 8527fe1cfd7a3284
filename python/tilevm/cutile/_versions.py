"""What tilevm.cutile touches inside cuda-tile, and what differs between its versions: 1.5, 1.6 and 1.7.

Everything here is private to cuda-tile, and may be elsewhere in the next version: a name that is missing is an error that says so.
"""
from __future__ import annotations

import sys

from .._errors import UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Callable, Dict

    from .._frontend.state import State

OLDEST, NEWEST = (1, 5), (1, 7)


class Frontend:
    """An imported `cuda.tile`: `version` ((1, 7))."""

    def __init__(self, module: "ModuleType") -> None:
        self.module = module
        self.version = tuple(int(part) for part in str(getattr(module, "__version__", "0.0")).split(".")[:2])
        if self.version < OLDEST:
            raise UnsupportedError(f"error[cutile.version]: cuda-tile {module.__version__}, tilevm.cutile knows {OLDEST[0]}.{OLDEST[1]} "
                                   f"to {NEWEST[0]}.{NEWEST[1]}\n  fix: pip install 'cuda-tile=={NEWEST[0]}.{NEWEST[1]}.*'")

    def _part(self, name: str) -> "ModuleType":
        import importlib

        return importlib.import_module(f"cuda.tile.{name}")

    def _put(self, module: "ModuleType", name: str, make: "Callable[[Any], Any]") -> None:
        """Replaces module.name by make(module.name), wherever modules of cuda.tile have imported it."""
        original = getattr(module, name, None)
        if original is None:
            raise UnsupportedError(f"error[cutile.version]: cuda-tile {self.module.__version__} has no {module.__name__}.{name}\n"
                                   f"  fix: use cuda-tile {NEWEST[0]}.{NEWEST[1]}, or a newer tilevm")
        made = make(original)
        for other in list(sys.modules.values()):
            if getattr(other, "__name__", "").startswith("cuda.tile") and vars(other).get(name) is original:
                setattr(other, name, made)

    def replace(self, state: "State") -> None:
        """Puts tilevm in the place of assembler and driver."""
        from . import _cache, _compile, _launch, _tune

        compile_module, extension = self._part("_compile"), self._part("_cext")
        compiler = _compile.Compiler(state, self)
        self._put(compile_module, "_find_compiler_bin", compiler.find_binary)
        self._put(compile_module, "_get_max_supported_bytecode_version", compiler.newest_bytecode)
        self._put(compile_module, "_get_compiler_version_string", compiler.version_string)
        self._put(compile_module, "compile_cubin", lambda original: compiler.compile_cubin)
        self._put(compile_module, "compile_tile", compiler.with_arguments)
        cache = self.cache_module
        self._put(cache, "cache_lookup", lambda original: _cache.checked_lookup(original, cache))
        self._put(cache, "cache_store", _cache.checked_store)

        self._put(extension, "launch", lambda original: _launch.wrap(original, state))
        if hasattr(extension, "launch_extended"):
            self._put(extension, "launch_extended", _launch.refuse_extended)
        for name in ("cuda.tile.tune._tune", "cuda.tile.tune._tune_utils", "cuda.tile.tune"):
            __import__(name)
        if state.is_gpu:
            self._put(extension, "_benchmark", _launch.with_errors)
            self._put(extension, "_export_ipc_benchmark_payload", _launch.with_errors)
            self._put(self._part("tune._tune_utils"), "benchmark_with_timeout",
                      lambda original: _tune.in_a_child(original, state.device.name))
            return
        tune, search = _tune.Tuner(extension.launch), self._part("tune._tune")
        self._put(extension, "_benchmark", lambda original: tune.benchmark)
        self._put(extension, "_export_ipc_benchmark_payload", lambda original: tune.export_payload)
        self._put(self._part("tune._tune_utils"), "benchmark_with_timeout", tune.with_timeout)
        self._put(search, "exhaustive_search", tune.searching(search, state))

    # --- names

    @property
    def cache_module(self) -> "ModuleType":
        import importlib

        return importlib.import_module("cutile_cache._cache" if self.version >= (1, 6) else "cuda.tile._cache")

    @property
    def bytecode_versions(self) -> "Dict[str, Any]":
        """"13.4" to the frontend's own value, of those that it writes and tilevm reads."""
        known = self._part("_compile")._SUPPORTED_VERSIONS
        return {f"{v.major()}.{v.minor()}": v for v in known}

    @property
    def errors(self) -> "ModuleType":
        return self._part("_exception")
