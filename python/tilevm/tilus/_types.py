"""Element types and shapes of Tilus in words of the text form.

    element(float16)              "f16"; operations carry the sign of integers, types do not
    tile((6, 32), float16)        "tile<8x32xf16>": sizes are padded to powers of two
    dtypes.int64                  Tilus' own type of that name
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
_COMPUTED = ("f16", "bf16", "f32", "f64")


class _Dtypes:
    """Tilus' element types by name. They are looked up on use, because Tilus may be imported after this package."""

    def __getattr__(self, name: str) -> "Any":
        from tilus.hidet.ir import dtypes

        return getattr(dtypes, name)


dtypes = _Dtypes()


def pointer_to(dtype: "Any") -> "Any":
    """Tilus' type of a pointer to elements of a type."""
    from tilus.hidet.ir.type import PointerType

    return PointerType(dtype)


class NoElement(Exception):
    """A type that tiles cannot have; the text says which."""


def element(dtype: "Any") -> str:
    """The element of tiles that hold numbers of a type. Types of less than eight bits are held as their bits, in bytes.

    Errors: NoElement."""
    if is_pointer(dtype):
        return f"ptr<{pointee(dtype)}>"
    found = _ELEMENTS.get(dtype.name)
    if found is None:
        if is_small(dtype):
            return "i8"
        raise NoElement(f"elements of type {dtype.name}")
    return found


def is_small(dtype: "Any") -> bool:
    """Whether a type has less than eight bits: such elements are packed in memory, and take a byte each in tiles."""
    return not is_pointer(dtype) and hasattr(dtype, "nbits") and dtype.name not in _ELEMENTS and dtype.nbits < 8


def has_float_arithmetic(dtype: "Any") -> bool:
    """Whether the operations of the text form compute in this type of floats."""
    return element(dtype) in _COMPUTED


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
    """How an operation reads an integer of this type: "signed" or "unsigned"."""
    return "signed" if not is_bool(dtype) and dtype.name.startswith("i") else "unsigned"


def padded(shape: "Sequence[int]") -> "Tuple[int, ...]":
    """Each size as the next power of two."""
    return tuple(1 << (int(size) - 1).bit_length() for size in shape)


def is_padded(shape: "Sequence[int]") -> bool:
    """Whether tiles of this shape have elements that the tensor does not have."""
    return padded(shape) != tuple(shape)


def tile(shape: "Sequence[int]", dtype: "Any") -> str:
    return f"tile<{''.join(f'{size}x' for size in padded(shape))}{element(dtype)}>"
