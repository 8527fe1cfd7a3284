"""cuda.tile.tune. On the cpu its times are those of the VM, which say nothing about a GPU, so that a search does not repeat them."""
from __future__ import annotations

import time

from .. import _tilevm
from .._stream import stream_of
from .._errors import UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Callable, Optional

    from ._install import State


class Tuner:
    """Measures launches; `launch` is cuTile's, with our errors."""

    def __init__(self, state: "State", launch: "Callable[..., None]") -> None:
        self._state = state
        self._launch = launch
        self._flush: "Optional[Any]" = None

    def benchmark(self, stream: "Any", grid: "Any", kernel: "Any", kernel_args: "Any", flush_l2: bool = True) -> float:
        """Microseconds of one launch, as cuda.tile._cext._benchmark gives them."""
        if not self._state.is_gpu:
            start = time.perf_counter()
            self._launch(stream, grid, kernel, kernel_args)
            return (time.perf_counter() - start) * 1e6
        on = stream_of(stream, self._state.device)
        device = self._state.device.handle
        if flush_l2:
            self._empty_cache(on)
        start_event, end_event = _tilevm.Event(device), _tilevm.Event(device)
        handle = None if on is None else on.handle
        start_event.record(handle)
        self._launch(stream, grid, kernel, kernel_args)
        end_event.record(handle)
        end_event.synchronize()
        return start_event.elapsed_ms(end_event) * 1e3

    def _empty_cache(self, on: "Any") -> None:
        """Writes more than any L2 cache holds."""
        import numpy

        if self._flush is None:
            zeros = numpy.zeros(128 << 20, "uint8")
            self._flush = (_tilevm.Buffer(self._state.device.handle, zeros.nbytes), zeros)
        buffer, zeros = self._flush
        buffer.copy(0, zeros.ctypes.data, zeros.nbytes, None if on is None else on.handle, True)

    def export_payload(self, *launch: "Any") -> None:
        """For cuda.tile._cext._export_ipc_benchmark_payload: None: the launch is measured in this process."""

    def with_timeout(self, original: "Callable[..., Any]") -> "Callable[..., Any]":
        """benchmark_with_timeout of cuda.tile.tune: microseconds of a launch, and seconds of the call.

        Errors: TileLaunchTimeoutError, on the cpu; UnsupportedError on a GPU, where nobody can stop a kernel."""

        def benchmark_with_timeout(stream: "Any", grid: "Any", kernel: "Any", kernel_args: "Any", timeout_sec: float,
                                   *more: "Any") -> "Any":
            from cuda.tile.tune._tune_utils import TileLaunchTimeoutError

            if self._state.is_gpu:
                raise UnsupportedError("error[cutile.timeout]: single_run_timeout_sec on a GPU\n  fix: leave it out")
            _tilevm.driver_deadline(timeout_sec)
            try:
                return original(stream, grid, kernel, kernel_args, timeout_sec, *more)
            except TimeoutError:
                raise TileLaunchTimeoutError(f"CUDA kernel launch exceeded timeout {timeout_sec} sec") from None
            finally:
                _tilevm.driver_deadline(0.0)

        return benchmark_with_timeout

    def searching(self, module: "ModuleType") -> "Callable[[Any], Any]":
        """For exhaustive_search of cuda.tile.tune._tune: what it does on the cpu."""
        for name in ("_WARM_UP_REPEATS", "_BATCH_REPEATS", "_MIN_REPEATS"):
            setattr(module, name, 1)

        def replace(original: "Callable[..., Any]") -> "Callable[..., Any]":
            return original if self._state.tune == "once" else _first_that_runs(original)

        return replace


def _first_that_runs(original: "Callable[..., Any]") -> "Callable[..., Any]":
    def exhaustive_search(search_space: "Any", *args: "Any", **options: "Any") -> "Any":
        failures: "list[Any]" = []
        last: "Optional[Exception]" = None
        for config in search_space:
            try:
                result = original([config], *args, **options)
            except ValueError as error:
                failures.append((config, type(error), str(error)))
                last = error
                continue
            import dataclasses

            return dataclasses.replace(result, failures=tuple(failures))
        if last is None:
            return original(search_space, *args, **options)  # its own error for an empty one
        raise last

    exhaustive_search.__doc__ = original.__doc__
    return exhaustive_search
