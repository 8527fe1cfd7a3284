"""Puts tilevm in the place of NVIDIA's back end of Triton: now, or when Triton is imported."""
from __future__ import annotations

import os
import re
import sys

from .. import _tilevm
from .._errors import UnsupportedError
from .._frontend.imports import when_imported
from .._frontend.installation import Installation
from .._frontend.state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Optional

OLDEST, NEWEST = (3, 5), (3, 9)  # versions of Triton; newer ones run as long as they have what is replaced

_own = Installation("triton")
installed = _own.installed


def install(device: str = "cpu", *, capability: "Optional[str]" = None, check: "Optional[str]" = None, threads: "Optional[int]" = None,
            tune: "Optional[str]" = None) -> State:
    """From here on Triton's kernels run on `device`: "cpu" (the VM), "cuda", "cuda:N".

    `capability` is that of the GPU that programs see on the cpu ("9.0"; default: TILEVM_TRITON_CAPABILITY, or 9.0). `check` is the
    VM's: "none", "bounds" or "full"; default: TILEVM_CHECK, or bounds. `threads` of the VM; 0: all cores. `tune`, on the cpu:
    "once" measures every configuration of `triton.autotune` once, "first" takes the first one; default: TILEVM_TRITON_TUNE, or once.

    Best before `import triton` and before the first use of torch's "cuda". Calling it again changes `check` and `threads`, for all
    frontends, and `tune`; what it does not say stays, unless its variable of the environment has changed.
    Errors: ArgumentError; StateError for another device or capability than before; UnavailableError without a GPU for "cuda";
    UnsupportedError, here or when Triton is imported, for a Triton that is too old.

        import tilevm.triton
        tilevm.triton.install()
    """
    state, is_first = _own.open(device, capability, check, threads, tune)
    if is_first:
        when_imported("torch", _know_torch)
        when_imported("triton.backends", _register)
        when_imported("triton.runtime.autotuner", _prepare_tuner)
    return state


def install_beside() -> None:
    """On the cpu, where another frontend was asked for: a Triton that tilevm does not know stays as it is."""
    _own.beside(install)


def install_if_asked() -> None:
    """If the environment names tilevm as Triton's back end, as child processes find it, too."""
    if installed() is None and os.environ.get("TRITON_DEFAULT_BACKEND") == "tilevm":
        install(os.environ.get("TILEVM_TRITON_DEVICE", "cpu"))


def _know_torch(torch: "ModuleType") -> None:
    _tilevm.triton_plain_torch(torch._C.DisableTorchFunction)


_tuner: "Optional[ModuleType]" = None  # its import was not over when the back end was found


def _prepare_tuner(module: "ModuleType") -> None:
    global _tuner
    from . import _tune

    if hasattr(module, "Autotuner"):
        _tune.prepare(module)
    else:
        _tuner = module


def finish_tuner() -> None:
    """Prepares a tuner whose import was not over at install(): called when Triton makes its driver."""
    global _tuner
    if _tuner is not None and hasattr(_tuner, "Autotuner"):
        module, _tuner = _tuner, None
        _prepare_tuner(module)


def _register(backends: "Any") -> None:
    """triton.backends: it has found the back ends, or is finding them just now."""
    if not _is_known_version():
        return
    if not hasattr(backends, "backends"):
        return
    from . import compiler, driver

    replace_nvidia()
    if "tilevm" not in backends.backends:  # the package was not installed, but is on the path
        backends.backends["tilevm"] = backends.Backend(compiler.TilevmBackend, driver.TilevmDriver)
    if "triton.runtime.driver" in sys.modules:
        _activate(sys.modules["triton.runtime.driver"])


def _is_known_version() -> bool:
    """Errors: UnsupportedError for a Triton that is too old, where tilevm.triton was asked for."""
    version = str(getattr(sys.modules.get("triton"), "__version__", "0.0"))
    found = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if found >= OLDEST:
        return True
    if _own.ignores_versions:
        return False
    raise UnsupportedError(f"error[triton.version]: Triton {version}, tilevm.triton knows {OLDEST[0]}.{OLDEST[1]} to "
                           f"{NEWEST[0]}.{NEWEST[1]}\n  fix: pip install --upgrade 'triton>={OLDEST[0]}.{OLDEST[1]}'")


def _activate(module: "Any") -> None:
    """triton.runtime.driver: another driver may be active already."""
    config = getattr(module, "driver", None)
    if config is None:
        return
    before = getattr(config, "_active", None)
    from .driver import TilevmDriver

    config.set_active(TilevmDriver())
    if before is None:
        return
    import gc

    for item in gc.get_objects():  # kernels that the other one has compiled for the same device
        if type(item).__name__ == "JITFunction" and hasattr(item, "device_caches"):
            item.device_caches.clear()


def replace_nvidia() -> None:
    """NVIDIA's back end is not active, and its targets are ours."""
    try:
        from triton.backends.nvidia import compiler, driver
    except ImportError:
        return
    setattr(driver.CudaDriver, "is_active", staticmethod(lambda: False))
    setattr(compiler.CUDABackend, "supports_target", staticmethod(lambda target: False))
