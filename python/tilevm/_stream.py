"""Streams, events and graphs of a device: work in order, points in it, and work that was recorded.

    stream = tilevm.device("cuda").stream()
    with stream.capture() as graph:        # recorded, not done
        first(stream)                      # launches that were prepared before
        second(stream)
    graph(stream)                          # as often as you like, for the price of one launch
    stream.synchronize()

The cpu device has them too; there all work is done when a call returns.
"""
from __future__ import annotations

from . import _tilevm
from ._errors import StateError, UnsupportedError, argument_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, List, Optional, Tuple, Type

    from ._device import Device


def _need_device(device: object) -> None:
    if not hasattr(device, "handle"):
        raise argument_error(f"{device!r} is no tilevm.Device", "make streams and events by the methods of tilevm.device(…)")


class Stream:
    """Work that happens in order. Launches on a stream do not wait; `synchronize` does, and raises what kernels did wrong.

    Made by Device.stream. Arrays must live until the work on them is done; tensors of torch do, if the stream is the one that torch
    uses them on. For one thread at a time."""

    def __init__(self, device: "Device", native: "Optional[int]") -> None:
        _need_device(device)
        self.device = device
        self.handle: "Any" = _tilevm.Stream(device.handle, native)
        self._launches = 0
        self._recorded: "Optional[List[object]]" = None  # what a graph that is being recorded needs

    def __repr__(self) -> str:
        return f"<tilevm.Stream of {self.device.name}{f' at {self.cuda_stream:#x}' if self.cuda_stream else ''}>"

    @property
    def cuda_stream(self) -> int:
        """The CUstream; 0 on the cpu."""
        native: int = self.handle.native()
        return native

    def __cuda_stream__(self) -> "Tuple[int, int]":
        """Version 0 of the protocol by which libraries take each other's streams, and the CUstream. Errors: UnsupportedError on the cpu."""
        if not self.device.is_gpu:
            raise UnsupportedError("error[python.stream]: a stream of the cpu is no CUstream\n  fix: make it by tilevm.device('cuda').stream()")
        return 0, self.cuda_stream

    def synchronize(self) -> None:
        """Waits for everything so far. Errors: TrapError if a kernel on this stream made a mistake since the last call; StateError
        while a graph is recorded."""
        self.handle.synchronize()

    def wait(self, event: "Event") -> None:
        """Work on this stream from here on waits for the event as it was last recorded. Errors: ArgumentError for one of another
        device.

            event.record(producer)
            consumer.wait(event)
        """
        if not isinstance(event, Event):
            raise argument_error(f"a stream waits for a tilevm.Event, not for {type(event).__name__}")
        self.handle.wait(event.handle)

    def capture(self) -> "_Capture":
        """To be used by `with`: launches on this stream are recorded in a Graph instead of done. Prepare them before (Kernel.prepare); their
        arrays are those of the graph's runs. Errors: StateError if a graph is being recorded already.

            with stream.capture() as graph:
                launch(stream)
        """
        return _Capture(self)

    def count_launch(self) -> None:
        """For tilevm.torch: after a launch on a stream that nobody else synchronizes by this object, and so would hear what kernels did
        wrong; every 4096th call does."""
        self._launches += 1
        if self._launches % 4096 == 0:
            self.synchronize()

    def note(self, work: object) -> None:
        """For Launch: a graph that is being recorded keeps them."""
        if self._recorded is not None:
            self._recorded.append(work)


class Graph:
    """Work that was recorded by Stream.capture. Keeps the launches that are in it, and their arrays."""

    def __init__(self, device: "Device") -> None:
        self.device = device
        self._handle: "Any" = None
        self._kept: "List[object]" = []

    def __repr__(self) -> str:
        return f"<tilevm.Graph of {self.device.name}{'' if self._handle is not None else ', not recorded yet'}>"

    def finish(self, handle: "Any", kept: "List[object]") -> None:
        """For Stream.capture."""
        self._handle, self._kept = handle, kept

    def __call__(self, stream: "Any" = None) -> None:
        """Does the work; without a stream (a tilevm.Stream, torch.cuda.Stream, CUstream's number) waits until it is done. Errors:
        StateError before the recording ended; TrapError for a mistake of a kernel."""
        if self._handle is None:
            raise StateError("error[run.capturing]: the graph is not recorded yet\n  fix: run it behind the `with` of Stream.capture")
        on = stream_of(stream, self.device)
        if on is not None:
            on.note(self)
        self._handle.run(None if on is None else on.handle)


class _Capture:
    """Between the begin and the end of a recording."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def __enter__(self) -> Graph:
        self._stream.handle.begin_capture()
        self._stream._recorded = []
        self._graph = Graph(self._stream.device)
        return self._graph

    def __exit__(self, kind: "Optional[Type[BaseException]]", error: "Optional[BaseException]",
                 trace: "Optional[TracebackType]") -> None:
        kept, self._stream._recorded = self._stream._recorded, None
        try:
            handle = self._stream.handle.end_capture()
        except Exception:
            if kind is None:  # else what went wrong first is told
                raise
            return
        if kind is None:
            self._graph.finish(handle, kept or [])


class Event:
    """A point in a stream's work. Made by Device.event. For one thread at a time."""

    def __init__(self, device: "Device") -> None:
        _need_device(device)
        self.device = device
        self.handle: "Any" = _tilevm.Event(device.handle)

    def __repr__(self) -> str:
        return f"<tilevm.Event of {self.device.name}>"

    def record(self, stream: "Any" = None) -> None:
        """Behind everything so far on the stream (None: the device's own). Errors: ArgumentError for one of another device;
        StateError while it records a graph."""
        on = stream_of(stream, self.device)
        self.handle.record(None if on is None else on.handle)

    def synchronize(self) -> None:
        """Waits until the work before it is done. Does not say whether kernels made mistakes: Stream.synchronize does."""
        self.handle.synchronize()

    def elapsed_ms(self, start: "Event") -> float:
        """Milliseconds from `start` to this event, both recorded and done. Errors: ArgumentError, StateError."""
        if not isinstance(start, Event):
            raise argument_error(f"time passes from a tilevm.Event, not from {type(start).__name__}")
        milliseconds: float = start.handle.elapsed_ms(self.handle)
        return milliseconds


def stream_of(stream: "Any", on: "Device") -> "Optional[Stream]":
    """A Stream from what callers pass: None, a Stream, a number, or what has `cuda_stream` (torch), `ptr` (cupy) or `__cuda_stream__` (cuda.core)."""
    if stream is None or isinstance(stream, Stream):
        if stream is not None and stream.device is not on:
            raise argument_error(f"the stream is of {stream.device.name}, the launch of {on.name}")
        return stream
    native = stream if isinstance(stream, int) else getattr(stream, "cuda_stream", getattr(stream, "ptr", None))
    protocol = getattr(stream, "__cuda_stream__", None)
    if native is None and protocol is not None:
        version, native = protocol() if callable(protocol) else protocol  # cuda.core's first releases had a property
        if version != 0:
            raise argument_error(f"{stream!r} speaks version {version} of __cuda_stream__, this package version 0", "pass the number of its CUstream")
    if not isinstance(native, int):
        raise argument_error(f"{stream!r} is no stream", "pass a tilevm.Stream, a torch.cuda.Stream or the number of a CUstream")
    return on.stream(native)
