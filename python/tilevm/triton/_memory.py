"""What lies behind a pointer argument that is not simply a tensor of torch: NumPy arrays, numbers, whatever has `data_ptr()`; and what
messages call the memory of an argument. The launcher in compiled code asks.
"""
from __future__ import annotations

import functools
import sys

from .. import _arrays, _tilevm
from .._errors import argument_error
from .._frontend.memory import tensor_at, tensors
from .._types import BY_DTYPE, BY_NAME, BY_NUMBER
from ._install import installed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, List, Optional, Tuple


class HostArray:
    """A NumPy array as Triton takes it: with `data_ptr()`. On a GPU a copy, which copy_back() returns."""

    def __init__(self, array: "Any") -> None:
        self.array = array
        self.dtype = array.dtype
        self.shape = array.shape
        self._buffer: "Any" = None
        state = installed()
        if state is not None and state.is_gpu:
            view = _arrays.view_of(array)
            self._buffer = _tilevm.Buffer(state.device.handle, max(view.bytes, 1))
            self._buffer.copy(0, view.address, view.bytes, None, True)

    def data_ptr(self) -> int:
        address: int = self._buffer.address() if self._buffer is not None else self.array.__array_interface__["data"][0]
        return address

    def copy_back(self) -> None:
        if self._buffer is not None and self.array.flags.writeable:
            view = _arrays.view_of(self.array)
            self._buffer.copy(0, view.address, view.bytes, None, False)


def _copy_back(arrays: "Iterable[HostArray]") -> None:
    for array in arrays:
        array.copy_back()


def take_numpy() -> None:
    """Lets launches take NumPy arrays, which Triton's own code refuses: the arguments of such a launch are read again."""
    from triton.runtime import jit

    original = jit.create_function_from_signature
    if getattr(original, "__module__", "") == __name__:
        return

    @functools.wraps(original)
    def create_function_from_signature(*args: "Any", **named: "Any") -> "Any":
        return _with_numpy(original(*args, **named))

    create_function_from_signature.__module__ = __name__
    setattr(jit, "create_function_from_signature", create_function_from_signature)


def _with_numpy(binder: "Any") -> "Any":
    """What binds the arguments of a kernel, also for NumPy arrays."""

    def bind(*args: "Any", **named: "Any") -> "Any":
        try:
            return binder(*args, **named)
        except TypeError:
            numpy: "Any" = sys.modules.get("numpy")
            if numpy is None or not any(isinstance(value, numpy.ndarray) for value in (*args, *named.values())):
                raise
        made: "Dict[int, HostArray]" = {}

        def wrap(value: "Any") -> "Any":
            if not isinstance(value, numpy.ndarray):
                return value
            if id(value) not in made:
                made[id(value)] = HostArray(value)
            return made[id(value)]

        bound = binder(*map(wrap, args), **{name: wrap(value) for name, value in named.items()})
        state = installed()
        if state is not None and state.is_gpu:
            _tilevm.triton_after_launch(lambda: _copy_back(made.values()))
        return bound

    return bind


def _extent_of(array: "Any") -> "Tuple[int, int]":
    """First address and bytes of the memory that a NumPy array is a view of."""
    root = array
    while isinstance(root.base, type(array)):
        root = root.base
    low = high = root.__array_interface__["data"][0]
    if root.size == 0:
        return low, 0
    for size, stride in zip(root.shape, root.strides):
        if stride < 0:
            low += (size - 1) * stride
        else:
            high += (size - 1) * stride
    return low, high + root.itemsize - low


def _checked() -> bool:
    state = installed()
    return state is None or state.check != "none"


def _bytes_of(object: "Any") -> "Optional[int]":
    """How much memory it says that it has."""
    size = getattr(object, "nbytes", None)
    size = size() if callable(size) else size
    if size is None and hasattr(object, "numel") and hasattr(object, "element_size"):
        size = object.numel() * object.element_size()
    return size if isinstance(size, int) else None


