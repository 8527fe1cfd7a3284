"""Which bytes of torch's tensors nobody has written, for full checks: `torch.empty` and its like give memory without values.

    note(torch.empty(100))                          # random bytes, remembered by the storage
    written_at(begin, bytes, "x_ptr", "add")        # for launches: where a byte for each says whether it was written; 0: all of them were

A launch reports reads of what was not written, and marks what its kernel wrote. Everybody else (torch, NumPy, an extension in C++)
writes without telling: the random bytes are not there any more, or torch's version of the tensor is another one. Then the whole storage
counts as written from there on.
"""
from __future__ import annotations

import ctypes
import itertools
import threading
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

if TYPE_CHECKING:  # torch need not be installed where hints are checked
    torch: Any
else:
    import torch

from ... import _tilevm
from ..._warnings import caller

if TYPE_CHECKING:
    from ..state import State

NAMES = frozenset(("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"))
GROWING = frozenset(("resize_", "resize_as_"))
_MOST_BYTES = 256 << 20  # of a larger storage nothing is remembered: filling it would take its memory

_state: "Optional[State]" = None
_known: "Dict[int, Fresh]" = {}  # by the address of the storage
_lock = threading.Lock()
_seeds = itertools.count(1)
on_launch: "List[Callable[[int, int], None]]" = []  # called with the memory that a kernel gets


def start(state: "State") -> None:
    global _state
    _state = state
    _tilevm.driver_watch(written_at)


def wanted() -> bool:
    return _state is not None and _state.check == "full"


def version_of(tensor: Any) -> "Optional[int]":
    """How often torch has written to the memory; None: it does not count (torch.inference_mode)."""
    try:
        version: int = tensor._version
    except RuntimeError:
        return None
    return version


def has_memory(tensor: Any) -> bool:
    """False for what stands for a tensor inside of torch.func.vmap, grad and the like."""
    try:
        tensor.untyped_storage().data_ptr()
    except RuntimeError:
        return False
    return True


class Fresh:
    """A storage with bytes that nobody has written."""

    told = False  # that torch uses some of them
    trials = 0  # that run now
    kernel = argument = ""  # that got it first, as which parameter

    def __init__(self, tensor: Any, storage: Any, begin: int, bytes: int, old_bytes: int) -> None:
        self.begin, self.bytes = begin, bytes
        self.bools = tensor.dtype == torch.bool
        self.single = tensor.element_size() == 1
        self.seed = next(_seeds)
        self.marks = (ctypes.c_ubyte * bytes)()
        self.written = ctypes.addressof(self.marks)
        ctypes.memset(self.written, 1, old_bytes)
        _tilevm.fresh_fill(begin, old_bytes, bytes, self.seed, self.bools)
        self.tensor = weakref.ref(tensor)
        self.version = version_of(tensor)
        self.storage = weakref.ref(storage, lambda gone: _forget(self))
        frame = caller(("tilevm", "torch"))
        self.made_at = f"{frame.f_code.co_filename}:{frame.f_lineno}"

    @property
    def source(self) -> "Fresh":
        return self

    def is_untouched(self) -> bool:
        """Whether nobody but kernels has written to it."""
        tensor = self.tensor()
        version = None if tensor is None else version_of(tensor)
        if version is None:
            if self.single:  # one byte of a random value may well be written again
                return False
        elif version != self.version:
            return False
        return self.storage() is not None and _tilevm.fresh_intact(self.begin, self.bytes, self.written, self.seed, self.bools)

    def missing_of(self, tensor: Any) -> Any:
        """A bool for each element of a tensor of this storage: whether nobody wrote it; None: all were written, or it is unknown."""
        size = tensor.element_size()
        marks = torch.frombuffer(self.marks, dtype=torch.uint8)
        bytes = marks.as_strided((*tensor.shape, size), (*(step * size for step in tensor.stride()), 1), tensor.storage_offset() * size)
        missing = (bytes == 0).any(-1)
        return missing if missing.any() and self.is_untouched() else None


def _forget(entry: Fresh) -> None:
    with _lock:
        if _known.get(entry.begin) is entry:
            del _known[entry.begin]


def note(tensor: Any, old_bytes: int = 0) -> None:
    """Of a tensor that torch has just made, without values; or made larger: it had `old_bytes` before."""
    if type(tensor) is not torch.Tensor or tensor.layout != torch.strided:
        return
    with torch._C.DisableTorchFunction():
        if not has_memory(tensor):
            return
        storage = tensor.untyped_storage()
        begin, bytes = storage.data_ptr(), storage.nbytes()
        if begin == 0 or bytes <= old_bytes or bytes > _MOST_BYTES:
            return
        entry = Fresh(tensor, storage, begin, bytes, old_bytes)
    with _lock:
        _known[begin] = entry


def bytes_of(tensor: Any) -> int:
    """Of its storage."""
    with torch._C.DisableTorchFunction():
        size: int = tensor.untyped_storage().nbytes() if has_memory(tensor) else 0
    return size


def _entry_at(address: int, bytes: int) -> "Optional[Fresh]":
    with _lock:
        for entry in _known.values():
            if entry.begin <= address and address + bytes <= entry.begin + entry.bytes:
                return entry
    return None


def entry_of(begin: int) -> "Optional[Fresh]":
    """Of the storage that begins there."""
    return _known.get(begin)


def written_at(address: int, bytes: int, argument: str, kernel: str) -> int:
    """For the extension: where a byte for each of these says whether it was written, or 0. A kernel got them as this argument."""
    for told in on_launch:
        told(address, bytes)
    entry = _entry_at(address, bytes)
    if entry is None or entry.trials > 0:
        return 0
    if not entry.kernel:
        entry.kernel, entry.argument = kernel, argument
    with torch._C.DisableTorchFunction():
        untouched = entry.is_untouched()
    if not untouched:
        _forget(entry)
        return 0
    return entry.written + (address - entry.begin)


class Marks:
    """What was written of a storage, to be put back with its bytes. Until then nothing is said of it: a search may measure a kernel on
    tensors that nobody filled, as its results are not used."""

    def __init__(self, address: int) -> None:
        self._entry = _entry_at(address, 1)
        if self._entry is not None:
            self._before = bytes(self._entry.marks)
            self._entry.trials += 1

    def put_back(self) -> None:
        if self._entry is not None:
            ctypes.memmove(self._entry.written, self._before, len(self._before))
            self._entry.trials -= 1
