"""Elementwise arithmetic, comparisons and conversions: which operation an operator becomes.

`//` and `%` are Python's: the quotient is rounded down, the remainder has the sign of the divisor. `/` of integers gives f32 (f64 for
64 bits). Integers wrap. Shifts by more bits than there are give 0, or all sign bits.
"""
from __future__ import annotations

import sys

from ._dtypes import BOOL, F32, F64, I32, I64, DType, PointerType
from ._tile import Tile, as_tile, broadcast, common_shape, constant, emit, number_of, pair, take_operators, use
from ._trace import current, fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Tuple


def _arithmetic(a: "Any", b: "Any", what: str) -> "Tuple[Tile, Tile, DType]":
    left, right, type = pair(a, b, what)
    if type.kind == "small":
        fail("script.dtype", f"{what} of {type}", f"{type} has no arithmetic: convert with astype(script.float32)")
    if type.kind == "bool":
        return convert(left, I32), convert(right, I32), I32
    return left, right, type


def _either(a: "Any", b: "Any", what: str, integer: str, float_: str, **integer_attributes: "Any") -> "Tile":
    left, right, type = _arithmetic(a, b, what)
    if type.is_float:
        return emit(float_, left, right, rounding="nearest_even") if float_ in ("addf", "subf", "mulf", "divf") else emit(float_, left, right)
    return emit(integer, left, right, **integer_attributes)


def add(a: "Any", b: "Any") -> "Tile":
    """a + b; also of a pointer and integers."""
    for pointer, other in ((a, b), (b, a)):
        if isinstance(pointer, Tile) and isinstance(pointer.dtype, PointerType):
            return offset(pointer, other)
    return _either(a, b, "+", "addi", "addf")


def sub(a: "Any", b: "Any") -> "Tile":
    """a - b; also of a pointer and integers."""
    if isinstance(a, Tile) and isinstance(a.dtype, PointerType):
        by = as_tile(b, None, "-")
        return offset(a, negative(convert(by, I64) if by.dtype.is_integer else by))
    return _either(a, b, "-", "subi", "subf")


def mul(a: "Any", b: "Any") -> "Tile":
    """a * b."""
    return _either(a, b, "*", "muli", "mulf")


def truediv(a: "Any", b: "Any") -> "Tile":
    """a / b in floats."""
    left, right, type = _arithmetic(a, b, "/")
    if not type.is_float:
        into = F64 if type.bits == 64 else F32
        left, right = convert(left, into), convert(right, into)
    return emit("divf", left, right, rounding="nearest_even")


def floordiv(a: "Any", b: "Any") -> "Tile":
    """a // b, rounded down."""
    left, right, type = _arithmetic(a, b, "//")
    if type.is_float:
        return emit("floor", emit("divf", left, right, rounding="nearest_even"))
    if type.kind == "int":
        return emit("divi", left, right, signedness="signed", rounding="negative_inf")
    return emit("divi", left, right, signedness="unsigned")


def mod(a: "Any", b: "Any") -> "Tile":
    """a % b, of the sign of b."""
    left, right, type = _arithmetic(a, b, "%")
    if type.kind == "uint":
        return emit("remi", left, right, signedness="unsigned")
    rest = emit("remf", left, right) if type.is_float else emit("remi", left, right, signedness="signed")
    zero = constant(0, type, rest.shape)
    divisor = number_of(b)
    if divisor is not None and divisor > 0:
        return select(compare("less_than", rest, zero), add(rest, right), rest)
    other = bitwise("xori", compare("less_than", rest, zero), compare("less_than", right, zero))
    return select(bitwise("andi", other, compare("not_equal", rest, zero)), add(rest, right), rest)


def power(a: "Any", b: "Any") -> "Tile":
    """a ** b: by multiplication for Python integers from 0 to 64, else of floats."""
    exponent = number_of(b)
    if isinstance(a, Tile) and isinstance(exponent, int) and 0 <= exponent <= 64 and isinstance(a.dtype, DType) and a.dtype.kind != "small":
        base, out = (convert(a, I32) if a.dtype.kind == "bool" else a), None
        while exponent:
            if exponent & 1:
                out = base if out is None else mul(out, base)
            exponent >>= 1
            base = mul(base, base) if exponent else base
        assert isinstance(base.dtype, DType)
        return out if out is not None else constant(1, base.dtype, base.shape)
    left, right, type = _arithmetic(a, b, "**")
    if not type.is_float:
        fail("script.dtype", f"** of {type} to an exponent that is no Python integer from 0 to 64", "convert to a float with astype")
    return emit("fpowf", left, right)


def bitwise(mnemonic: str, a: "Any", b: "Any") -> "Tile":
    """&, | and ^ of integers or bools."""
    what = {"andi": "&", "ori": "|", "xori": "^"}[mnemonic]
    left, right, type = pair(a, b, what)
    if not (type.is_integer or type.kind == "bool"):
        fail("script.dtype", f"{what} of {type}", "it takes integers and bools; `bitcast` gives the bits of a float")
    return emit(mnemonic, left, right)