def memory_of(object: "Any", name: str) -> "Tuple[int, int, int, int]":
    """(address, begin, bytes, part) of a pointer argument; `part` is 0 if it is all of that memory, else a number that follows from its
    sizes and strides. Errors: TypeError; ArgumentError if nobody knows what lies there."""
    if isinstance(object, HostArray):
        return _part_of(object, object.data_ptr(), *_extent_of(object.array))
    if isinstance(object, int):
        address, fix = object, "pass the tensor"
    elif hasattr(object, "data_ptr"):
        address, fix = object.data_ptr(), "give its type a property `nbytes`"
        base: "Any" = getattr(object, "base", None)  # of triton.reinterpret
        if hasattr(base, "untyped_storage"):
            storage = base.untyped_storage()
            return _part_of(object, address, storage.data_ptr(), storage.nbytes())
        if isinstance(base, HostArray):
            return _part_of(object, address, *_extent_of(base.array))
        size = _bytes_of(object)
        if size is not None:
            return address, address, size, 0
    else:
        raise TypeError(f"argument `{name}`: a pointer takes a tensor, an array or an address, not {object!r}")
    found = tensor_at(address)
    if found is not None:
        return (address, *found, 0)
    if _checked() and address != 0:
        raise argument_error(f"argument `{name}` points to 0x{address:x}, and nobody says how much memory lies there",
                             f"{fix}, or launch with TILEVM_CHECK=none")
    return address, address, 1, 0


def _part_of(object: "Any", address: int, begin: int, bytes: int) -> "Tuple[int, int, int, int]":
    array = array_of(object)
    if array is None:
        return address, begin, bytes, 0
    count = 1
    for size in array[1]:
        count *= size
    if address == begin and count * BY_NUMBER[array[0]].bits == bytes * 8:
        return address, begin, bytes, 0
    return address, begin, bytes, hash(array) & 0xFFFFFFFFFFFFFFFF | 1


def array_of(object: "Any") -> "Optional[Tuple[int, Tuple[int, ...], Tuple[int, ...]]]":
    """Number of the element type, sizes and strides in elements of a pointer argument; None if that is not known."""
    array = object
    if not hasattr(array, "untyped_storage") and not isinstance(array, HostArray):
        array = getattr(array, "base", None)  # of triton.reinterpret: in the elements of what it is made of
    array = getattr(array, "array", array)
    dtype = str(getattr(array, "dtype", "")).rsplit(".", 1)[-1]
    element = BY_DTYPE.get(dtype)
    if element is None:
        return None
    if hasattr(array, "untyped_storage"):
        return element.number, tuple(array.shape), tuple(array.stride())
    if any(stride % array.itemsize for stride in array.strides):
        return None
    return element.number, tuple(array.shape), tuple(stride // array.itemsize for stride in array.strides)


def shape_of(object: "Any", name: str, address: int, begin: int, bytes: int, bits: int) -> "Tuple[str, Tuple[int, ...]]":
    """What messages call this memory, and of what shape it is: the argument's own, if it is all of it."""
    array = getattr(object, "array", object)
    all_of_it = bytes * 8 // max(bits, 1)
    if hasattr(array, "untyped_storage") and hasattr(array, "is_contiguous"):
        if array.is_contiguous() and array.numel() == all_of_it and address == begin:
            return name, tuple(array.shape)
        return f"{name}.untyped_storage()", (all_of_it,)
    shape = getattr(array, "shape", None)
    if shape is not None and address == begin and getattr(array, "nbytes", None) == bytes and getattr(array, "size", 0) == all_of_it:
        return name, tuple(int(size) for size in shape)
    return name, (all_of_it,)


def live_tensors() -> "List[Tuple[str, int, int, Tuple[int, ...]]]":
    """Of a kernel that makes pointers of numbers: they may lead into any tensor that lives."""
    found: "Dict[int, Tuple[str, int, int, Tuple[int, ...]]]" = {}
    for tensor in tensors():
        storage = tensor.untyped_storage()
        begin, bytes = storage.data_ptr(), storage.nbytes()
        if begin == 0 or begin in found:
            continue
        kind = str(tensor.dtype).rsplit(".", 1)[-1]
        element = BY_DTYPE.get(kind, BY_NAME["i8"])
        found[begin] = f"a tensor of {kind}{list(tensor.shape)}", begin, element.number, (bytes * 8 // element.bits,)
    return list(found.values())
