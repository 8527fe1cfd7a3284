"""Scalar expressions of Tilus, and the bodies of its elementwise instructions, as operations.

    Expressions(writer, env).value(a + b * 2)        # a Tile; `env` has the values of variables

One row of the table for each class of expression. The rules are C's: operands are promoted to one type, a quotient of integers is
truncated. Types carry the sign of integers, here operations do. Ranks are aligned as in NumPy.
"""
from __future__ import annotations

from ._refuse import Refusal
from ._types import dtypes, has_float_arithmetic, is_bool, is_float, is_pointer, is_small, pointee, sign
from ._writer import Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Sequence, Tuple

    from ._writer import Writer

    Row = Callable[["Expressions", Any], Tile]

_INTEGER = {"Add": "addi", "Sub": "subi", "Multiply": "muli", "Div": "divi", "Mod": "remi"}
_FLOAT = {"Add": "addf", "Sub": "subf", "Multiply": "mulf", "Div": "divf", "Mod": "remf"}
_BITWISE = {"BitwiseAnd": "andi", "BitwiseOr": "ori", "BitwiseXor": "xori", "LogicalAnd": "andi", "LogicalOr": "ori"}
_COMPARE = {"LessThan": "less_than", "LessEqual": "less_than_or_equal", "Equal": "equal", "NotEqual": "not_equal"}
_ROWS: "Dict[str, Row]" = {}


def _row(*names: str) -> "Callable[[Row], Row]":
    def add(function: "Row") -> "Row":
        _ROWS.update(dict.fromkeys(names, function))
        return function

    return add


def common_shape(*shapes: "Sequence[int]") -> "Tuple[int, ...]":
    """The shape that NumPy broadcasts these to. Errors: Refusal."""
    rank = max(map(len, shapes))
    sizes = []
    for column in zip(*((1,) * (rank - len(shape)) + tuple(shape) for shape in shapes)):
        wanted = {size for size in column if size != 1}
        if len(wanted) > 1:
            raise Refusal(f"operands of the shapes {', '.join(str(list(shape)) for shape in shapes)}", "give them shapes that can be broadcast")
        sizes.append(wanted.pop() if wanted else 1)
    return tuple(sizes)


