"""Element types of tiles, and what arithmetic on two of them gives.

A type is called as in NumPy (`script.uint32`) and, in signatures and messages, short ("u32"). The format's integers have no sign;
here they have, and it chooses the operation: `<` of u32 compares unsigned.

Promotion, of two tiles (a Python number takes the type of the tile it meets, see `of_number`):

* equal types: that type; bool and another type: the other
* integers of one sign: the wider. u8 and i32: i32, which holds every u8. Where the signed one does not hold the other (u32 and
  i32): an error, because either answer would surprise somebody
* an integer and a float: the float; two floats: the wider, and f32 for f16 with bf16
* tf32 and 8-bit floats have no arithmetic: an error, `astype` says what is meant
"""
from __future__ import annotations

import math

from ._errors import script_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator, Optional, Union

    from ._tile import Tile

    Number = Union[bool, int, float]


class DType:
    """An element type. `name` ("u32"), `element` of the format ("i32"), `kind` ("bool", "int", "uint", "float", "small": a float
    without arithmetic), `bits`. Called with a number it gives a scalar tile: `script.float32(0.5)`."""

    __slots__ = ("name", "element", "kind", "bits", "digits", "numpy")

    def __init__(self, name: str, element: str, kind: str, bits: int, numpy: str, digits: int = 0) -> None:
        self.name = name
        self.element = element
        self.kind = kind
        self.bits = bits
        self.numpy = numpy
        self.digits = digits  # of floats: bits of the significand

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> "Any":
        return dtype, (self.name,)

    def __call__(self, value: "Union[Number, Tile]") -> "Tile":
        from ._tile import as_tile

        return as_tile(value).astype(self) if not isinstance(value, (bool, int, float)) else as_tile(value, self)

    @property
    def is_integer(self) -> bool:
        """Of integers with and without sign."""
        return self.kind in ("int", "uint")

    @property
    def is_float(self) -> bool:
        """Of floats with arithmetic: f16, bf16, f32, f64."""
        return self.kind == "float"

    @property
    def signedness(self) -> str:
        """The format's word: bool counts as unsigned."""
        return "signed" if self.kind == "int" else "unsigned"


ALL = (
    DType("bool", "i1", "bool", 1, "bool"),
    DType("i8", "i8", "int", 8, "int8"), DType("i16", "i16", "int", 16, "int16"),
    DType("i32", "i32", "int", 32, "int32"), DType("i64", "i64", "int", 64, "int64"),
    DType("u8", "i8", "uint", 8, "uint8"), DType("u16", "i16", "uint", 16, "uint16"),
    DType("u32", "i32", "uint", 32, "uint32"), DType("u64", "i64", "uint", 64, "uint64"),
    DType("f16", "f16", "float", 16, "float16", 11), DType("bf16", "bf16", "float", 16, "bfloat16", 8),
    DType("f32", "f32", "float", 32, "float32", 24), DType("f64", "f64", "float", 64, "float64", 53),
    DType("tf32", "tf32", "small", 32, "tfloat32", 11),
    DType("f8E4M3FN", "f8E4M3FN", "small", 8, "float8_e4m3fn", 4), DType("f8E5M2", "f8E5M2", "small", 8, "float8_e5m2", 3),
)
BY_NAME = {d.name: d for d in ALL}
BY_NAME.update((d.numpy, d) for d in ALL)
BY_NAME["i1"] = BY_NAME["bool"]
BOOL, I32, I64, U32, U64, F16, F32, F64 = (BY_NAME[n] for n in ("bool", "i32", "i64", "u32", "u64", "f16", "f32", "f64"))


class PointerType:
    """The type of pointer tiles: `pointee`, and `const` if nothing may be stored there (arrays that are inputs)."""

    __slots__ = ("pointee", "const")
    kind = "pointer"
    is_integer = is_float = False

    def __init__(self, pointee: DType, const: bool) -> None:
        self.pointee = pointee
        self.const = const

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PointerType) and (other.pointee, other.const) == (self.pointee, self.const)

    def __hash__(self) -> int:
        return hash((self.pointee, self.const))

    def __repr__(self) -> str:
        return f"pointer to {'const ' if self.const else ''}{self.pointee}"

    @property
    def name(self) -> str:
        return repr(self)

    @property
    def element(self) -> str:
        return f"ptr<{self.pointee.element}>"


