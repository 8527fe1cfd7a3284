"""Streams and events of a device that is done when a call returns. Events know when they were recorded."""
from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any, Iterator, List, Optional

if TYPE_CHECKING:  # torch need not be installed where hints are checked
    torch: Any
else:
    import torch

from .recording import recording, recording_on

_CUDA = torch.device("cuda", 0)
_local = threading.local()
_lock = threading.Lock()
_last = 0x53740000


def _new_handle() -> int:
    global _last
    with _lock:
        _last += 16
        return _last


class Stream:
    """torch.cuda.Stream. Equal to another one of the same `cuda_stream`."""

    def __init__(self, device: Any = None, priority: int = 0, **keywords: Any) -> None:
        given = keywords.get("stream_ptr")
        self.cuda_stream: int = _new_handle() if given is None else given
        self.device = _CUDA
        self.priority = priority
        self.stream_id = self.cuda_stream
        self.device_index = 0
        self.device_type = 1
        self._outer: "List[Optional[Stream]]" = []

    def synchronize(self) -> None:
        _refuse_while_capturing("synchronize")

    def wait_stream(self, stream: "Stream") -> None:
        pass

    def wait_event(self, event: "Event") -> None:
        pass

    def record_event(self, event: "Optional[Event]" = None) -> "Event":
        event = Event() if event is None else event
        event.record(self)
        return event

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return recording_on(self)

    def __enter__(self) -> "Stream":
        self._outer.append(getattr(_local, "stream", None))
        _local.stream = self
        return self

    def __exit__(self, *unused: object) -> None:
        _local.stream = self._outer.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.cuda_stream == self.cuda_stream

    def __hash__(self) -> int:
        return hash(self.cuda_stream)

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device=cuda:0 cuda_stream={self.cuda_stream:#x}>"

    @property
    def __cuda_stream__(self) -> Any:
        return lambda: (0, self.cuda_stream)


class ExternalStream(Stream):
    """torch.cuda.ExternalStream."""

    def __init__(self, stream_ptr: int, device: Any = None, **keywords: Any) -> None:
        super().__init__(device, stream_ptr=stream_ptr)


_default = Stream(stream_ptr=0)


def current_stream(device: Any = None) -> Stream:
    stream: "Optional[Stream]" = getattr(_local, "stream", None)
    return _default if stream is None else stream


def default_stream(device: Any = None) -> Stream:
    return _default


def set_stream(stream: "Optional[Stream]") -> None:
    if stream is not None:
        _local.stream = stream


@contextlib.contextmanager
def stream(stream: "Optional[Stream]") -> "Iterator[None]":
    """torch.cuda.stream."""
    if stream is None:
        yield
        return
    with stream:
        yield


def _refuse_while_capturing(what: str) -> None:
    if recording() is not None:
        raise RuntimeError(f"CUDA error: operation not permitted when stream is capturing ({what})")


class Event:
    """torch.cuda.Event."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False) -> None:
        self.enable_timing = enable_timing
        self.external = external
        self._at: "Optional[float]" = None
        self.cuda_event = _new_handle()
        self.device = _CUDA

    def record(self, stream: "Optional[Stream]" = None) -> None:
        into = recording()
        if into is not None:
            if self.external:
                into.add(self._now)
            return
        self._now()

    def _now(self) -> None:
        self._at = time.perf_counter()

    def synchronize(self) -> None:
        pass

    def wait(self, stream: "Optional[Stream]" = None) -> None:
        pass

    def query(self) -> bool:
        return True

    def elapsed_time(self, end_event: "Event") -> float:
        """Milliseconds. Errors: ValueError for events that were made without enable_timing or never recorded."""
        if not self.enable_timing or not end_event.enable_timing:
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._at is None or end_event._at is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end_event._at - self._at) * 1e3


class _AnyEvent(type):
    """torch.Event, of whatever device the program has."""

    real = torch.Event

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, (Event, _AnyEvent.real))

    def __call__(cls, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> Event:
        return Event(enable_timing, blocking, interprocess)


def install(module: Any) -> None:
    cuda = module.cuda
    module.Event = _AnyEvent("Event", (), {})
    for name in ("Stream", "ExternalStream", "Event", "current_stream", "default_stream", "set_stream", "stream"):
        value = globals()[name]
        setattr(cuda, name, value)
        if hasattr(cuda.streams, name):
            setattr(cuda.streams, name, value)
    cuda.StreamContext = stream
    module._C._cuda_getCurrentRawStream = lambda device: current_stream().cuda_stream  # programs ask it for the number
    cuda.synchronize = lambda device=None: _refuse_while_capturing("synchronize")
