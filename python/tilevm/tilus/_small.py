"""Types of one to seven bits. A tile has a byte for each element: the value of an integer, the bits of a float. Memory has them packed, the
first in the lowest bits.
"""
from __future__ import annotations

from ._expr import Expressions, compare
from ._refuse import Refusal
from ._types import element, is_bool, is_float, is_small, sign
from ._writer import Tile, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional, Tuple

    from ._global import Window
    from ._translate import Translator


def _types() -> "Any":
    from tilus.hidet.ir import dtypes

    return dtypes


def bits_of(value: "Any", dtype: "Any") -> int:
    """Of a number: itself, if it is an integer. Errors: Refusal for floats that are not 0."""
    if not is_float(dtype):
        return int(value)
    if float(value) == 0.0:
        return 0
    raise Refusal(f"the number {value} as {dtype.name}", "make a tensor of float16 and cast it")


def cast(x: Expressions, value: Tile, to: "Any") -> Tile:
    """To or from a small type. Errors: Refusal."""
    of = value.dtype
    if is_small(of):
        wide = _widened(x, value)
        return x.cast(wide, to)
    if is_float(to):
        raise Refusal(f"a cast of {of.name} to {to.name}", "cast on the host; kernels can read such types")
    whole = x.cast(value, _types().int32)
    return _as_bytes(x, _narrowed(x, whole, to), to)


def _as_bytes(x: Expressions, value: Tile, to: "Any") -> Tile:
    """The lowest byte of each element, as an element of a small type."""
    made = x.cast(value, _types().uint8)
    return Tile(made.name, made.shape, to)


def _narrowed(x: Expressions, value: Tile, to: "Any") -> Tile:
    """The lowest bits of an int32, with the sign that the type gives them."""
    i32 = _types().int32
    n = 32 - to.nbits
    up = x.op("shli", value, x.number(n, i32), dtype=i32)
    return x.op("shri", up, x.number(n, i32), dtype=i32, words=f" {'signed' if sign(to) == 'signed' else 'unsigned'}")


def _widened(x: Expressions, value: Tile) -> Tile:
    """As int32 or float32, exactly."""
    of, d = value.dtype, _types()
    if not is_float(of):
        byte = Tile(value.name, value.shape, d.int8 if sign(of) == "signed" else d.uint8)
        return x.cast(byte, d.int32)
    return _float_of_bits(x, x.cast(Tile(value.name, value.shape, d.uint8), d.int32), of)


def _float_of_bits(x: Expressions, bits: Tile, of: "Any") -> Tile:
    """Sign, exponent and mantissa become those of a float32 scaled by a power of two, which makes subnormals right, too."""
    d = _types()
    i32, f32 = d.int32, d.float32
    e, m = of.exponent_nbits, of.mantissa_nbits
    rest = x.op("andi", bits, x.number((1 << (e + m)) - 1, i32), dtype=i32)
    negative = compare(x, "not_equal", x.op("andi", bits, x.number(1 << (e + m), i32), dtype=i32), x.number(0, i32))
    raw = x.op("bitcast", x.op("shli", rest, x.number(23 - m, i32), dtype=i32), dtype=f32, typed=True)
    scaled = x.op("mulf", raw, x.number(2.0 ** (127 - (2 ** (e - 1) - 1)), f32), dtype=f32)
    return x.op("select", negative, x.op("negf", scaled, dtype=f32), scaled, dtype=f32)


# --- packed memory


def load_packed(t: "Translator", w: "Window", dtype: "Any", token: "Optional[Token]") -> "Tuple[Tile, Token]":
    """Elements of a window, each from the one or two bytes that hold it."""
    d, x = _types(), t.x
    base = x.cast(w.pointers, _pointer(d.uint8))
    bit, byte = _places(t, w, dtype)
    low, after = _byte(t, base, byte, w.mask, token)
    both = x.cast(low, d.int32)
    if 8 % dtype.nbits:
        last = x.op("addi", bit, x.number(dtype.nbits - 1, d.int64), dtype=d.int64)
        high, after = _byte(t, base, x.op("divi", last, x.number(8, d.int64), dtype=d.int64, words=" signed"), w.mask, after)
        both = x.op("ori", both, x.op("shli", x.cast(high, d.int32), x.number(8, d.int32), dtype=d.int32), dtype=d.int32)
    shift = x.cast(x.op("andi", bit, x.number(7, d.int64), dtype=d.int64), d.int32)
    if 8 % dtype.nbits:
        same = compare(x, "less_than_or_equal", x.op("addi", shift, x.number(dtype.nbits, d.int32), dtype=d.int32), x.number(8, d.int32))
        both = x.op("select", same, x.cast(low, d.int32), both, dtype=d.int32)
    value = x.op("shri", both, shift, dtype=d.int32, words=" unsigned")
    return _as_bytes(x, _element_bits(x, value, dtype), dtype), after


