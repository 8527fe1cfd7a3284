"""Puts tilevm in the place of NVIDIA's assembler and driver: now for what is imported, else when it is imported."""
from __future__ import annotations

import sys

from .. import _tilevm
from .._errors import StateError, UnsupportedError
from .._frontend.imports import when_imported
from .._frontend.installation import Installation
from .._frontend.state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Optional

_own = Installation("cutile")
installed = _own.installed


def install(device: str = "cpu", *, capability: "Optional[str]" = None, check: "Optional[str]" = None, threads: "Optional[int]" = None,
            tune: "Optional[str]" = None) -> State:
    """From here on cuTile's kernels run on `device`: "cpu" (the VM), "cuda", "cuda:N".

    `capability` is that of the GPU that programs see on the cpu ("9.0"; default: TILEVM_CUTILE_CAPABILITY, or 9.0). `check` is the
    VM's: "none", "bounds" or "full"; default: TILEVM_CHECK, or bounds. `threads` of the VM; 0: all cores. `tune`, on the cpu:
    "once" runs every configuration of a search once, "first" takes the first that runs; default: TILEVM_CUTILE_TUNE, or once.

    Call it before the first launch, best before `import cuda.tile`. Calling it again changes `check` and `threads`, for all frontends,
    and `tune`; what it does not say stays, unless its variable of the environment has changed.
    Errors: ArgumentError; StateError if cuTile has opened NVIDIA's driver before, or for another device or capability than before;
    UnavailableError without a GPU for "cuda".

        import tilevm.cutile
        tilevm.cutile.install()
    """
    if installed() is None and "cuda.tile._load_libcuda" in sys.modules:
        raise StateError("error[cutile.late]: cuTile has opened NVIDIA's driver before tilevm.cutile was installed\n"
                         "  fix: call tilevm.cutile.install() before the first launch, or use `python -m tilevm.cutile`")
    state, is_first = _own.open(device, capability, check, threads, tune)
    if is_first:
        _publish_table(_tilevm.cutile_table())
        when_imported("cuda.tile", _patch_cutile)
    return state


def install_beside() -> None:
    """On the cpu, where another frontend was asked for: a cuda-tile that tilevm does not know stays as it is."""
    _own.beside(install)


def _publish_table(address: int) -> None:
    """Where cuTile's extension looks for the driver, when it needs it first."""
    import ctypes
    from types import ModuleType

    module = ModuleType("cuda.tile._load_libcuda", "tilevm's, in place of NVIDIA's driver.")
    setattr(module, "cuGetProcAddress_v2_ptrptr", address)
    pointer = ctypes.c_void_p.from_address(address).value
    setattr(module, "_cuGetProcAddress_v2", ctypes.CFUNCTYPE(ctypes.c_int)(pointer or 0))  # as NVIDIA's has it
    sys.modules[module.__name__] = module


def _patch_cutile(module: "ModuleType") -> None:
    from ._versions import Frontend

    state = installed()
    assert state is not None
    try:
        frontend = Frontend(module)
    except UnsupportedError:
        if _own.ignores_versions:
            return
        raise
    frontend.replace(state)
