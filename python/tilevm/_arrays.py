"""Arrays of any library, as the C interface wants them.

    view = view_of(numpy.zeros((4, 8), "float32"))
    view.address, view.element.name, view.shape, view.strides, view.device     # …, "f32", (4, 8), None, "cpu"

Taken without importing their library: NumPy's array interface, torch's methods, `__cuda_array_interface__`, `__dlpack__`.
"""
from __future__ import annotations

from . import _tilevm
from ._errors import ArgumentError, argument_error
from ._types import BY_DLPACK, BY_DTYPE, BY_KIND, BY_NAME, Element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional, Tuple

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13  # DLPack's device types


class View:
    """Memory of an array: address, element, shape, strides in elements (None: row-major), device ("cpu", "cuda:0"), whether it is
    read-only, the library it is of ("numpy", "torch", "dlpack"), and what keeps it alive."""

    __slots__ = ("address", "element", "shape", "strides", "device", "read_only", "library", "owner")

    def __init__(self, address: int, element: Element, shape: "Tuple[int, ...]", strides: "Optional[Tuple[int, ...]]",
                 device: str, read_only: bool, library: str, owner: object) -> None:
        self.address = address
        self.element = element
        self.shape = shape
        self.strides = strides
        self.device = device
        self.read_only = read_only
        self.library = library
        self.owner = owner

    @property
    def contiguous(self) -> bool:
        if self.strides is None or 0 in self.shape:
            return True
        step = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides)):
            if size != 1 and stride != step:
                return False
            step *= size
        return True

    @property
    def bytes(self) -> int:
        """From the first to behind the last element."""
        if 0 in self.shape:
            return 0
        last = 0
        for size, stride in zip(self.shape, self.strides or row_major(self.shape)):
            last += (size - 1) * stride
        return ((last + 1) * self.element.bits + 7) // 8


def row_major(shape: "Tuple[int, ...]") -> "Tuple[int, ...]":
    """Strides in elements of an array without gaps."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def is_array(value: object) -> bool:
    """Whether view_of takes it."""
    return hasattr(value, "__array_struct__") or hasattr(value, "data_ptr") or hasattr(value, "__dlpack__") or hasattr(
        value, "__cuda_array_interface__")


def _dtype_element(dtype: Any) -> Element:
    name = getattr(dtype, "name", None) or str(dtype).rsplit(".", 1)[-1]
    element = BY_DTYPE.get(name)
    if element is None and name == "void16":  # what numpy.load makes of the bits of a bf16
        raise argument_error("an array of |V2: NumPy alone has no bf16, and reads it as bytes",
                             "import ml_dtypes; x.view(ml_dtypes.bfloat16)")
    if element is None:
        raise argument_error(f"an array of {name}: tilevm has no such elements",
                             "pack two of them into a byte (uint8), the first in its low half" if name in _FOUR_BITS else
                             "pass real and imaginary parts as two arrays" if "complex" in name else "convert it, as in x.astype('float32')")
    return element


_FOUR_BITS = ("float4_e2m1fn", "int4", "uint4")  # of ml_dtypes: a byte each

_torch_elements: "dict[Any, Element]" = {}
_torch_cuda = "cuda"


def tell_where_torch_cuda_is(place: str) -> None:
    """"cpu", after install() has made torch's "cuda" this machine's memory: tensors go on saying that they are on "cuda"."""
    global _torch_cuda
    _torch_cuda = place


def torch_place(device: "Any") -> str:
    """"cpu" or "cuda:N", where the memory of tensors of a torch.device is; another device's name as it is."""
    if device.type == "cuda":
        return f"cuda:{device.index or 0}" if _torch_cuda == "cuda" else _torch_cuda
    return "cpu" if device.type == "cpu" else str(device)


def _no_memory(what: str) -> "ArgumentError":
    return argument_error(f"a tensor without memory of its own: {what}",
                          "pass a dense tensor; inside of torch.compile and torch.func call the kernel as an operator (tilevm.torch.op)")


def _view_torch(tensor: Any) -> View:
    element = _torch_elements.get(tensor.dtype)
    if element is None:
        element = _torch_elements[tensor.dtype] = _dtype_element(tensor.dtype)
    if getattr(tensor, "is_neg", bool)():
        raise argument_error("a tensor that stands for the negative of its memory (the imaginary part of a conjugate)",
                             "make one of its own (tensor.resolve_neg())")
    device = tensor.device
    where = torch_place(device)
    shape = tuple(tensor.shape)
    try:
        address, strides = tensor.data_ptr(), tensor.stride()
    except RuntimeError as error:  # sparse, or of torch.func
        raise _no_memory(str(error).splitlines()[0]) from None
    if address == 0 and 0 not in shape:
        raise _no_memory(f"{type(tensor).__name__} on {device}")
    return View(address, element, shape, strides, where, False, "torch", tensor)


