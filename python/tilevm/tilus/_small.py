"""Types of one to seven bits. A tile has a byte for each element: the value of an integer, the bits of a float.

Memory has such elements packed, and the first one in the lowest bits. Casts of floats give what Tilus' own code gives on a GPU.
"""
from __future__ import annotations

from ._expr import Expressions, compare
from ._refuse import Refusal
from ._types import dtypes, is_float, is_small, pointer_to, sign
from ._writer import Tile, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional, Tuple

    from ._global import Elements
    from ._translate import Translator


def cast(x: Expressions, value: Tile, to: "Any") -> Tile:
    """Converts to or from a small type. Errors: Refusal."""
    if is_small(value.dtype):
        return x.cast(_widened(x, value), to)
    if is_float(to):
        return _as_bytes(x, _bits_of_float(x, x.cast(value, dtypes.float32), to), to)
    return _as_bytes(x, _narrowed(x, x.cast(value, dtypes.int32), to), to)


def _as_bytes(x: Expressions, value: Tile, to: "Any") -> Tile:
    """The lowest byte of each int32, as an element of a small type."""
    made = x.cast(value, dtypes.uint8)
    return Tile(made.name, made.shape, to)


def _narrowed(x: Expressions, value: Tile, to: "Any") -> Tile:
    """The lowest bits of an int32, with the sign that the type gives them."""
    i32 = dtypes.int32
    n = 32 - to.nbits
    up = x.op("shli", value, x.number(n, i32), dtype=i32)
    return x.op("shri", up, x.number(n, i32), dtype=i32, words=f" {sign(to)}")


def _widened(x: Expressions, value: Tile) -> Tile:
    """The same numbers as int32 or float32, exactly."""
    of = value.dtype
    if not is_float(of):
        byte = Tile(value.name, value.shape, dtypes.int8 if sign(of) == "signed" else dtypes.uint8)
        return x.cast(byte, dtypes.int32)
    return _float_of_bits(x, x.cast(Tile(value.name, value.shape, dtypes.uint8), dtypes.int32), of)


def _float_of_bits(x: Expressions, bits: Tile, of: "Any") -> Tile:
    """Exponent and mantissa become those of a float32, which a power of two then scales. So subnormals are right, too."""
    i32, f32 = dtypes.int32, dtypes.float32
    e, m = of.exponent_nbits, of.mantissa_nbits
    rest = x.op("andi", bits, x.number((1 << (e + m)) - 1, i32), dtype=i32)
    negative = compare(x, "not_equal", x.op("andi", bits, x.number(1 << (e + m), i32), dtype=i32), x.number(0, i32))
    raw = x.op("bitcast", x.op("shli", rest, x.number(23 - m, i32), dtype=i32), dtype=f32, typed=True)
    scaled = x.op("mulf", raw, x.number(2.0 ** (127 - (2 ** (e - 1) - 1)), f32), dtype=f32)
    return x.op("select", negative, x.op("negf", scaled, dtype=f32), scaled, dtype=f32)


def _bits_of_float(x: Expressions, value: Tile, to: "Any") -> Tile:
    """The bits of the nearest number of a small type, as int32.

    These are the rules of Tilus' code on a GPU. The mantissa is rounded to even at the type's width, then shortened for a subnormal. Numbers
    that are too large become the largest one. Infinities and NaN become all ones, whatever their sign is."""
    i32 = dtypes.int32
    e, m = to.exponent_nbits, to.mantissa_nbits

    def number(n: int) -> Tile:
        return x.number(n, i32)

    def op(mnemonic: str, a: Tile, b: Tile, words: str = "") -> Tile:
        return x.op(mnemonic, a, b, dtype=i32, words=words)

    def select(condition: Tile, a: Tile, b: Tile) -> Tile:
        return x.op("select", condition, a, b, dtype=i32)

    bits = x.op("bitcast", value, dtype=i32, typed=True)
    sign_bit = op("shli", op("shri", bits, number(31), " unsigned"), number(e + m))
    exponent = op("andi", op("shri", bits, number(23), " unsigned"), number(0xFF))
    mantissa = op("ori", op("andi", bits, number(0x7FFFFF)), number(0x800000))
    last = op("andi", op("shri", mantissa, number(23 - m), " unsigned"), number(1))
    half = number((1 << (22 - m)) - 1)
    rounded = op("shri", op("addi", op("addi", mantissa, half), last), number(23 - m), " unsigned")
    carry = op("shri", rounded, number(m + 1), " unsigned")
    rounded = op("shri", rounded, carry, " unsigned")
    power = op("addi", op("addi", exponent, carry), number((1 << (e - 1)) - 1 - 127))
    normal = op("ori", op("shli", power, number(m)), op("andi", rounded, number((1 << m) - 1)))
    shift = op("maxi", op("mini", op("subi", number(1), power), number(31), " signed"), number(0), " signed")
    subnormal = op("shri", rounded, shift, " unsigned")
    size = select(compare(x, "less_than_or_equal", power, number(0)), subnormal, normal)
    size = select(compare(x, "less_than", power, number(1 << e)), size, number((1 << (e + m)) - 1))
    size = select(compare(x, "equal", exponent, number(0)), number(0), size)
    return select(compare(x, "equal", exponent, number(0xFF)), number((1 << (e + m + 1)) - 1), op("ori", sign_bit, size))


