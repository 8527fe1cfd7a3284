"""Puts tilevm in the place of Tilus' code generator, nvcc and the GPU: now, or when Tilus is imported."""
from __future__ import annotations

import re

from .._errors import StateError, UnsupportedError
from .._frontend.imports import when_imported
from .._frontend.installation import Installation
from .._frontend.memory import note_addresses
from .._frontend.state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Optional

_own = Installation("tilus")
installed = _own.installed
# Names that tilevm replaces in tilus.lang.instantiated_script and in tilus.drivers. tilevm does not know a Tilus without them.
_NEEDED = ("build_program", "load_compiled_program", "get_cache_dir")


def install(device: str = "cpu", *, capability: "Optional[str]" = None, check: "Optional[str]" = None, threads: "Optional[int]" = None,
            tune: "Optional[str]" = None) -> State:
    """From here on Tilus' kernels run on the CPU.

    `capability` is that of the GPU that programs see ("9.0"; default: TILEVM_TILUS_CAPABILITY, or 9.0; "10.0" for tcgen05). `check` is the
    VM's: "none", "bounds" or "full"; default: TILEVM_CHECK, or bounds. `threads` of the VM; 0: all cores. `tune`: "once" measures all
    schedules of `tilus.autotune` as Tilus does, "first" takes the first that can be built; default: TILEVM_TILUS_TUNE, or once.

    Best before `import tilus` and before the first use of torch's "cuda". Calling it again changes `check`, `threads` and `tune`.
    Errors: ArgumentError; StateError for a GPU, or another capability than before; UnsupportedError, here or when Tilus is imported, for a
    Tilus that lacks what is replaced.

        import tilevm.tilus
        tilevm.tilus.install(check="full")
    """
    if not device.startswith("cpu"):
        raise StateError(f"error[tilus.device]: tilevm.tilus runs kernels on the cpu, not on {device}\n  fix: on a GPU run the program without "
                         "tilevm: Tilus compiles for it")
    state, is_first = _own.open(device, capability, check, threads, tune)
    if is_first:
        when_imported("tilus.option", _separate_cache)
        when_imported("tilus.tensor", lambda module: when_imported("torch", note_addresses))
        when_imported("tilus.drivers", _replace_driver)
        when_imported("tilus.lang.instantiated_script", _replace_builder)
        when_imported("tilus.utils", _replace_benchmark)
    return state


def install_beside() -> None:
    """On the cpu, where another frontend was asked for: a Tilus that tilevm does not know stays as it is."""
    _own.beside(install)


def _is_known(module: "Any") -> bool:
    """Whether a module has what is replaced. Errors: UnsupportedError, if it lacks a name and the user asked for tilevm.tilus."""
    missing = [name for name in _NEEDED if not hasattr(module, name)]
    if not missing:
        return True
    if _own.ignores_versions:
        return False
    raise UnsupportedError(f"error[tilus.version]: {module.__name__} has no {missing[0]}, which tilevm replaces; it is tested with Tilus 0.2.0"
                           "\n  fix: pip install tilus==0.2.0")


def _separate_cache(option: "ModuleType") -> None:
    """A folder of its own in Tilus' cache, so that a GPU's schedules and the CPU's stay apart."""
    before = str(option.get_option("cache_dir"))
    if not re.search(r"tilevm/?$", before):
        option.cache_dir(f"{before}/tilevm")


def _replace_driver(drivers: "Any") -> None:
    from ._build import build, folder_of, refuse_module
    from ._launch import CompiledProgram

    if not _is_known(drivers):
        return
    drivers.build_ir_module = refuse_module
    drivers.build_program = build
    drivers.get_cache_dir = folder_of
    drivers.load_compiled_program = CompiledProgram
    drivers.build_and_load_program = lambda program, options=None: CompiledProgram(build(program, options))


def _replace_builder(module: "Any") -> None:
    from . import _inference, _lines, _tune
    from ._build import build, folder_of
    from ._launch import CompiledProgram

    if not _is_known(module):
        return
    module.build_program = build
    module.get_cache_dir = folder_of
    module.load_compiled_program = CompiledProgram
    module.benchmark_func = _tune.measure
    _tune.prepare(module)
    _lines.note_places()
    _inference.let_rules_end()


def _replace_benchmark(utils: "Any") -> None:
    from ._tune import measure

    utils.benchmark_func = measure