def _elements_of_bytes(strides: "Tuple[int, ...]", shape: "Tuple[int, ...]", size: int) -> "Tuple[int, ...]":
    for stride, n in zip(strides, shape):
        if n > 1 and stride % size:
            raise argument_error(f"an array with a stride of {stride} bytes, no multiple of its elements' {size}",
                                 "copy it (numpy.ascontiguousarray)")
    return tuple(stride // size for stride in strides)


def _is_number(value: Any) -> bool:
    """Whether it is a number of NumPy's, such as numpy.float32(2)."""
    return any(base.__name__ == "generic" and base.__module__ == "numpy" for base in type(value).__mro__)


def _view_numpy(array: Any) -> View:
    dtype = getattr(array, "dtype", None)
    if not getattr(dtype, "isnative", True):
        raise argument_error(f"an array of {dtype}, of the other byte order", "convert it (astype(dtype.newbyteorder('=')))")
    if getattr(dtype, "names", None) is not None:
        raise argument_error(f"an array of records {dtype}: tilevm has no such elements", "pass one field, copied (numpy.ascontiguousarray)")
    if hasattr(array, "filled") and getattr(array, "mask", False) is not False and array.mask.any():
        raise argument_error("a masked array: kernels read what the mask hides, too", "pass array.filled(value), or array.data")
    try:
        capsule = array.__array_struct__
        address, kind, size, shape, strides, read_only = _tilevm.describe_array(capsule)
    except ValueError as error:
        raise argument_error(f"an array whose __array_struct__ cannot be read: {error}") from None
    element = BY_KIND.get((kind, size)) or _dtype_element(f"kind {kind!r} of {size} bytes" if dtype is None else dtype)
    if element.bits != 8 * size:
        raise argument_error(f"an array of {dtype}: tilevm has no such elements")
    # A number of NumPy's makes an array for this, which lives as long as the capsule. Capsules are not collected with their arrays.
    owner = (array, capsule) if _is_number(array) else array
    return View(address, element, shape, _elements_of_bytes(strides, shape, size), "cpu", read_only, "numpy", owner)


def _view_cuda(array: Any) -> View:
    interface = array.__cuda_array_interface__
    typestr = interface["typestr"]
    size = int(typestr[2:])
    element = BY_KIND.get((typestr[1], size)) or _dtype_element(array.dtype)
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    address, read_only = interface["data"]
    return View(address, element, shape, None if strides is None else _elements_of_bytes(tuple(strides), shape, size),
                "cuda", read_only, "cuda", array)


def _view_dlpack(array: Any) -> View:
    try:
        capsule = array.__dlpack__(max_version=(1, 0))
    except TypeError:  # of before 1.0
        capsule = array.__dlpack__()
    try:
        address, code, bits, shape, strides, device, index, read_only = _tilevm.describe_dlpack(capsule)
    except ValueError as error:
        raise argument_error(f"an array whose DLPack capsule cannot be read: {error}") from None
    element = BY_DLPACK.get((code, bits))
    if element is None:
        raise argument_error(f"an array of DLPack's type {code} with {bits} bits: tilevm has no such elements")
    if device in (_CPU, _CUDA_HOST):
        where = "cpu"
    elif device in (_CUDA, _CUDA_MANAGED):
        where = f"cuda:{index}"
    else:
        raise argument_error(f"an array on DLPack's device {device}: tilevm has no such device", "copy it to the CPU")
    return View(address, element, shape, strides, where, read_only, "dlpack", (array, capsule))


def view_of(value: Any) -> View:
    """The memory of an array of any library. Errors: ArgumentError if it is none, or of elements that tilevm lacks."""
    if hasattr(value, "data_ptr") and hasattr(value, "stride"):
        return _view_torch(value)
    if hasattr(value, "__array_struct__"):
        return _view_numpy(value)
    if hasattr(value, "__cuda_array_interface__"):
        return _view_cuda(value)
    if hasattr(value, "__dlpack__"):
        return _view_dlpack(value)
    raise argument_error(f"{type(value).__name__} is no array", "pass a NumPy array, a torch tensor or what has __dlpack__")


def unpacked(view: View, name: str) -> View:
    """Bytes that hold pairs of f4E2M1FN, as an array of these. `name` is for messages."""
    if not view.shape or (view.strides is not None and view.shape[-1] > 1 and view.strides[-1] != 1):
        raise argument_error(f"argument `{name}` holds pairs of f4E2M1FN, whose bytes must lie side by side in the innermost dimension",
                             "copy it (numpy.ascontiguousarray)" if view.shape else "pass an array of rank 1 at least")
    strides = None if view.strides is None else (*(2 * s for s in view.strides[:-1]), 1)
    return View(view.address, BY_NAME["f4E2M1FN"], (*view.shape[:-1], 2 * view.shape[-1]), strides, view.device, view.read_only,
                view.library, view.owner)


def new_array(element: Element, shape: "Tuple[int, ...]", like: "Optional[Any]", library: str) -> Any:
    """An array of this many elements, of the host zeros: a torch tensor where `library` is "torch" (on the device of `like`), else of NumPy."""
    if element.bits == 4:
        if not shape or shape[-1] % 2:
            raise argument_error(f"no array holds {element.name}[{', '.join(map(str, shape))}]: two elements share a byte",
                                 "let the launch rule give an even innermost dimension")
        shape = (*shape[:-1], shape[-1] // 2)
    if library == "torch":
        import sys

        torch = sys.modules["torch"]
        if not element.torch or not hasattr(torch, element.torch):
            raise argument_error(f"torch has no type for {element.name}", "pass the output")
        device = like.device  # type: ignore[union-attr]
        make = torch.zeros if device.type == "cpu" else torch.empty  # what a kernel forgets is not what another array held
        return make(shape, dtype=getattr(torch, element.torch), device=device)
    if library == "cuda":
        raise argument_error("outputs beside arrays of this library are not allocated", "pass them with out=")
    import numpy

    from ._types import numpy_dtype

    return numpy.zeros(shape, numpy_dtype(element))
