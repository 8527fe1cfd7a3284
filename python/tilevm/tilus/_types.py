"""Element types and shapes of Tilus in words of the text form.

    element(float16)              "f16"; the sign of integers is in the operations
    tile((6, 32), float16)        "tile<8x32xf16>": sizes are padded to powers of two
    pointer_type(~float16)        "tile<ptr<f16>>"
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence, Tuple

_ELEMENTS = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "tfloat32": "tf32", "bool": "i1",
    "float8_e4m3": "f8E4M3FN", "float8_e5m2": "f8E5M2",
    "int8": "i8", "uint8": "i8", "int16": "i16", "uint16": "i16", "int32": "i32", "uint32": "i32", "int64": "i64", "uint64": "i64",
}


class NoElement(Exception):
    """A type that tiles cannot have; the text says which."""


def element(dtype: "Any") -> str:
    """Of a number. Those of less than eight bits are held as their bits, in bytes. Errors: NoElement."""
    if is_pointer(dtype):
        return f"ptr<{pointee(dtype)}>"
    found = _ELEMENTS.get(dtype.name)
    if found is None:
        if is_small(dtype):
            return "i8"
        raise NoElement(f"elements of type {dtype.name}")
    return found


def is_small(dtype: "Any") -> bool:
    """Of less than eight bits: packed in memory, a byte each in tiles."""
    return not is_pointer(dtype) and dtype.name not in _ELEMENTS and hasattr(dtype, "nbits") and dtype.nbits < 8


def is_pointer(dtype: "Any") -> bool:
    return hasattr(dtype, "base_type") or type(dtype).__name__ == "TensorPointerType"


def pointee(dtype: "Any") -> str:
    """The element that a pointer leads to; bytes for `void` and types of less than eight bits."""
    base = dtype.base_type if hasattr(dtype, "base_type") else dtype.tensor_type.dtype
    if type(base).__name__ == "VoidType" or is_small(base):
        return "i8"
    return "i64" if is_pointer(base) else element(base)


def is_float(dtype: "Any") -> bool:
    return not is_pointer(dtype) and bool(dtype.is_float())


def is_bool(dtype: "Any") -> bool:
    return not is_pointer(dtype) and dtype.name == "bool"


def sign(dtype: "Any") -> str:
    """How an operation reads an integer."""
    return "signed" if not is_bool(dtype) and dtype.name.startswith("i") else "unsigned"


def padded(shape: "Sequence[int]") -> "Tuple[int, ...]":
    """Each size as the next power of two."""
    return tuple(1 << (int(size) - 1).bit_length() for size in shape)


def tile(shape: "Sequence[int]", dtype: "Any") -> str:
    return f"tile<{''.join(f'{size}x' for size in padded(shape))}{element(dtype)}>"