def _element_bits(x: Expressions, value: Tile, dtype: "Any") -> Tile:
    """The element in the lowest bits of an int32, as tiles hold it."""
    if not is_float(dtype):
        return _narrowed(x, value, dtype)
    i32 = _types().int32
    return x.op("andi", value, x.number((1 << dtype.nbits) - 1, i32), dtype=i32)


def _pointer(dtype: "Any") -> "Any":
    from tilus.hidet.ir.type import PointerType

    return PointerType(dtype)


def _places(t: "Translator", w: "Window", dtype: "Any") -> "Tuple[Tile, Tile]":
    """The first bit of each element, and its byte."""
    d = _types()
    bit = t.x.op("muli", w.offsets, t.x.number(dtype.nbits, d.int64), dtype=d.int64)
    return bit, t.x.op("divi", bit, t.x.number(8, d.int64), dtype=d.int64, words=" signed")


def _byte(t: "Translator", base: Tile, at: Tile, mask: "Optional[Tile]", token: "Optional[Token]") -> "Tuple[Tile, Token]":
    from ._global import Window, load

    pointers = t.x.op("offset", t.w.broadcast(base, at.shape), at, dtype=base.dtype)
    return load(t, Window(pointers, mask, at), _types().uint8, token)


def store_packed(t: "Translator", w: "Window", value: Tile, token: Token) -> Token:
    raise Refusal(f"a store of {value.dtype.name} to global memory, whose bytes several elements share",
                  "view the registers as uint8 and store these")


# --- bits of registers


def to_bytes(t: "Translator", x: Tile) -> Tile:
    """All bits of a tile in row-major order, as one row of bytes."""
    d = _types()
    count = x.shape[0] * x.shape[1]
    row = t.w.reshape(x, (count,))
    if not is_small(x.dtype) and not is_bool(x.dtype):
        if element(x.dtype) == "i8":
            return Tile(row.name, row.shape, d.uint8)
        if x.dtype.nbits == 8:
            return t.w.op(f"bitcast {row}", row.shape, d.uint8, typed=True)
        return t.w.op(f"pack {row}", (count * x.dtype.nbits // 8,), d.uint8, typed=True)
    n = x.dtype.nbits
    if 8 % n:
        raise Refusal(f"a view of registers of {x.dtype.name}", "use types of 1, 2, 4 or 8 bits")
    per = 8 // n
    lanes = t.w.reshape(t.x.cast(Tile(row.name, row.shape, d.uint8), d.int32), (count // per, per))
    masked = t.x.op("andi", lanes, t.x.number((1 << n) - 1, d.int32), dtype=d.int32)
    shifts = t.x.op("muli", t.iota(1, (1, per), d.int32), t.x.number(n, d.int32), dtype=d.int32)
    from ._registers import combine

    return t.x.cast(combine(t, "reduce", t.x.op("shli", masked, shifts, dtype=d.int32), 1, "or", (count // per,)), d.uint8)


def from_bytes(t: "Translator", row: Tile, to: "Any", rows: int, columns: int) -> Tile:
    """The other way, as a tile of [rows, columns]."""
    d = _types()
    if not is_small(to):
        if element(to) != "i8" and to.nbits == 8:
            row = t.w.op(f"bitcast {row}", row.shape, to, typed=True)
        elif element(to) != "i8":
            row = t.w.op(f"unpack {row}", (rows * columns,), to, typed=True)
        return t.w.reshape(Tile(row.name, row.shape, to), (rows, columns))
    n = to.nbits
    if 8 % n:
        raise Refusal(f"a view of registers as {to.name}", "use types of 1, 2, 4 or 8 bits")
    per = 8 // n
    wide = t.w.reshape(t.x.cast(row, d.int32), (row.shape[0], 1))
    shifts = t.x.op("muli", t.iota(1, (1, per), d.int32), t.x.number(n, d.int32), dtype=d.int32)
    lanes = t.x.op("shri", wide, shifts, dtype=d.int32, words=" unsigned")
    bytes = t.x.cast(_element_bits(t.x, lanes, to), d.uint8)
    return t.w.reshape(Tile(bytes.name, bytes.shape, to), (rows, columns))