class Expressions:
    def __init__(self, writer: "Writer", env: "Dict[Any, Tile]") -> None:
        self.w = writer
        self.env = env

    def value(self, expr: "Any") -> Tile:
        """The value of an expression of Tilus; a tile stands for itself. Errors: Refusal."""
        if isinstance(expr, Tile):
            return expr
        row = _ROWS.get(type(expr).__name__)
        if row is None:
            raise Refusal(f"an expression {type(expr).__name__}", "write it with arithmetic, comparisons and Tilus' functions")
        return row(self, expr)

    def int64(self, expr: "Any") -> Tile:
        """The value of an index or offset in 64 bits."""
        return self.cast(self.value(expr), dtypes.int64)

    def aligned(self, *values: Tile) -> "Tuple[Tile, ...]":
        """The values, of one rank; operations repeat sizes of 1."""
        rank = max(len(v.shape) for v in values)
        return tuple(v if len(v.shape) in (0, rank) else self.w.reshape(v, (1,) * (rank - len(v.shape)) + v.shape) for v in values)

    def op(self, mnemonic: str, *values: Tile, dtype: "Any", words: str = "", typed: bool = False) -> Tile:
        """An elementwise operation."""
        shape = common_shape(*(v.shape for v in values))
        names = ", ".join(map(str, self.aligned(*values)))
        return self.w.op(f"{mnemonic} {names}{words}", shape, dtype, typed)

    # --- types

    def cast(self, value: Tile, to: "Any") -> Tile:
        """Converts a value as C does. Errors: Refusal."""
        of = value.dtype
        if is_pointer(to) or is_pointer(of):
            return self._cast_pointer(value, to)
        if of.name == to.name:
            return value
        if is_small(of) or is_small(to):
            from ._small import cast

            return cast(self, value, to)
        if is_bool(to):
            return self.truth(value)
        if is_float(of):
            return self._from_float(value, to)
        if is_float(to):
            if not has_float_arithmetic(to):
                return self.cast(self.cast(value, dtypes.float32), to)
            return self.op("itof", value, dtype=to, words=f" {sign(of)}", typed=True)
        return self._resized(value, to)

    def _resized(self, value: Tile, to: "Any") -> Tile:
        """An integer with another number of bits, or another sign."""
        of = value.dtype
        have, want = 1 if is_bool(of) else of.nbits, to.nbits
        if have == want:
            return Tile(value.name, value.shape, to)
        if have < want:
            return self.op("exti", value, dtype=to, words=f" {sign(of)}", typed=True)
        return self.op("trunci", value, dtype=to, typed=True)

    def _from_float(self, value: Tile, to: "Any") -> Tile:
        if is_float(to):
            return self.op("ftof", value, dtype=to, typed=True)
        if not has_float_arithmetic(value.dtype):
            value = self.cast(value, dtypes.float32)
        return self.op("ftoi", value, dtype=to, words=f" {sign(to)}", typed=True)

    def _cast_pointer(self, value: Tile, to: "Any") -> Tile:
        if not is_pointer(value.dtype):
            return self.op("int_to_ptr", self._resized(value, dtypes.int64), dtype=to, typed=True)
        if not is_pointer(to):
            return self.cast(self.op("ptr_to_int", value, dtype=dtypes.int64, typed=True), to)
        if pointee(value.dtype) == pointee(to):
            return Tile(value.name, value.shape, to)
        return self.op("ptr_to_ptr", value, dtype=to, typed=True)

    def truth(self, value: Tile) -> Tile:
        """Whether each element is not zero."""
        value = self.computable(value)
        if is_bool(value.dtype):
            return value
        if is_float(value.dtype):
            return self.op("cmpf not_equal unordered", value, self.w.constant("0.0", value.dtype), dtype=dtypes.boolean)
        return self.op("cmpi not_equal", value, self.w.constant(0, value.dtype), dtype=dtypes.boolean, words=", unsigned")

    def computable(self, value: Tile) -> Tile:
        """The value in a type that has arithmetic, exactly: itself, or as float32 or int32."""
        if is_pointer(value.dtype) or (is_float(value.dtype) and has_float_arithmetic(value.dtype)):
            return value
        if is_float(value.dtype):
            return self.cast(value, dtypes.float32)
        return self.cast(value, dtypes.int32) if is_small(value.dtype) else value

    def promoted(self, a: Tile, b: Tile) -> "Tuple[Tile, Tile]":
        """Both in the type that C's rules give. Types of less than eight bits become int32 or float32 first."""
        from tilus.hidet.ir.dtypes.promotion import promote_type

        a, b = (self.computable(v) if is_small(v.dtype) else v for v in (a, b))
        if is_pointer(a.dtype) or is_pointer(b.dtype):
            return a, b
        to = promote_type(a.dtype, b.dtype)
        return self.cast(a, to), self.cast(b, to)

    def number(self, value: "Any", dtype: "Any", shape: "Sequence[int]" = ()) -> Tile:
        """A constant of any type that Tilus has."""
        if is_float(dtype):
            text = repr(float(value))
            if has_float_arithmetic(dtype):
                return self.w.constant(text, dtype, shape)
            return self.cast(self.w.constant(text, dtypes.float32, shape), dtype)
        if is_bool(dtype):
            return self.w.constant(str(bool(value)).lower(), dtype, shape)
        return self.w.constant(int(value), dtype, shape)


# --- one function a class


@_row("Var")
def _var(self: Expressions, e: "Any") -> Tile:
    if e in self.env:
        return self.env[e]
    name = e.name or e.hint
    raise Refusal(f"the variable {name}, which has no value here",
                  "Tilus' built-in variables of threads, such as threadIdx, have no meaning in tile code; use blockIdx and gridDim")


@_row("Constant")
def _constant(self: Expressions, e: "Any") -> Tile:
    if is_pointer(e.type):
        return self.cast(self.w.constant(int(e.value), dtypes.int64), e.type)
    if type(e.type).__name__ == "StringType":
        raise Refusal("a text as a value", "texts are for messages of printf")
    return self.number(e.value, e.type)


@_row("Cast")
def _cast(self: Expressions, e: "Any") -> Tile:
    return self.cast(self.value(e.expr), e.target_type)


@_row("Add", "Sub", "Multiply", "Div", "Mod")
def _arithmetic(self: Expressions, e: "Any") -> Tile:
    a, b = self.value(e.a), self.value(e.b)
    kind = type(e).__name__
    if is_pointer(a.dtype) or is_pointer(b.dtype):
        return _pointer_arithmetic(self, kind, a, b)
    a, b = self.promoted(a, b)
    if is_float(a.dtype):
        return in_wider(self, _FLOAT[kind], a, b)
    if is_bool(a.dtype):
        a, b = self.cast(a, dtypes.int32), self.cast(b, dtypes.int32)
    return self.op(_INTEGER[kind], a, b, dtype=a.dtype, words=f" {sign(a.dtype)}" if kind in ("Div", "Mod") else "")


