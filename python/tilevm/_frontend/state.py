"""Where the kernels of a frontend run, and how: one device a process, for all frontends.

    state = open_state("triton", None, "cpu")              # opens the device, makes torch's "cuda" the CPU
    state = open_state("triton", state, "cpu", check="full")   # from here on
"""
from __future__ import annotations

import os

from .. import _tilevm
from .._device import device as open_device
from .._errors import StateError, argument_error
from .cupy_cpu.install import install as install_cupy
from .imports import when_imported
from .report import check_at_exit, tell, watch_torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Dict, Optional, Tuple

    from .._device import Device

_CHECKS = {"": 0, "none": 1, "bounds": 2, "full": 3}
_MOST_THREADS = 2**31 - 1


class Settings:
    """What a later install() may change, for all frontends of the process."""

    def __init__(self, check: str, threads: int) -> None:
        self.check = check
        self.threads = threads
        self.seen: "Dict[str, Optional[str]]" = {}  # variables of the environment, as the last install() found them

    def from_environment(self, name: str) -> "Optional[str]":
        """The value of a variable that was set or changed since the last install(), or None."""
        value = os.environ.get(name) or None
        changed = self.seen.get(name) != value
        self.seen[name] = value
        return value if changed else None


class State:
    """How tilevm was installed: `device` (a tilevm.Device), `is_gpu`, `capability` ((9, 0): what kernels are compiled for),
    `check` of kernels on the cpu ("" for the default, "none", "bounds", "full"), `threads` of the VM (0: all cores), `tune`."""

    def __init__(self, device: "Device", capability: "Tuple[int, int]", settings: Settings, tune: str) -> None:
        self.device = device
        self.is_gpu = device.is_gpu
        self.capability = capability
        self.settings = settings
        self.tune = tune

    @property
    def check(self) -> str:
        return self.settings.check

    @property
    def threads(self) -> int:
        return self.settings.threads

    @property
    def architecture(self) -> str:
        """"sm_90"."""
        return f"sm_{self.capability[0]}{self.capability[1]}"


_opened: "Optional[State]" = None


def _capability(text: str) -> "Tuple[int, int]":
    digits = text.replace(".", "").removeprefix("sm_")
    if not digits.isdigit() or len(digits) < 2:
        raise argument_error(f"capability {text!r} is none", "use one such as '9.0' or 'sm_100'")
    return int(digits[:-1]), int(digits[-1])


def _check_options(check: "Optional[str]", threads: "Optional[int]", tune: "Optional[str]") -> None:
    if check is not None and check not in _CHECKS:
        raise argument_error(f"check={check!r}", "use 'none', 'bounds' or 'full'")
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or not 0 <= threads <= _MOST_THREADS):
        raise argument_error(f"threads={threads!r}", "use a number of threads, or 0 for all cores")
    if tune is not None and tune not in ("once", "first"):
        raise argument_error(f"tune={tune!r}", "use 'once' or 'first'")


def open_state(frontend: str, state: "Optional[State]", device: str, capability: "Optional[str]" = None, check: "Optional[str]" = None,
               threads: "Optional[int]" = None, tune: "Optional[str]" = None) -> State:
    """For the frontend "cutile" or "triton", which has `state` already if it was installed before. What is None comes from the
    environment; where that has not changed either, it stays as it is.

    Errors: ArgumentError; StateError for another device or capability than before, of this or another frontend; UnavailableError
    without a GPU for "cuda"."""
    global _opened
    settings = Settings("", 0) if _opened is None else _opened.settings
    said = f"TILEVM_{frontend.upper()}"
    from_environment = [settings.from_environment(name) for name in ("TILEVM_CHECK", f"{said}_TUNE", f"{said}_CAPABILITY")]
    check, tune, capability = (other if given is None else given for given, other in zip((check, tune, capability), from_environment))
    _check_options(check, threads, tune)
    on = open_device(device)
    if _opened is None:
        settings.check, settings.threads = check or "", threads or 0
        made = State(on, on.compute_capability if on.is_gpu else _capability(capability or "9.0"), settings, tune or "once")
        _tilevm.driver_open(on.handle, made.is_gpu, made.capability, _real_driver() if made.is_gpu else 0, _CHECKS[settings.check],
                            settings.threads, tell)
        _opened = made
        _prepare_torch(made)
        if not made.is_gpu:
            install_cupy(made.capability)
        return made
    _refuse_other(frontend, on, capability)
    settings.check = settings.check if check is None else check
    settings.threads = settings.threads if threads is None else threads
    _tilevm.driver_options(_CHECKS[settings.check], settings.threads)
    if state is None:
        state = State(_opened.device, _opened.capability, settings, "once")
    state.tune = tune or state.tune
    return state


def _refuse_other(frontend: str, on: "Device", capability: "Optional[str]") -> None:
    """Errors: StateError, if the process has another device or capability."""
    assert _opened is not None
    wanted = _opened.capability if capability is None or on.is_gpu else _capability(capability)
    if (_opened.device.name, _opened.capability) != (on.name, wanted):
        raise StateError(f"error[{frontend}.installed]: tilevm runs kernels on {_opened.device.name} ({_opened.architecture}) already, not "
                         f"on {on.name} (sm_{wanted[0]}{wanted[1]})\n  fix: one device and one capability a process; the first "
                         "install() chooses them")


def _prepare_torch(state: State) -> None:
    if state.is_gpu:
        import atexit

        atexit.register(check_at_exit)
        when_imported("torch", watch_torch)
        return

    def patch(torch: "ModuleType") -> None:
        from . import torch_cuda

        torch_cuda.install(torch, state)

    when_imported("torch", patch)


def _real_driver() -> int:
    """The address of cuGetProcAddress_v2 of the driver, which the device has opened; 0 if that is one for tests, without it."""
    import ctypes

    function = getattr(ctypes.CDLL(os.environ.get("TILEVM_LIBCUDA") or "libcuda.so.1"), "cuGetProcAddress_v2", None)
    return ctypes.cast(function, ctypes.c_void_p).value or 0 if function is not None else 0