def _names(value: "Any") -> "Iterator[str]":
    if isinstance(value, str):
        yield value
    for attribute in ("name", "__name__"):
        found = getattr(value, attribute, None)
        if isinstance(found, str):
            yield found
    yield str(value).rpartition(".")[2]  # torch.float32


def dtype(value: "Any") -> DType:
    """The type that a caller named: a DType, its name, or a dtype of NumPy or torch. Errors: script.dtype."""
    if isinstance(value, DType):
        return value
    for name in _names(value):
        if name.rstrip("_") in BY_NAME:
            return BY_NAME[name.rstrip("_")]
    raise script_error("script.dtype", f"{value!r} is no element type", f"use one of {', '.join(d.name for d in ALL)}")


def holds(into: DType, what: DType) -> bool:
    """Whether a conversion loses nothing, whatever the value: then it happens by itself where a value is stored."""
    if into is what or what.kind == "bool":
        return True
    if into.is_integer and what.is_integer:
        return into.bits > what.bits and not (into.kind == "uint" and what.kind == "int")
    if into.is_float and what.kind in ("float", "small"):
        return into.digits >= what.digits and into.bits > what.bits
    return False


def promote(a: DType, b: DType, what: str) -> DType:
    """The type of arithmetic on tiles of two types. Errors: script.dtype."""
    if a is b:
        return a
    if "small" in (a.kind, b.kind):
        raise script_error("script.dtype", f"{what} of {a} and {b}", "convert with astype: these types meet in no other")
    if a.kind == "bool" or b.kind == "bool":
        return b if a.kind == "bool" else a
    if a.is_float or b.is_float:
        if a.is_float != b.is_float:
            return a if a.is_float else b
        return F32 if a.bits == b.bits else max(a, b, key=lambda d: d.bits)
    if a.kind == b.kind:
        return max(a, b, key=lambda d: d.bits)
    signed, unsigned = (a, b) if a.kind == "int" else (b, a)
    if signed.bits <= unsigned.bits:
        raise script_error("script.dtype", f"{what} of {a} and {b}: no integer type of {unsigned.bits} bits holds both",
                           f"say which is meant: .astype(script.{signed.numpy}) or .astype(script.{unsigned.numpy})")
    return signed


def of_number(value: "Number", beside: "Optional[DType]", what: str) -> DType:
    """The type that a Python number takes: that of the tile beside it, f32 for a float beside an integer, i32 for an integer beside a
    bool; alone: bool, i32 (i64 if it does not fit) or f32. Errors: script.number if it does not fit."""
    if isinstance(value, bool):
        return beside or BOOL
    if isinstance(value, int):
        if beside is None or beside.kind == "bool":
            return I32 if -(1 << 31) <= value < 1 << 31 else I64
        if beside.is_integer:
            check_number(value, beside, what)
        return beside
    return beside if beside is not None and beside.kind in ("float", "small") else F32


def check_number(value: "Number", into: DType, what: str) -> None:
    """Errors: script.number if a number is none of the type's: a fraction for an integer, or too large."""
    if into.kind == "bool" or into.is_integer:
        if isinstance(value, float) and not (math.isfinite(value) and value == int(value)):
            raise script_error("script.number", f"{what}: {value} is no {into}", "use an integer, or a float type")
        least = -(1 << (into.bits - 1)) if into.kind == "int" else 0
        most = (1 << (into.bits - 1)) - 1 if into.kind == "int" else (1 << into.bits) - 1
        if not least <= value <= most:
            raise script_error("script.number", f"{what}: {value} does not fit {into} ({least} to {most})", "use a wider type")


def number_text(value: "Number", into: DType) -> str:
    """As the text form writes a constant of the type."""
    if into.kind == "bool":
        return "true" if value else "false"
    if into.is_integer:
        return str(int(value))
    number = float(value)
    if math.isnan(number):
        return "nan"
    return ("inf" if number > 0 else "-inf") if math.isinf(number) else repr(number)
