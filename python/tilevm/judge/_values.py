"""Values on their way between processes: a description in JSON, and the bytes of each memory once.

    said, blobs = pack([x, 3, "mean"])              # two tensors of one memory share a blob
    values = unpack(said, blobs)

Arrays keep their strides and their place in memory, so that a slice stays one and aliases stay aliases.
"""
from __future__ import annotations

import math
import sys


from ._np import numpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Tuple

_PLAIN = (bool, int, str, type(None))


class Unpackable(Exception):
    """A value that the answer cannot be given."""


class Keywords(dict):  # type: ignore[type-arg]
    """Arguments by their names, as the last of the arguments of a call."""


def split(arguments: "Tuple[Any, ...]") -> "Tuple[Tuple[Any, ...], Dict[str, Any]]":
    """Those by position, and those by name."""
    return (arguments[:-1], dict(arguments[-1])) if arguments and isinstance(arguments[-1], Keywords) else (arguments, {})


def is_tensor(value: "Any") -> bool:
    """Of torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value: "Any") -> bool:
    """Of torch or NumPy."""
    return is_tensor(value) or isinstance(value, numpy.ndarray)


def count(array: "Any") -> int:
    """Of elements."""
    return int(array.numel() if is_tensor(array) else array.size)


def pack(value: "Any") -> "Tuple[Any, List[bytes]]":
    """Errors: Unpackable."""
    blobs: "List[bytes]" = []
    places: "Dict[Tuple[int, int], int]" = {}

    def memory(address: int, data: bytes) -> int:
        if (address, len(data)) not in places:
            places[address, len(data)] = len(blobs)
            blobs.append(data)
        return places[address, len(data)]

    def one(item: "Any") -> "Any":
        if isinstance(item, (tuple, list)):
            return {"kind": "list" if isinstance(item, list) else "tuple", "items": [one(each) for each in item]}
        if isinstance(item, dict):
            return {"kind": "dict", "items": [[str(key), one(each)] for key, each in item.items()]}
        if is_tensor(item):
            return _pack_tensor(item, memory)
        if isinstance(item, numpy.ndarray):
            return _pack_numpy(item, memory)
        if isinstance(item, float):
            return {"kind": "float", "value": item.hex() if math.isfinite(item) else repr(item)}
        if isinstance(item, numpy.generic):
            return one(item.item())
        if isinstance(item, _PLAIN):
            return {"kind": "plain", "value": item}
        if type(item).__module__ == "torch" and type(item).__name__ in ("dtype", "device"):
            return {"kind": type(item).__name__, "value": str(item).replace("torch.", "")}
        raise Unpackable(f"a value of type {type(item).__module__}.{type(item).__qualname__}")

    return one(value), blobs


def _pack_tensor(tensor: "Any", memory: "Any") -> "Any":
    torch = sys.modules["torch"]
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout != torch.strided:
        raise Unpackable(f"a tensor of type {type(tensor).__qualname__} and layout {tensor.layout}")
    with torch._C.DisableTorchFunction(), torch.no_grad():
        storage = tensor.untyped_storage()
        view = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage, 0, (storage.nbytes(),), (1,))
        blob = memory(storage.data_ptr(), bytes(view.cpu().numpy()))
        return {"kind": "tensor", "dtype": str(tensor.dtype).replace("torch.", ""), "shape": list(tensor.shape), "strides": list(tensor.stride()),
                "offset": tensor.storage_offset(), "blob": blob}


def _pack_numpy(array: "Any", memory: "Any") -> "Any":
    root = array
    while isinstance(root.base, numpy.ndarray):
        root = root.base
    if not root.flags.c_contiguous or array.dtype.hasobject:
        root = array = numpy.ascontiguousarray(array)
    begin = root.__array_interface__["data"][0]
    return {"kind": "numpy", "dtype": array.dtype.str, "shape": list(array.shape), "strides": list(array.strides),
            "offset": array.__array_interface__["data"][0] - begin, "blob": memory(begin, root.tobytes())}


_ALIGNMENT = 512  # of memory, as torch's allocator gives it on a GPU


def unpack(said: "Any", blobs: "List[bytes]", device: str = "") -> "Any":
    """Tensors are on `device`, by default the CPU. Errors: Unpackable for what fits no memory."""
    kept: "Dict[int, memoryview]" = {}
    moved: "Dict[int, Any]" = {}

    def memory(number: int) -> memoryview:
        if number not in kept:
            whole = numpy.empty(len(blobs[number]) + _ALIGNMENT, numpy.uint8)
            begin = -whole.ctypes.data % _ALIGNMENT
            kept[number] = memoryview(whole)[begin:begin + len(blobs[number])]
            kept[number][:] = blobs[number]
        return kept[number]

    def of_torch(number: int) -> "Any":
        """A tensor of bytes, once for each memory."""
        torch = sys.modules["torch"]
        if number not in moved:
            with torch._C.DisableTorchFunction():  # no memory cannot be wrapped; torch.empty would be of the CPU, where "cuda" is another device
                flat = torch.frombuffer(memory(number) or bytearray(8), dtype=torch.uint8)
            moved[number] = flat.to(device) if device else flat
        return moved[number]

    def one(item: "Any") -> "Any":
        kind = item["kind"]
        if kind in ("list", "tuple"):
            made = [one(each) for each in item["items"]]
            return made if kind == "list" else tuple(made)
        if kind == "dict":
            return {key: one(each) for key, each in item["items"]}
        if kind == "float":
            text = item["value"]
            return float.fromhex(text) if "x" in text else float(text)
        if kind == "plain":
            return item["value"]
        if kind in ("dtype", "device"):
            torch: "Any" = sys.modules["torch"]
            return getattr(torch, item["value"]) if kind == "dtype" else torch.device(device or item["value"])
        if kind == "numpy":
            return numpy.ndarray(tuple(item["shape"]), item["dtype"], memory(item["blob"]), item["offset"], tuple(item["strides"]))
        return _unpack_tensor(item, of_torch(item["blob"]))

    try:
        return one(said)
    except (ValueError, TypeError, KeyError, IndexError, RuntimeError, AttributeError, RecursionError) as error:
        raise Unpackable(str(error)) from None


def _unpack_tensor(item: "Any", flat: "Any") -> "Any":
    import torch

    dtype = getattr(torch, item["dtype"])
    with torch._C.DisableTorchFunction():
        usable = flat[:flat.numel() // dtype.itemsize * dtype.itemsize].view(dtype)
        if not math.prod(item["shape"]):
            return usable[:0].reshape(item["shape"])
        return usable.as_strided(item["shape"], item["strides"], item["offset"])
