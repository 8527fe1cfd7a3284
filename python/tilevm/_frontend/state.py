"""Where the kernels of a frontend run, and how: one device a process, for all frontends.

    state = open_state("triton", "cpu")          # opens the device, makes torch's "cuda" the CPU
"""
from __future__ import annotations

import os

from .. import _tilevm
from .._device import device as open_device
from .._errors import StateError, argument_error
from .imports import when_imported
from .report import check_at_exit, tell, watch_torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Optional, Tuple

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


_opened: "Optional[State]" = None


def _capability(text: str) -> "Tuple[int, int]":
    digits = text.replace(".", "").removeprefix("sm_")
    if not digits.isdigit() or len(digits) < 2:
        raise argument_error(f"capability {text!r} is none", "use one such as '9.0' or 'sm_100'")
    return int(digits[:-1]), int(digits[-1])


def read_options(frontend: str, check: "Optional[str]", tune: "Optional[str]") -> "Tuple[str, str]":
    """Both; what is None comes from the environment. Errors: ArgumentError."""
    if check is None:
        check = os.environ.get("TILEVM_CHECK") or ""
    if check not in _CHECKS:
        raise argument_error(f"check={check!r}", "use 'none', 'bounds' or 'full'")
    tune = tune or os.environ.get(f"TILEVM_{frontend.upper()}_TUNE") or "once"
    if tune not in ("once", "first"):
        raise argument_error(f"tune={tune!r}", "use 'once' or 'first'")
    return check, tune


def open_state(frontend: str, device: str, capability: "Optional[str]" = None, check: "Optional[str]" = None, threads: int = 0,
               tune: "Optional[str]" = None) -> State:
    """For the frontend "cutile" or "triton"; what is None comes from the environment, as its install() says.

    Errors: ArgumentError; StateError if another frontend runs on another device, or with other checks; UnavailableError without a
    GPU for "cuda"."""
    global _opened
    check, tune = read_options(frontend, check, tune)
    on = open_device(device)
    wanted = capability or os.environ.get(f"TILEVM_{frontend.upper()}_CAPABILITY") or "9.0"
    state = State(on, on.compute_capability if on.is_gpu else _capability(wanted), check, threads, tune)
    if _opened is None:
        state.table = _tilevm.driver_open(on.handle, state.is_gpu, state.capability, _real_driver() if state.is_gpu else 0,
                                          _CHECKS[check], threads, tell)
        _opened = state
        _prepare_torch(state)
        return state
    if (_opened.device.name, _opened.capability, _opened.check) != (on.name, state.capability, check):
        raise StateError(f"error[{frontend}.installed]: tilevm runs kernels on {_opened.device.name} ({_opened.architecture}, "
                         f"check={_opened.check!r}) already, not on {on.name} ({state.architecture}, check={check!r})\n"
                         "  fix: one device and one check a process")
    state.table = _opened.table
    return state


def check_same_device(frontend: str, state: State, device: str) -> None:
    """For an install() behind the first. Errors: StateError if `device` is another one than that of `state`."""
    on = open_device(device)
    if state.device.name != on.name:
        raise StateError(f"error[{frontend}.installed]: tilevm.{frontend} is installed for {state.device.name}, not for {on.name}\n"
                         "  fix: one device a process")


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
