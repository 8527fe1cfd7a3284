"""What torch.cuda answers: one device, of the capability that was asked for, with the memory and the cores of this machine."""
from __future__ import annotations

import contextlib
import uuid
from typing import TYPE_CHECKING, Any, Dict, Iterator, Tuple

if TYPE_CHECKING:  # torch need not be installed where hints are checked
    torch: Any
else:
    import torch

from .. import machine

if TYPE_CHECKING:
    from ..state import State

_CUDA = torch.device("cuda", 0)
_NAME = "tilevm (this CPU)"


class Properties:
    """torch.cuda.get_device_properties()."""

    def __init__(self, capability: "Tuple[int, int]", cores: int) -> None:
        self.name = _NAME
        self.major, self.minor = capability
        self.multi_processor_count = cores
        self.total_memory = machine.memory()[1]
        self.L2_cache_size = 1 << 20
        self.warp_size = 32
        self.max_threads_per_block = 1024
        self.max_threads_per_multi_processor = 2048
        self.regs_per_multiprocessor = 65536
        self.shared_memory_per_block = 48 << 10
        self.shared_memory_per_block_optin = 227 << 10
        self.shared_memory_per_multiprocessor = 228 << 10
        self.is_integrated = self.is_multi_gpu_board = 0
        self.gcnArchName = ""
        self.uuid = uuid.UUID(int=0)
        self.clock_rate = self.memory_clock_rate = self.memory_bus_width = 0
        self.pci_bus_id = self.pci_device_id = self.pci_domain_id = 0

    def __repr__(self) -> str:
        return (f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
                f"total_memory={self.total_memory >> 20}MB, multi_processor_count={self.multi_processor_count})")


class _Device:
    """torch.cuda.device and device_of: there is one device."""

    def __init__(self, device: Any = None) -> None:
        self.idx = 0
        self.prev_idx = 0

    def __enter__(self) -> "_Device":
        return self

    def __exit__(self, *unused: object) -> None:
        pass


def _answer(value: Any) -> Any:
    """A function of a device that gives the value."""

    def answer(device: Any = None) -> Any:
        _check_device(device)
        return value

    return answer


def _check_device(device: Any = None) -> None:
    if isinstance(device, str):
        device = torch.device(device)
    number = device.index if isinstance(device, torch.device) else device
    if isinstance(number, int) and number not in (0, -1):  # whatever is no device is the current one, as in torch
        raise RuntimeError("CUDA error: invalid device ordinal")


@contextlib.contextmanager
def _nothing(*arguments: Any, **keywords: Any) -> "Iterator[None]":
    yield


def _accelerator(module: Any) -> None:
    from . import streams

    accelerator: "Dict[str, Any]" = {
        "is_available": lambda: True, "device_count": lambda: 1, "current_device_index": lambda: 0, "current_device_idx": lambda: 0,
        "current_accelerator": lambda check_available=False: module.device("cuda"), "set_device_index": _check_device,
        "set_device_idx": _check_device, "synchronize": lambda device=None: None,
        "current_stream": lambda device=None: streams.current_stream(), "set_stream": streams.set_stream, "empty_cache": lambda: None,
    }
    accelerator["device_index"] = _Device
    accelerator["get_memory_info"] = lambda device_index=None: machine.memory()
    accelerator["memory_stats"] = lambda device_index=None: {}
    for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"):
        accelerator[name] = lambda device_index=None: 0
    for name in ("reset_accumulated_memory_stats", "reset_peak_memory_stats"):
        accelerator[name] = lambda device_index=None: None
    for name, value in accelerator.items():
        if hasattr(module, "accelerator") and hasattr(module.accelerator, name):
            setattr(module.accelerator, name, value)


def _autocast(module: Any) -> None:
    """What is cast automatically on "cuda" is cast on the CPU, to float16 if nothing else is said, as there."""
    real = module.autocast

    class autocast(real):  # type: ignore[misc,valid-type]
        def __init__(self, device_type: str, dtype: Any = None, *arguments: Any, **keywords: Any) -> None:
            if device_type == "cuda":
                device_type, dtype = "cpu", dtype or torch.float16
            super().__init__(device_type, dtype, *arguments, **keywords)

    autocast.__name__ = autocast.__qualname__ = "autocast"
    module.autocast = module.amp.autocast = autocast


def install(module: Any, state: "State") -> None:
    cuda = module.cuda
    properties = Properties(state.capability, state.device.multiprocessors)
    capability = state.capability
    answers: "Dict[str, Any]" = {
        "is_available": lambda: True, "is_initialized": lambda: True, "init": lambda: None, "_lazy_init": lambda: None,
        "device_count": lambda: 1, "current_device": lambda: 0, "set_device": _check_device, "device": _Device, "device_of": _Device,
        "get_device_properties": _answer(properties),
        "get_device_capability": _answer(capability),
        "get_device_name": _answer(_NAME),
        "get_arch_list": lambda: [state.architecture], "is_bf16_supported": lambda including_emulation=True: True,
        "is_tf32_supported": lambda: True, "can_device_access_peer": lambda device, peer: False,
        "get_sync_debug_mode": lambda: 0, "set_sync_debug_mode": lambda mode: None, "ipc_collect": lambda: None,
        "utilization": lambda device=None: 0, "_sleep": lambda cycles: None,
    }
    memory: "Dict[str, Any]" = {
        "mem_get_info": lambda device=None: machine.memory(), "empty_cache": lambda: None,
        "memory_stats": lambda device=None: {}, "memory_summary": lambda device=None, abbreviated=False: _NAME,
        "set_per_process_memory_fraction": lambda fraction, device=None: None, "memory_snapshot": lambda: [],
    }
    for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"):
        memory[name] = lambda device=None: 0
    for name in ("reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached",
                 "reset_accumulated_memory_stats"):
        memory[name] = lambda device=None: None
    for name, value in {**answers, **memory}.items():
        setattr(cuda, name, value)
    for name, value in memory.items():
        setattr(cuda.memory, name, value)
    for name in ("range_push", "range_pop", "mark"):
        setattr(cuda.nvtx, name, lambda *arguments, **keywords: 0)
    cuda.nvtx.range = _nothing
    if module.version.cuda is None:
        module.version.cuda = "13.0"
    module.nn.attention.sdpa_kernel = _nothing  # which kernel a GPU would use
    _accelerator(module)
    _autocast(module)
