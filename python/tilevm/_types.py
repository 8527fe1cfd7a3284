"""Element types: how tilevm, NumPy, torch and DLPack call them.

Integers are signless: i32 takes int32 and uint32. bf16 and 8-bit floats of NumPy are those of the package ml_dtypes. Two elements of
4 bits share a byte, the first in its low half: their arrays are of bytes, with half as many in the innermost dimension.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional


class Element:
    """An element type: `name` ("f32"), `number` in the C interface, `bits` in memory."""

    __slots__ = ("name", "number", "bits", "numpy", "torch")

    def __init__(self, name: str, number: int, bits: int, numpy: str = "", torch: str = "") -> None:
        self.name = name
        self.number = number
        self.bits = bits
        self.numpy = numpy  # of numpy or ml_dtypes
        self.torch = torch

    def __repr__(self) -> str:
        return self.name

    @property
    def is_float(self) -> bool:
        return self.name[0] in "fbt"


ELEMENTS = (
    Element("i1", 0, 8, "bool", "bool"),
    Element("i8", 1, 8, "int8", "int8"),
    Element("i16", 2, 16, "int16", "int16"),
    Element("i32", 3, 32, "int32", "int32"),
    Element("i64", 4, 64, "int64", "int64"),
    Element("f16", 5, 16, "float16", "float16"),
    Element("bf16", 6, 16, "bfloat16", "bfloat16"),
    Element("f32", 7, 32, "float32", "float32"),
    Element("tf32", 8, 32, "float32", "float32"),
    Element("f64", 9, 64, "float64", "float64"),
    Element("f8E4M3FN", 10, 8, "float8_e4m3fn", "float8_e4m3fn"),
    Element("f8E5M2", 11, 8, "float8_e5m2", "float8_e5m2"),
    Element("ptr", 12, 64, "int64", "int64"),
    Element("f8E8M0FNU", 18, 8, "float8_e8m0fnu", "float8_e8m0fnu"),
    Element("f4E2M1FN", 19, 4, "uint8", "float4_e2m1fn_x2"),
    Element("i4", 22, 4),
    Element("f8E5M3FNU", 130, 8),
)
BY_NAME = {e.name: e for e in ELEMENTS}
BY_NUMBER = {e.number: e for e in ELEMENTS}

# What dtypes of NumPy, ml_dtypes and torch are called, to elements.
BY_DTYPE = {e.numpy: e for e in ELEMENTS if e.numpy and e.bits >= 8 and e.name not in ("tf32", "ptr")}
BY_DTYPE["float4_e2m1fn_x2"] = Element("pairs of f4E2M1FN", BY_NAME["i8"].number, 8)
BY_DTYPE.update({f"u{name}": BY_NAME[e] for name, e in (("int8", "i8"), ("int16", "i16"), ("int32", "i32"), ("int64", "i64"))})

# Kind and bytes of NumPy's array interface.
BY_KIND = {("b", 1): BY_NAME["i1"], ("f", 2): BY_NAME["f16"], ("f", 4): BY_NAME["f32"], ("f", 8): BY_NAME["f64"]}
for _bytes, _name in ((1, "i8"), (2, "i16"), (4, "i32"), (8, "i64")):
    BY_KIND["i", _bytes] = BY_KIND["u", _bytes] = BY_NAME[_name]

# Code and bits of DLPack.
BY_DLPACK = {(2, 16): BY_NAME["f16"], (2, 32): BY_NAME["f32"], (2, 64): BY_NAME["f64"], (4, 16): BY_NAME["bf16"],
             (6, 8): BY_NAME["i1"], (10, 8): BY_NAME["f8E4M3FN"], (12, 8): BY_NAME["f8E5M2"], (14, 8): BY_NAME["f8E8M0FNU"]}
for _bits in (8, 16, 32, 64):
    BY_DLPACK[0, _bits] = BY_DLPACK[1, _bits] = BY_NAME[f"i{_bits}"]


def fits(given: Element, wanted: Element) -> bool:
    """Whether an array of `given` is one of `wanted`: also types of the same bits that no Python library has a name for."""
    if given is wanted:
        return True
    pairs = {"tf32": ("f32",), "ptr": ("i64",), "f8E5M3FNU": ("i8",), "f8E8M0FNU": ("i8",), "f4E2M1FN": ("i8", "pairs of f4E2M1FN")}
    return given.name in pairs.get(wanted.name, ())


def numpy_dtype(element: Element) -> Any:
    """The dtype for arrays of this element. Errors: ArgumentError if there is none, or ml_dtypes is not installed."""
    from ._errors import argument_error

    if not element.numpy:
        raise argument_error(f"NumPy has no type for {element.name}", "pass an array of int8 that holds its bits")
    import numpy

    dtype: "Optional[Any]" = getattr(numpy, element.numpy + "_" if element.numpy == "bool" else element.numpy, None)
    if dtype is not None:
        return numpy.dtype(dtype)
    try:
        import importlib

        ml_dtypes = importlib.import_module("ml_dtypes")
    except ImportError:
        raise argument_error(f"NumPy alone has no type for {element.name}",
                             "pip install ml_dtypes, or pass the output, or use torch tensors") from None
    return numpy.dtype(getattr(ml_dtypes, element.numpy))