def element_bits(x: Expressions, value: Tile, dtype: "Any") -> Tile:
    """The element whose bits are the lowest ones of each int32, as tiles hold it."""
    if is_float(dtype):
        value = x.op("andi", value, x.number((1 << dtype.nbits) - 1, dtypes.int32), dtype=dtypes.int32)
    else:
        value = _narrowed(x, value, dtype)
    return _as_bytes(x, value, dtype)


def bits_in_int32(x: Expressions, value: Tile) -> Tile:
    """The bits of elements of at most eight bits, without the sign, as int32."""
    byte = x.cast(Tile(value.name, value.shape, dtypes.uint8), dtypes.int32)
    return x.op("andi", byte, x.number((1 << value.dtype.nbits) - 1, dtypes.int32), dtype=dtypes.int32)


# --- packed memory


def load_packed(t: "Translator", w: "Elements", dtype: "Any", token: "Optional[Token]") -> "Tuple[Tile, Token]":
    """Loads elements of a window, each from the one or two bytes that hold it."""
    x, i32, i64 = t.x, dtypes.int32, dtypes.int64
    base = x.cast(w.pointers, pointer_to(dtypes.uint8))
    bit = x.op("muli", w.offsets, x.number(dtype.nbits, i64), dtype=i64)
    low, after = _load_bytes(t, base, _byte_number(x, bit), w.mask, token)
    both = x.cast(low, i32)
    if 8 % dtype.nbits:
        # An element that lies in one byte has its last bit there, too: it is loaded twice, and element_bits() cuts the second copy off.
        last = x.op("addi", bit, x.number(dtype.nbits - 1, i64), dtype=i64)
        high, after = _load_bytes(t, base, _byte_number(x, last), w.mask, after)
        both = x.op("ori", both, x.op("shli", x.cast(high, i32), x.number(8, i32), dtype=i32), dtype=i32)
    shift = x.cast(x.op("andi", bit, x.number(7, i64), dtype=i64), i32)
    return element_bits(x, x.op("shri", both, shift, dtype=i32, words=" unsigned"), dtype), after


def _byte_number(x: Expressions, bit: Tile) -> Tile:
    return x.op("shri", bit, x.number(3, dtypes.int64), dtype=dtypes.int64, words=" signed")


def _load_bytes(t: "Translator", base: Tile, at: Tile, mask: "Optional[Tile]", token: "Optional[Token]") -> "Tuple[Tile, Token]":
    from ._global import Elements, load

    pointers = t.x.op("offset", t.w.broadcast(base, at.shape), at, dtype=base.dtype)
    return load(t, Elements(pointers, mask, at), dtypes.uint8, token)