def shift(mnemonic: str, a: "Any", b: "Any") -> "Tile":
    """<< and >> (with the sign, if the type has one) of integers, by an unsigned count; of the type of the left side."""
    what = {"shli": "<<", "shri": ">>"}[mnemonic]
    left = as_tile(a, b.dtype if isinstance(b, Tile) and isinstance(b.dtype, DType) else None, what)
    type = left.dtype
    if not isinstance(type, DType) or not type.is_integer:
        fail("script.dtype", f"{what} of {type}", "it takes integers")
    right = as_tile(b, type, what)
    if not right.dtype.is_integer:
        fail("script.dtype", f"{what} by {right.dtype}", "shift by an integer")
    shape = common_shape([left.shape, right.shape], what)
    left, right = broadcast(left, shape, what), broadcast(convert(right, type), shape, what)
    return emit("shli", left, right) if mnemonic == "shli" else emit("shri", left, right, signedness=type.signedness)


def compare(predicate: str, a: "Any", b: "Any") -> "Tile":
    """A comparison: bools. NaN is equal to nothing, less than nothing, unequal to all."""
    left, right, type = pair(a, b, "a comparison")
    if type.kind == "small":
        fail("script.dtype", f"a comparison of {type}", "convert with astype(script.float32)")
    if type.is_float:
        return emit("cmpf", left, right, type=BOOL, predicate=predicate, ordering="unordered" if predicate == "not_equal" else "ordered")
    return emit("cmpi", left, right, type=BOOL, predicate=predicate, signedness=type.signedness)


def select(condition: "Tile", a: "Tile", b: "Tile") -> "Tile":
    """Of three tiles of one shape."""
    out = emit("select", condition, a, b, like=a)
    out._origin = a._origin | b._origin
    return out


def negative(a: "Tile") -> "Tile":
    """-a."""
    if a.dtype.is_float:
        return emit("negf", a)
    if not a.dtype.is_integer:
        fail("script.dtype", f"- of {a.dtype}", "it takes integers and floats")
    return emit("negi", a)


def absolute(a: "Tile") -> "Tile":
    """abs(a); that of the least signed integer is itself."""
    if a.dtype.is_float:
        return emit("absf", a)
    if not a.dtype.is_integer:
        fail("script.dtype", f"abs of {a.dtype}", "it takes integers and floats")
    return emit("absi", a) if a.dtype.kind == "int" else a


def invert(a: "Tile") -> "Tile":
    """~a of integers and bools."""
    if not isinstance(a.dtype, DType) or not (a.dtype.is_integer or a.dtype.kind == "bool"):
        fail("script.dtype", f"~ of {a.dtype}", "it takes integers and bools")
    ones = constant(True if a.dtype.kind == "bool" else -1, a.dtype, a.shape)
    return emit("xori", a, ones)


def offset(pointer: "Tile", by: "Any") -> "Tile":
    """A pointer moved by so many elements."""
    assert isinstance(pointer.dtype, PointerType)
    steps = as_tile(by, None, "+ of a pointer")
    if not steps.dtype.is_integer:
        fail("script.dtype", f"a pointer moved by {steps.dtype}", "it moves by integers")
    if steps.dtype.kind == "uint":
        steps = convert(steps, I64)
    shape = common_shape([pointer.shape, steps.shape], "+ of a pointer")
    return emit("offset", broadcast(pointer, shape, "+"), broadcast(steps, shape, "+"))


def bitcast(a: "Tile", into: "DType") -> "Tile":
    """The bits as another type."""
    if not isinstance(a.dtype, DType) or a.dtype.bits != into.bits or "bool" in (a.dtype.kind, into.kind):
        fail("script.dtype", f"bitcast of {a.dtype} to {into}", "the types must have equally many bits")
    return _retyped(a, into) if a.dtype.element == into.element else emit("bitcast", a, type=into)


def _retyped(a: "Tile", into: "DType") -> "Tile":
    return Tile(use(a), into, a.shape, a._region)


def convert(a: "Tile", into: "DType") -> "Tile":
    """See Tile.astype."""
    source = a.dtype
    if source is into:
        return a
    if isinstance(source, PointerType):
        fail("script.dtype", f"conversion of a {source} to {into}", "load what it points to")
    current("astype")
    if into.kind == "bool":
        return compare("not_equal", convert(a, F32) if source.kind == "small" else a, 0)
    if source.kind == "bool" or source.is_integer:
        if not into.is_integer:
            return emit("itof", a, type=into, signedness=source.signedness, rounding="nearest_even")
        if into.bits > source.bits:
            return emit("exti", a, type=into, signedness=source.signedness)
        return emit("trunci", a, type=into) if into.bits < source.bits else _retyped(a, into)
    if into.is_integer:
        return emit("ftoi", a, type=into, signedness=into.signedness)
    return emit("ftof", a, type=into, rounding="nearest_even")


take_operators(sys.modules[__name__])