def in_wider(self: Expressions, mnemonic: str, *values: Tile) -> Tile:
    """An operation of floats of one type, in that type. Types that have no arithmetic of their own are computed in f32."""
    wide = [self.computable(v) for v in values]
    return self.cast(self.op(mnemonic, *wide, dtype=wide[0].dtype), values[0].dtype)


def _pointer_arithmetic(self: Expressions, kind: str, a: Tile, b: Tile) -> Tile:
    if not is_pointer(a.dtype):
        a, b = b, a
    if kind not in ("Add", "Sub") or is_pointer(b.dtype):
        raise Refusal("arithmetic of two pointers", "subtract offsets instead")
    b = self.cast(b, dtypes.int64)
    if kind == "Sub":
        b = self.op("negi", b, dtype=b.dtype)
    base = a.dtype.base_type
    if not is_pointer(base) and is_small(base):
        raise Refusal(f"an offset from a pointer to {base.name}", "add to the pointer as a pointer to uint8")
    return self.op("offset", a, b, dtype=a.dtype)


@_row("BitwiseAnd", "BitwiseOr", "BitwiseXor")
def _bitwise(self: Expressions, e: "Any") -> Tile:
    a, b = self.promoted(self.value(e.a), self.value(e.b))
    return self.op(_BITWISE[type(e).__name__], a, b, dtype=a.dtype)


@_row("LogicalAnd", "LogicalOr")
def _logical(self: Expressions, e: "Any") -> Tile:
    a, b = self.truth(self.value(e.a)), self.truth(self.value(e.b))
    return self.op(_BITWISE[type(e).__name__], a, b, dtype=a.dtype)


@_row("LogicalNot")
def _not(self: Expressions, e: "Any") -> Tile:
    value = self.truth(self.value(e.a))
    return self.op("xori", value, self.w.constant("true", value.dtype), dtype=value.dtype)


@_row("BitwiseNot")
def _invert(self: Expressions, e: "Any") -> Tile:
    value = self.computable(self.value(e.a))
    return self.op("xori", value, self.w.constant("true" if is_bool(value.dtype) else -1, value.dtype), dtype=value.dtype)


@_row("LeftShift", "RightShift")
def _shift(self: Expressions, e: "Any") -> Tile:
    a = self.computable(self.value(e.a))
    b = self.cast(self.value(e.b), a.dtype)
    if type(e).__name__ == "LeftShift":
        return self.op("shli", a, b, dtype=a.dtype)
    return self.op("shri", a, b, dtype=a.dtype, words=f" {sign(a.dtype)}")


@_row("Neg")
def _negate(self: Expressions, e: "Any") -> Tile:
    value = self.value(e.a)
    if is_float(value.dtype):
        return in_wider(self, "negf", value)
    value = self.computable(value)
    return self.op("negi", value, dtype=value.dtype)


@_row("LessThan", "LessEqual", "Equal", "NotEqual")
def _compare(self: Expressions, e: "Any") -> Tile:
    return compare(self, _COMPARE[type(e).__name__], self.value(e.a), self.value(e.b))


def compare(self: Expressions, predicate: str, a: Tile, b: Tile) -> Tile:
    """A tile of bools. `predicate` is a word of cmpi and cmpf, such as "less_than"."""
    a, b = self.promoted(a, b)
    if is_pointer(a.dtype) or is_pointer(b.dtype):
        a, b = self.cast(a, dtypes.int64), self.cast(b, dtypes.int64)
    if is_float(a.dtype):
        a, b = self.computable(a), self.computable(b)
        order = "unordered" if predicate == "not_equal" else "ordered"
        return self.op(f"cmpf {predicate} {order}", a, b, dtype=dtypes.boolean)
    return self.op(f"cmpi {predicate}", a, b, dtype=dtypes.boolean, words=f", {sign(a.dtype)}")


@_row("IfThenElse")
def _if_then_else(self: Expressions, e: "Any") -> Tile:
    condition = self.truth(self.value(e.cond))
    a, b = self.promoted(self.value(e.then_expr), self.value(e.else_expr))
    return self.op("select", condition, a, b, dtype=a.dtype)


@_row("Let")
def _let(self: Expressions, e: "Any") -> Tile:
    self.env[e.var] = self.value(e.value)
    return self.value(e.body)


@_row("Call")
def _call(self: Expressions, e: "Any") -> Tile:
    from ._calls import call

    return call(self, e)
