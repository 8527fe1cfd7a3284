"""Files that torch.compile writes for a GPU (TORCH_LOGS=output_code): their kernels are Triton's, the rest of them guards the device, makes
empty tensors, asks for streams, compiles in other processes and measures.
"""
from __future__ import annotations

import functools
import itertools
import time
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:  # torch need not be installed where hints are checked
    torch: Any
else:
    import torch

from ..imports import when_imported
from . import redirect, streams

if TYPE_CHECKING:
    from ..state import State


def _one_device(device: Any = 0) -> int:
    """Changes the device, which was and is the only one."""
    return 0


def _empty_strided_cuda(size: Any, stride: Any, dtype: Any) -> Any:
    return torch.empty_strided(size, stride, dtype=dtype, device="cuda")


def _of_cpu(function: "Callable[..., Any]") -> "Callable[..., Any]":
    """A function of torch's that makes a tensor of the CPU and does not say so."""

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return redirect.marked_as_cpu(function(*arguments))

    return call


def _like_first(function: "Callable[..., Any]") -> "Callable[..., Any]":
    """… that makes a view."""

    @functools.wraps(function)
    def call(tensor: Any, *arguments: Any) -> Any:
        view = function(tensor, *arguments)
        return redirect.marked_as_cpu(view) if redirect.on_cpu(tensor) else view

    return call


def _compile_here(config: Any) -> None:
    """torch._inductor.config: no processes that do not know tilevm, and no launcher for machine code."""
    for name, value in (("compile_threads", 1), ("use_static_triton_launcher", False), ("use_static_cuda_launcher", False)):
        if hasattr(config, name):
            setattr(config, name, value)


def _measure_once(state: "State", module: Any) -> None:
    """torch._inductor.runtime.benchmarking: times of the VM say nothing about a GPU. With tune="first" nothing runs, and the first is taken."""
    turns = itertools.count(1)

    def measure(self: Any, fn: "Callable[..., Any]", fn_args: Any = None, fn_kwargs: Any = None, *more: Any, **options: Any) -> float:
        if state.tune == "first":
            return float(next(turns))
        given = fn_args if isinstance(fn_args, (tuple, list)) else ()
        start = time.perf_counter()
        fn(*given, **(fn_kwargs if isinstance(fn_kwargs, dict) else {}))
        return (time.perf_counter() - start) * 1e3

    for kind in vars(module).values():
        if isinstance(kind, type) and kind.__module__ == module.__name__:
            for name in ("benchmark", "benchmark_gpu"):
                if name in vars(kind):
                    setattr(kind, name, measure)


def _keep_driver(module: Any) -> None:
    """torch._inductor.runtime.triton_helpers, which makes NVIDIA's driver Triton's active one where torch has "cuda"."""
    module.set_driver_to_gpu = lambda: None


def _ask_our_stream(module: Any) -> None:
    """torch._dynamo.device_interface, of a torch without CUDA."""
    module.CudaInterface.get_raw_stream = staticmethod(lambda device: streams.current_stream().cuda_stream)


def install(module: Any, state: "State") -> None:
    for name in ("_exchange_device", "_maybe_exchange_device"):
        setattr(module.cuda, name, _one_device)
    for name in ("_cuda_exchangeDevice", "_cuda_maybeExchangeDevice", "_cuda_setDevice", "_cuda_getDevice"):
        setattr(module._C, name, _one_device)
    guards = module._C._dynamo.guards
    guards._empty_strided_cuda = _empty_strided_cuda
    guards._empty_strided_cpu = _of_cpu(guards._empty_strided_cpu)
    guards._reinterpret_tensor = _like_first(guards._reinterpret_tensor)
    when_imported("torch._inductor.config", _compile_here)
    when_imported("torch._inductor.runtime.benchmarking", functools.partial(_measure_once, state))
    when_imported("torch._inductor.runtime.triton_helpers", _keep_driver)
    when_imported("torch._dynamo.device_interface", _ask_our_stream)
