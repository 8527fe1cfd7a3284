"""Launches that are tried: what the arrays of a launch hold is put back after each trial, so that a search leaves no trace.

    memory = Memory({"x": x, "pair": (y, z)})      # copies
    run()
    memory.put_back()
"""
from __future__ import annotations

import ctypes
import dataclasses
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

    Place = Tuple[int, int]  # address, bytes


def _arrays_in(name: str, value: "Any") -> "Iterator[Tuple[str, Any]]":
    """Tensors and NumPy arrays, with what messages call them."""
    if isinstance(value, (tuple, list)):
        for i, item in enumerate(value):
            yield from _arrays_in(f"{name}[{i}]", item)
    elif hasattr(value, "untyped_storage") or hasattr(value, "__array_interface__"):
        yield name, value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type) and not hasattr(value, "base"):
        for field in dataclasses.fields(value):
            yield from _arrays_in(f"{name}.{field.name}", getattr(value, field.name))
    else:
        inner = getattr(value, "base", None)  # of a descriptor, of another view of the elements
        if inner is not None and inner is not value:
            yield from _arrays_in(name, inner)


def _place_of(array: "Any") -> "Place":
    if hasattr(array, "untyped_storage"):
        storage = array.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    from .._arrays import view_of

    view = view_of(array)
    return view.address, view.bytes


class Memory:
    """What the arrays among arguments hold; those of memory that nobody can read are left out."""

    def __init__(self, arguments: "Mapping[str, Any]") -> None:
        self._arrays: "Dict[Place, Tuple[str, Any]]" = {}
        for name, value in arguments.items():
            for part, array in _arrays_in(name, value):
                try:
                    place = _place_of(array)
                except Exception:  # without storage: fake, functional
                    continue
                if place[0] != 0 and place[1] > 0:
                    self._arrays.setdefault(place, (part, array))
        self._marks = _marks_of(self._arrays)
        self._before = self.read()

    def read(self) -> "List[bytes]":
        """Of each array, now."""
        return [ctypes.string_at(address, count) for address, count in self._arrays]

    def put_back(self) -> None:
        for (address, count), bytes in zip(self._arrays, self._before):
            if ctypes.string_at(address, count) != bytes:  # memory that is read only stays as it is
                ctypes.memmove(address, bytes, count)
        for mark in self._marks:
            mark.put_back()

    def different(self, one: "List[bytes]", other: "List[bytes]") -> "List[str]":
        """Names of the arrays that hold something else, beyond what the order of additions changes."""
        return [name for (name, array), a, b in zip(self._arrays.values(), one, other) if a != b and not _are_close(array, a, b)]


def _marks_of(places: "Dict[Place, Tuple[str, Any]]") -> "List[Any]":
    if "torch" not in sys.modules:
        return []
    from .torch_cuda.fresh import Marks

    return [Marks(address) for address, _ in places]


def _are_close(array: "Any", a: bytes, b: bytes) -> bool:
    """Of floats."""
    torch: "Optional[Any]" = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        if not array.dtype.is_floating_point:
            return False
        with torch._C.DisableTorchFunction():
            one, other = (torch.frombuffer(bytearray(v), dtype=array.dtype).double() for v in (a, b))
            return bool(torch.allclose(one, other, rtol=1e-3, equal_nan=True))
    import numpy

    dtype = numpy.dtype(array.dtype)
    return dtype.kind == "f" and numpy.allclose(numpy.frombuffer(a, dtype), numpy.frombuffer(b, dtype), rtol=1e-3, equal_nan=True)