def store_packed(t: "Translator", w: "Elements", value: Tile, token: Token) -> Token:
    """Stores elements, as many at a time as fill whole bytes. Elements that a mask leaves out keep their bits.

    The elements of such a group are contiguous and begin on a whole byte; an assertion of the kernel says so.
    Errors: Refusal for rows that end inside of a byte."""
    from ._global import Elements, fitted, store

    x, i64, bits = t.x, dtypes.int64, value.dtype.nbits
    group = _fewest_in_bytes(bits)
    shape = w.offsets.shape
    if not shape or shape[-1] % group:
        raise Refusal(f"a store of rows of {shape[-1] if shape else 1} elements of {value.dtype.name}, which end inside of a byte",
                      f"store rows of {group} elements or a multiple of it, or view the registers as uint8 and store these")
    groups = w.offsets.count // group
    lanes = t.w.reshape(x.cast(bits_in_int32(x, fitted(t, value, shape)), i64), (groups, group))
    mask = None if w.mask is None else t.w.reshape(w.mask, (groups, group))
    first = _first_of_groups(t, t.w.reshape(w.offsets, (groups, group)), mask, bits)
    base = x.cast(w.pointers, pointer_to(dtypes.uint8))
    size = group * bits // 8
    at = x.op("addi", _byte_number(x, x.op("muli", first, x.number(bits, i64), dtype=i64)), t.iota(1, (1, size), i64), dtype=i64)
    inside = t.inside(1, (1, size))
    new = _bytes_of_groups(t, lanes, bits, size)
    if mask is not None:
        ones = x.op("select", mask, x.number((1 << bits) - 1, i64), x.number(0, i64), dtype=i64)
        changed = _bytes_of_groups(t, ones, bits, size)
        inside = t.both(inside, compare(x, "not_equal", changed, x.number(0, i64)))
        partly = compare(x, "not_equal", changed, x.number(0xFF, i64))
        old, token = _load_bytes(t, base, at, t.both(inside, partly), token)
        kept = x.op("andi", x.cast(old, i64), x.op("xori", changed, x.number(0xFF, i64), dtype=i64), dtype=i64)
        new = x.op("ori", x.op("andi", new, changed, dtype=i64), kept, dtype=i64)
    pointers = x.op("offset", t.w.broadcast(base, at.shape), at, dtype=base.dtype)
    inside = None if inside is None else t.w.broadcast(inside, at.shape)
    return store(t, Elements(pointers, inside, at), x.cast(new, dtypes.uint8), token)


def _fewest_in_bytes(bits: int) -> int:
    """The smallest number of elements that fill whole bytes: 8 of 3 bits, 4 of 6 bits, 2 of 4 bits."""
    return next(n for n in (1, 2, 4, 8) if n * bits % 8 == 0)


def _first_of_groups(t: "Translator", offsets: Tile, mask: "Optional[Tile]", bits: int) -> Tile:
    """The offset of the first element of each group, after an assertion that the others follow it, and that it begins a byte."""
    x, i64 = t.x, dtypes.int64
    groups, group = offsets.shape
    zero = x.number(0, dtypes.int32)
    first = t.w.op(f"extract {offsets}[{zero}, {zero}]", (groups, 1), i64, typed=True)
    follows = compare(x, "equal", offsets, x.op("addi", first, t.iota(1, (1, group), i64), dtype=i64))
    rest = x.op("andi", x.op("muli", first, x.number(bits, i64), dtype=i64), x.number(7, i64), dtype=i64)
    right = x.op("andi", follows, compare(x, "equal", rest, x.number(0, i64)), dtype=dtypes.boolean)
    if mask is not None:
        right = x.op("ori", right, x.op("xori", mask, x.number(True, mask.dtype), dtype=mask.dtype), dtype=mask.dtype)
    t.w.put(f'assert {right}, "a store of elements of {bits} bits: the rows of the window are not contiguous, or begin inside of a byte"')
    return first


def _bytes_of_groups(t: "Translator", lanes: Tile, bits: int, size: int) -> Tile:
    """[groups, elements] of bits in int64 as [groups, bytes], each byte in an int64; sizes are padded."""
    from ._registers import combine

    x, i64 = t.x, dtypes.int64
    groups, group = lanes.shape
    shifts = x.op("muli", t.iota(1, (1, group), i64), x.number(bits, i64), dtype=i64)
    whole = t.w.reshape(combine(t, "reduce", x.op("shli", lanes, shifts, dtype=i64), 1, "or", (groups,)), (groups, 1))
    places = x.op("muli", t.iota(1, (1, size), i64), x.number(8, i64), dtype=i64)
    return x.op("andi", x.op("shri", whole, places, dtype=i64, words=" unsigned"), x.number(0xFF, i64), dtype=i64)
