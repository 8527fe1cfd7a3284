"""cupy.cuda: one device, of the capability that was asked for. Its streams and events are done when a call returns.

    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    start.record(); …; end.record(); end.synchronize()
    cupy.cuda.get_elapsed_time(start, end)      # milliseconds
"""
from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from typing import Any, Dict, Iterator, List, Tuple

capability: "Tuple[int, int]" = (9, 0)  # install.py sets it
_local = threading.local()
_handles = itertools.count(0x63750010, 16)


def _memory() -> "Tuple[int, int]":
    page = os.sysconf("SC_PAGE_SIZE")
    return os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page


def is_available() -> bool:
    """Whether there is a device: this one."""
    return True


class Device:
    """Device 0. Errors: ValueError for another number."""

    def __init__(self, device: "int | Device | None" = None) -> None:
        self.id: int = device.id if isinstance(device, Device) else device or 0
        if self.id != 0:
            raise ValueError(f"there is no device {self.id}: this machine is device 0")

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device)

    def __hash__(self) -> int:
        return 0

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *unused: object) -> None:
        pass

    def __repr__(self) -> str:
        return "<CUDA Device 0>"

    def use(self) -> None:
        pass

    def synchronize(self) -> None:
        pass

    @property
    def compute_capability(self) -> str:
        return "%d%d" % capability

    @property
    def mem_info(self) -> "Tuple[int, int]":
        return _memory()

    @property
    def attributes(self) -> "Dict[str, Any]":
        return {"ComputeCapabilityMajor": capability[0], "ComputeCapabilityMinor": capability[1], "MultiProcessorCount": os.cpu_count() or 1,
                "WarpSize": 32, "MaxThreadsPerBlock": 1024}


class MemoryPointer:
    """`ptr`: the address; `mem`: itself, of `size` bytes."""

    def __init__(self, ptr: int, size: int) -> None:
        self.ptr, self.size, self.device, self.device_id = ptr, size, Device(0), 0
        self.mem = self

    def __int__(self) -> int:
        return self.ptr


class Stream:
    """Its `ptr` is what launches take. Work on it is done when the call that starts it returns."""

    null: "Stream"
    ptds: "Stream"

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: int = 0) -> None:
        self.ptr = 0 if null or ptds else next(_handles)
        self.device_id, self.priority, self.is_non_blocking, self.done = 0, priority, non_blocking, True
        self._outer: "List[Stream]" = []

    @property
    def __cuda_stream__(self) -> "Any":
        return lambda: (0, self.ptr)

    def __enter__(self) -> "Stream":
        self._outer.append(get_current_stream())
        return self.use()

    def __exit__(self, *unused: object) -> None:
        self._outer.pop().use()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.ptr == self.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)

    def __repr__(self) -> str:
        return f"<Stream {self.ptr} (device 0)>"

    def use(self) -> "Stream":
        """Makes it the current one of this thread."""
        _local.stream = self
        return self

    def synchronize(self) -> None:
        pass

    def record(self, event: "Event | None" = None) -> "Event":
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: "Event") -> None:
        pass

    def begin_capture(self, mode: Any = None) -> None:
        """Errors: UnsupportedError."""
        from ..._errors import UnsupportedError

        raise UnsupportedError("error[cupy.graph]: cupy's streams do not record graphs here\n  fix: launch the kernels one by one, or use torch.cuda.graph")


class ExternalStream(Stream):
    """Of another library, by its address."""

    def __init__(self, ptr: int, device_id: int = 0) -> None:
        super().__init__()
        self.ptr = ptr


Stream.null, Stream.ptds = Stream(null=True), Stream(ptds=True)


def get_current_stream(device_id: "int | None" = None) -> Stream:
    """That of this thread, by use() or `with`; at first the null stream."""
    found: Stream = getattr(_local, "stream", Stream.null)
    return found


class Event:
    """The moment at which it was recorded. Errors: RuntimeError where one that was not recorded is asked for."""

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        self.ptr, self.seconds = next(_handles), 0.0

    @property
    def done(self) -> bool:
        return True

    def record(self, stream: "Stream | None" = None) -> None:
        self.seconds = time.perf_counter()

    def synchronize(self) -> None:
        pass


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two events. They say nothing of a GPU."""
    if start_event.seconds == 0 or end_event.seconds == 0:
        raise RuntimeError("an event that was not recorded")
    return (end_event.seconds - start_event.seconds) * 1e3


class MemoryPool:
    """NumPy's memory has no pool: nothing is kept."""

    def used_bytes(self) -> int:
        return 0

    def total_bytes(self) -> int:
        return 0

    def free_bytes(self) -> int:
        return 0

    def n_free_blocks(self) -> int:
        return 0

    def free_all_blocks(self, stream: Any = None) -> None:
        pass

    def free_all_free(self) -> None:
        pass

    def set_limit(self, size: "int | None" = None, fraction: "float | None" = None) -> None:
        pass


_pool = MemoryPool()


def get_default_memory_pool() -> MemoryPool:
    return _pool


@contextlib.contextmanager
def using_allocator(allocator: Any = None) -> "Iterator[None]":
    """Arrays come from NumPy's allocator all the same."""
    yield


def set_allocator(allocator: Any = None) -> None:
    pass


class runtime:
    """Functions of CUDA's runtime that programs ask about the device."""

    CUDARuntimeError = type("CUDARuntimeError", (RuntimeError,), {})
    is_hip = False

    @staticmethod
    def getDeviceCount() -> int:
        return 1

    @staticmethod
    def getDevice() -> int:
        return 0

    @staticmethod
    def setDevice(device: int) -> None:
        Device(device)

    @staticmethod
    def deviceSynchronize() -> None:
        pass

    @staticmethod
    def streamSynchronize(stream: int) -> None:
        pass

    @staticmethod
    def memGetInfo() -> "Tuple[int, int]":
        return _memory()

    @staticmethod
    def runtimeGetVersion() -> int:
        return 13000

    @staticmethod
    def driverGetVersion() -> int:
        return 13000

    @staticmethod
    def getDeviceProperties(device: int) -> "Dict[str, Any]":
        Device(device)
        return {"name": b"tilevm (this CPU)", "major": capability[0], "minor": capability[1], "multiProcessorCount": os.cpu_count() or 1,
                "totalGlobalMem": _memory()[1], "warpSize": 32, "maxThreadsPerBlock": 1024, "sharedMemPerBlock": 48 << 10,
                "sharedMemPerBlockOptin": 227 << 10, "regsPerMultiprocessor": 65536, "clockRate": 0, "memoryClockRate": 0, "memoryBusWidth": 0,
                "l2CacheSize": 1 << 20}
