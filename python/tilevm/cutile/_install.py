"""Puts tilevm in the place of NVIDIA's assembler and driver: now for what is imported, else when it is imported."""
from __future__ import annotations

import os
import sys

from .. import _tilevm
from .._device import device as open_device
from .._errors import StateError, argument_error
from ._report import check_at_exit, tell, watch_torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Callable, Dict, Optional, Tuple

    from .._device import Device

_CHECKS = {"": 0, "none": 1, "bounds": 2, "full": 3}


class State:
    """How tilevm was installed: `device` (a tilevm.Device), `is_gpu`, `capability` ((9, 0): what kernels are compiled for),
    `check` of kernels on the cpu ("" for the default, "none", "bounds", "full"), `threads` of the VM (0: all cores), `tune`."""

    def __init__(self, device: "Device", capability: "Tuple[int, int]", check: str, threads: int, tune: str) -> None:
        self.device = device
        self.is_gpu = device.is_gpu
        self.capability = capability
        self.check = check
        self.threads = threads
        self.tune = tune
        self.table = 0  # address of a pointer to cuGetProcAddress_v2

    @property
    def architecture(self) -> str:
        """"sm_90"."""
        return f"sm_{self.capability[0]}{self.capability[1]}"


_state: "Optional[State]" = None


def installed() -> "Optional[State]":
    """How tilevm was installed in this process, or None."""
    return _state


def _capability(text: str) -> "Tuple[int, int]":
    digits = text.replace(".", "").removeprefix("sm_")
    if not digits.isdigit() or len(digits) < 2:
        raise argument_error(f"capability {text!r} is none", "use one such as '9.0' or 'sm_100'")
    return int(digits[:-1]), int(digits[-1])


def install(device: str = "cpu", *, capability: "Optional[str]" = None, check: "Optional[str]" = None, threads: int = 0,
            tune: "Optional[str]" = None) -> State:
    """From here on cuTile's kernels run on `device`: "cpu" (the VM), "cuda", "cuda:N".

    `capability` is that of the GPU that programs see on the cpu ("9.0"; default: TILEVM_CUTILE_CAPABILITY, or 9.0). `check` is the
    VM's: "none", "bounds" or "full"; default: TILEVM_CHECK, or bounds. `threads` of the VM; 0: all cores. `tune`, on the cpu:
    "once" runs every configuration of a search once, "first" takes the first that runs; default: TILEVM_CUTILE_TUNE, or once.

    Call it before the first launch, best before `import cuda.tile`. Calling it again with the same device does nothing.
    Errors: ArgumentError; StateError if cuTile has opened NVIDIA's driver before, or for another device; UnavailableError without
    a GPU for "cuda".

        import tilevm.cutile
        tilevm.cutile.install()
    """
    global _state
    if check is None:
        check = os.environ.get("TILEVM_CHECK") or ""
    if check not in _CHECKS:
        raise argument_error(f"check={check!r}", "use 'none', 'bounds' or 'full'")
    tune = tune or os.environ.get("TILEVM_CUTILE_TUNE") or "once"
    if tune not in ("once", "first"):
        raise argument_error(f"tune={tune!r}", "use 'once' or 'first'")
    on = open_device(device)
    if _state is not None:
        if _state.device.name != on.name:
            raise StateError(f"error[cutile.installed]: tilevm.cutile is installed for {_state.device.name}, not for {on.name}\n"
                             "  fix: one device a process")
        return _state
    if "cuda.tile._load_libcuda" in sys.modules:
        raise StateError("error[cutile.late]: cuTile has opened NVIDIA's driver before tilevm.cutile was installed\n"
                         "  fix: call tilevm.cutile.install() before the first launch, or use `python -m tilevm.cutile`")
    wanted = capability or os.environ.get("TILEVM_CUTILE_CAPABILITY") or "9.0"
    state = State(on, on.compute_capability if on.is_gpu else _capability(wanted), check, threads, tune)
    state.table = _tilevm.driver_open(on.handle, state.is_gpu, state.capability, _real_driver() if state.is_gpu else 0,
                                      _CHECKS[check], threads, tell)
    _publish_table(state.table)
    _state = state
    _when_imported("cuda.tile", _patch_cutile)
    if state.is_gpu:
        import atexit

        atexit.register(check_at_exit)
        _when_imported("torch", watch_torch)
    else:
        _when_imported("torch", _patch_torch)
    return state


def _real_driver() -> int:
    """The address of cuGetProcAddress_v2 of the driver, which the device has opened."""
    import ctypes

    function = ctypes.CDLL("libcuda.so.1").cuGetProcAddress_v2
    return ctypes.cast(function, ctypes.c_void_p).value or 0


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

    assert _state is not None
    Frontend(module).replace(_state)


def _patch_torch(module: "ModuleType") -> None:
    from . import torch_cuda

    assert _state is not None
    torch_cuda.install(module, _state)


# --- what is to be done when a module is imported

_waiting: "Dict[str, Callable[[ModuleType], None]]" = {}


def _when_imported(name: str, then: "Callable[[ModuleType], None]") -> None:
    if name in sys.modules:
        then(sys.modules[name])
        return
    if not _waiting:
        sys.meta_path.insert(0, _Finder())
    _waiting[name] = then


class _Loader:
    """Loads as the module's own loader does, then calls what waits for it."""

    def __init__(self, loader: "Any", then: "Callable[[ModuleType], None]") -> None:
        self._loader, self._then = loader, then

    def create_module(self, spec: "Any") -> "Any":
        return self._loader.create_module(spec)

    def exec_module(self, module: "ModuleType") -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._then(module)


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
                    spec.loader = _Loader(spec.loader, _waiting.pop(name))  # type: ignore[assignment]
                return spec
        return None
