"""Devices, and what kernels print.

Devices are opened once a process. A child of `fork` opens its own.
"""
from __future__ import annotations

import os
import sys

from . import _native_files, _tilevm
from ._errors import UnavailableError, argument_error
from ._stream import Event, Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Dict, Optional, Tuple, Union

_devices: "Dict[str, Device]" = {}
generation = 0  # counts forks: what belongs to the parent is not used in the child
_printer: "Optional[Callable[[str], object]]" = None


class Device:
    """Where kernels run: "cpu" (the VM), "cuda:0", … Made by `tilevm.device`.

    `name`, `description` ("NVIDIA H200"), `is_gpu`, `ordinal`, `multiprocessors`, `compute_capability` ((9, 0)), `driver_version`
    (13000: CUDA 13.0), `memory_bytes`."""

    def __init__(self, name: str) -> None:
        self.handle = _tilevm.Device(name)
        self.generation = generation
        info = self.handle.info()
        self.name: str = info["name"]
        self.description: str = info["description"]
        self.is_gpu: bool = info["is_gpu"]
        self.ordinal: int = info["ordinal"]
        self.multiprocessors: int = info["multiprocessors"]
        self.compute_capability: "Tuple[int, int]" = info["compute_capability"]
        self.driver_version: int = info["driver_version"]
        self.memory_bytes: int = info["memory_bytes"]
        self._streams: "Dict[int, Stream]" = {}

    def __repr__(self) -> str:
        return f"<tilevm.Device {self.name}: {self.description}>"

    def allow_compile(self, cache_folder: "Optional[str]" = None, cache_bytes: int = 0) -> None:
        """Lets kernels that a module has no machine code for be compiled on this machine by the compiler in this package.

        From now on, for every kernel on this device. What was compiled is kept in `cache_folder` (None: TILEVM_CACHE, or
        XDG_CACHE_HOME/tilevm, or ~/.cache/tilevm; "": nowhere) of at most `cache_bytes` (0: 1 GiB). On the cpu this does nothing.
        Errors: UnavailableError without the compiler's library.

            tilevm.device("cuda").allow_compile()
        """
        if not (cache_folder is None or isinstance(cache_folder, str)) or not isinstance(cache_bytes, int) or cache_bytes < 0:
            raise argument_error(f"allow_compile({cache_folder!r}, {cache_bytes!r})", "pass a folder's name and a number of bytes")
        self.handle.allow_compile(os.environ.get("TILEVM_LIBTILEC") or _own_libtilec(), cache_folder, cache_bytes)

    def stream(self, native: "Optional[int]" = None) -> "Stream":
        """A new stream, or the stream of somebody else (a CUstream, `torch.cuda.Stream.cuda_stream`), who keeps it alive.

        Errors: UnsupportedError for a stream of others on the cpu."""
        if native is None:
            return Stream(self, None)
        if not isinstance(native, int):
            raise argument_error(f"a stream of others is the number of a CUstream, not {type(native).__name__}")
        if native not in self._streams:
            self._streams[native] = Stream(self, native)
        return self._streams[native]

    def event(self) -> "Event":
        """A new event: a point in a stream's work, to wait for and to measure time.

            start, end = device.event(), device.event()
            start.record(stream); launch(stream); end.record(stream)
            print(end.elapsed_ms(start))
        """
        return Event(self)


def device(name: "Union[str, Device]" = "auto") -> Device:
    """The device of a name: "cpu", "cuda" (the first GPU), "cuda:N", "auto" (the first GPU if there is one, else the cpu).

    Errors: UnavailableError says what is missing: the driver, a GPU.

        tilevm.device("cpu").multiprocessors     # threads of the VM
    """
    if isinstance(name, Device):
        if name.generation != generation:
            return device(name.name)
        return name
    if not isinstance(name, str) or "\0" in name:
        raise argument_error(f"a device is a name such as 'cpu' or 'cuda:0', not {name!r}")
    found = _devices.get(name)
    if found is None:
        found = Device(name)
        found = _devices.setdefault(found.name, found)
        _devices[name] = found
    return found


def has_gpu() -> bool:
    """Whether "auto" is a GPU."""
    try:
        return device("cuda").is_gpu
    except UnavailableError:
        return False


def _own_libtilec() -> "Optional[str]":
    path = _native_files.library("tilec")
    return path if os.path.exists(path) else None


def set_print(printer: "Optional[Callable[[str], object]]") -> "Optional[Callable[[str], object]]":
    """Who receives what kernels print, as text, in any thread, one call after the other; None: sys.stdout. Returns who did so far.

        lines = []
        tilevm.set_print(lines.append)
    """
    global _printer
    if printer is not None and not callable(printer):
        raise argument_error(f"set_print takes a function, not {type(printer).__name__}")
    before, _printer = _printer, printer
    return before


def deliver_print(text: str) -> None:
    """For the extension."""
    if _printer is not None:
        _printer(text)
        return
    import sys

    if sys.stdout is None:
        return
    if getattr(sys.stdout, "isatty", bool)():  # what a program says must not steer it
        text = "".join(c if c in "\n\t" or c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    sys.stdout.write(text)


def _after_fork() -> None:
    global generation
    generation += 1
    _devices.clear()
    _tilevm.after_fork()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_after_fork)
