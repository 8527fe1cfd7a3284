"""cuda.tile.tune. On the cpu its times are those of the VM, which say nothing about a GPU, so that a search does not repeat them."""
from __future__ import annotations

import functools
import os
import time

from .. import _tilevm
from .._errors import TrapError
from .._frontend.trials import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Callable, Optional

    from .._frontend.state import State


def in_a_child(original: "Callable[..., Any]", device: str) -> "Callable[..., Any]":
    """benchmark_with_timeout of cuda.tile.tune on a GPU: cuTile measures in another process, which it ends with a kernel that hangs.
    There, too, kernels are ours."""

    @functools.wraps(original)
    def benchmark_with_timeout(*args: "Any", **options: "Any") -> "Any":
        from .._frontend.command import for_children

        before = {name: os.environ.get(name) for name in ("PYTHONPATH", "TILEVM_CUTILE_DEVICE")}
        os.environ["TILEVM_CUTILE_DEVICE"] = device
        for_children()
        try:
            return original(*args, **options)
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value

    return benchmark_with_timeout


class Tuner:
    """Measures launches on the cpu; `launch` is cuTile's, with our errors."""

    def __init__(self, launch: "Callable[..., None]") -> None:
        self._launch = launch
        self._trap: "Optional[TrapError]" = None  # the first one of a search

    def benchmark(self, stream: "Any", grid: "Any", kernel: "Any", kernel_args: "Any", flush_l2: bool = True) -> float:
        """Microseconds of one launch, as cuda.tile._cext._benchmark gives them. What the arrays hold is put back."""
        memory = Memory({"arguments": tuple(kernel_args)})
        try:
            start = time.perf_counter()
            self._launch(stream, grid, kernel, kernel_args)
            return (time.perf_counter() - start) * 1e6
        except TrapError as error:
            self._trap = self._trap or error
            raise
        finally:
            memory.put_back()

    def export_payload(self, *launch: "Any") -> None:
        """For cuda.tile._cext._export_ipc_benchmark_payload: None: the launch is measured in this process."""

    def with_timeout(self, original: "Callable[..., Any]") -> "Callable[..., Any]":
        """benchmark_with_timeout of cuda.tile.tune: microseconds of a launch, and seconds of the call.

        Errors: TileLaunchTimeoutError."""

        def benchmark_with_timeout(stream: "Any", grid: "Any", kernel: "Any", kernel_args: "Any", timeout_sec: float,
                                   *more: "Any") -> "Any":
            from cuda.tile.tune._tune_utils import TileLaunchTimeoutError

            _tilevm.driver_deadline(timeout_sec)
            try:
                return original(stream, grid, kernel, kernel_args, timeout_sec, *more)
            except TimeoutError:
                raise TileLaunchTimeoutError(f"CUDA kernel launch exceeded timeout {timeout_sec} sec") from None
            finally:
                _tilevm.driver_deadline(0.0)

        return benchmark_with_timeout

    def searching(self, module: "ModuleType", state: "State") -> "Callable[[Any], Any]":
        """For exhaustive_search of cuda.tile.tune._tune: what it does on the cpu. Where every configuration fails and one of them by a mistake of
        the kernel, that is what is raised."""
        for name in ("_WARM_UP_REPEATS", "_BATCH_REPEATS", "_MIN_REPEATS"):
            setattr(module, name, 1)

        def replace(original: "Callable[..., Any]") -> "Callable[..., Any]":
            first = _first_that_runs(original)

            @functools.wraps(original)
            def exhaustive_search(*args: "Any", **options: "Any") -> "Any":
                self._trap = None
                try:
                    return (original if state.tune == "once" else first)(*args, **options)
                except ValueError:  # no configuration runs, which hides what the kernel does wrong
                    if self._trap is None:
                        raise
                    raise self._trap from None

            return exhaustive_search

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
