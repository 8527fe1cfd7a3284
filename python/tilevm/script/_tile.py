"""Tiles: values of a kernel, with a type, a shape of powers of two, and operators. Nothing is computed here: an operator adds an
operation to the program.

A tile never changes; `x += 1` names a new one. Shapes meet as NumPy's do: from the last dimension on, a size of 1 stands for any.
"""
from __future__ import annotations

from ..builder import Value
from ._dtypes import I32, DType, PointerType, check_number, dtype, number_text, of_number, promote
from ._errors import script_error
from ._foreign import Foreign, instead, no_attribute
from ._plain import assertion
from ._trace import Region, current, fail, fail_unread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, FrozenSet, Iterator, NoReturn, Optional, Sequence, Tuple, Union

    from . import _arith

    Shape = Tuple[int, ...]
    Number = Union[bool, int, float]
    TileLike = Union["Tile", bool, int, float]

MAX_ELEMENTS = 1 << 24


def take_operators(functions: "ModuleType") -> None:
    """The operators of tiles, from _arith.py: that module needs the class, so it is loaded later and gives itself."""
    globals()["_arith"] = functions


def type_text(shape: "Sequence[int]", element: str) -> str:
    return f"tile<{''.join(f'{n}x' for n in shape)}{element}>"


class Tile(Foreign):
    """A tile: `shape`, `dtype`, `ndim`, `size`; a scalar has shape (). Comes from loads, `arange`, `full` and operators.

        y = (x - x.max(axis=1, keepdims=True)).exp()
        x[:, None]                              # a dimension of size 1 more
    """

    __slots__ = ("_value", "_region", "_origin", "dtype", "shape")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Value, type: "Union[DType, PointerType]", shape: "Shape", region: "Region",
                 origin: "FrozenSet[str]" = frozenset()) -> None:
        self._value = value
        self._region = region
        self._origin = origin  # of pointers: the arrays that they lead to
        self.dtype = type
        self.shape = shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        n = 1
        for s in self.shape:
            n *= s
        return n

    def __repr__(self) -> str:
        return f"<tile of {self.dtype}{list(self.shape)}>"

    # --- operators

    def __add__(self, other: "TileLike") -> "Tile":
        return _arith.add(self, other)

    def __radd__(self, other: "TileLike") -> "Tile":
        return _arith.add(other, self)

    def __sub__(self, other: "TileLike") -> "Tile":
        return _arith.sub(self, other)

    def __rsub__(self, other: "TileLike") -> "Tile":
        return _arith.sub(other, self)

    def __mul__(self, other: "TileLike") -> "Tile":
        return _arith.mul(self, other)

    def __rmul__(self, other: "TileLike") -> "Tile":
        return _arith.mul(other, self)

    def __truediv__(self, other: "TileLike") -> "Tile":
        return _arith.truediv(self, other)

    def __rtruediv__(self, other: "TileLike") -> "Tile":
        return _arith.truediv(other, self)

    def __floordiv__(self, other: "TileLike") -> "Tile":
        return _arith.floordiv(self, other)

    def __rfloordiv__(self, other: "TileLike") -> "Tile":
        return _arith.floordiv(other, self)

    def __mod__(self, other: "TileLike") -> "Tile":
        return _arith.mod(self, other)

    def __rmod__(self, other: "TileLike") -> "Tile":
        return _arith.mod(other, self)

    def __pow__(self, other: "TileLike") -> "Tile":
        return _arith.power(self, other)

    def __rpow__(self, other: "TileLike") -> "Tile":
        return _arith.power(other, self)

    def __matmul__(self, other: "Tile") -> "Tile":
        from ._functions import dot

        return dot(self, other)

    def __and__(self, other: "TileLike") -> "Tile":
        return _arith.bitwise("andi", self, other)

    def __rand__(self, other: "TileLike") -> "Tile":
        return _arith.bitwise("andi", other, self)

    def __or__(self, other: "TileLike") -> "Tile":
        return _arith.bitwise("ori", self, other)

    def __ror__(self, other: "TileLike") -> "Tile":
        return _arith.bitwise("ori", other, self)

    def __xor__(self, other: "TileLike") -> "Tile":
        return _arith.bitwise("xori", self, other)

    def __rxor__(self, other: "TileLike") -> "Tile":
        return _arith.bitwise("xori", other, self)

    def __lshift__(self, other: "TileLike") -> "Tile":
        return _arith.shift("shli", self, other)

    def __rlshift__(self, other: "TileLike") -> "Tile":
        return _arith.shift("shli", other, self)

    def __rshift__(self, other: "TileLike") -> "Tile":
        return _arith.shift("shri", self, other)

    def __rrshift__(self, other: "TileLike") -> "Tile":
        return _arith.shift("shri", other, self)

    def __neg__(self) -> "Tile":
        return _arith.negative(self)

    def __pos__(self) -> "Tile":
        return self

    def __invert__(self) -> "Tile":
        return _arith.invert(self)

    def __abs__(self) -> "Tile":
        return _arith.absolute(self)

    def __lt__(self, other: "TileLike") -> "Tile":
        return _arith.compare("less_than", self, other)

    def __le__(self, other: "TileLike") -> "Tile":
        return _arith.compare("less_than_or_equal", self, other)

    def __gt__(self, other: "TileLike") -> "Tile":
        return _arith.compare("greater_than", self, other)

    def __ge__(self, other: "TileLike") -> "Tile":
        return _arith.compare("greater_than_or_equal", self, other)

    def __eq__(self, other: "TileLike") -> "Tile":  # type: ignore[override]
        return _arith.compare("equal", self, other)

    def __ne__(self, other: "TileLike") -> "Tile":  # type: ignore[override]
        return _arith.compare("not_equal", self, other)

    # --- what Python would have to know now

    def __bool__(self) -> bool:
        message = assertion()
        if message is not None:
            from ._control import assert_

            assert_(self, lambda: message)
            return True
        fail_unread("a condition on a tile")
        fail("script.value", "what a tile holds is known when the kernel runs, not while it is traced",
             "`if` and `while` on a scalar tile work as statements, in functions with @script.kernel or @script.function; for `and`, `or`, `not` and "
             "chains of comparisons write &, | and ~; for `a if c else b` script.where(c, a, b); for max(a, b) and min(a, b) script.maximum and "
             "script.minimum")

    def __index__(self) -> int:
        fail("script.constant", "a tile stands where Python needs a number that is known while the kernel is traced",
             "shapes and axes are Python numbers; a loop over a tile is `for i in script.range(n)`")

    def __int__(self) -> int:
        fail("script.constant", "int() of a tile", "x.astype(script.int32)")

    def __float__(self) -> float:
        fail("script.constant", "a tile stands where Python needs a number, as float() and the functions of Python's math do",
             "functions of tiles are script's: script.exp, script.sqrt, script.log, …; float(x) is x.astype(script.float32)")

    def __complex__(self) -> complex:
        fail("script.constant", "complex() of a tile", "a kernel has no complex numbers: keep real and imaginary parts in two tiles")

    def __round__(self, digits: "Optional[int]" = None) -> "NoReturn":
        fail("script.foreign", "round() of a tile", instead("round"))

    def __floor__(self) -> "NoReturn":
        fail("script.foreign", "math.floor of a tile", "script.floor(x)")

    def __ceil__(self) -> "NoReturn":
        fail("script.foreign", "math.ceil of a tile", "script.ceil(x)")

    def __trunc__(self) -> "NoReturn":
        fail("script.foreign", "math.trunc of a tile", instead("trunc"))

    def __divmod__(self, other: "Any") -> "NoReturn":
        fail("script.foreign", "divmod() of a tile", instead("divmod"))

    __rdivmod__ = __divmod__

    def __iter__(self) -> "Iterator[NoReturn]":
        fail("script.value", "a tile has no elements that Python could go through",
             "sum(x), max(x), any(x) are x.sum(), x.max(), script.any(x); a loop that runs in the kernel is `for i in script.range(n)`")

    def __reversed__(self) -> "Iterator[NoReturn]":
        fail("script.value", "reversed() of a tile", "cumsum, cumprod and scan take reverse=True; script.gather takes any order of indices")

    def __contains__(self, value: "Any") -> bool:
        fail("script.value", "`in` asks what a tile holds, which is known when the kernel runs", "script.any(x == value)")

    def __len__(self) -> int:
        fail("script.value", "len() of a tile", "its sizes are in .shape")

    def __format__(self, how: str) -> str:
        if how:
            fail("script.value", f"a tile in text with the format {how!r}", 'script.print("x", x) prints what it holds when the kernel runs')
        return str(self)

    def __str__(self) -> str:
        return f"{self!r} (script.print prints what it holds)"

    def __getattr__(self, name: str) -> "Any":
        raise no_attribute("a tile", name)

    def __call__(self, *_: "Any", **__: "Any") -> "NoReturn":
        fail("script.value", f"the {self!r} is called as a function", "x[:, None] adds a dimension, script.extract(x, index, shape) gives a part")

    def __getitem__(self, key: "Any") -> "Tile":
        from ._functions import index

        return index(self, key)

    def __setitem__(self, key: "Any", value: "Any") -> None:
        fail("script.value", "a tile never changes", "make a new one: script.where(condition, value, tile), where script.arange numbers its elements")

    __delitem__ = __getitem__

    # --- methods

    def astype(self, type: "Any") -> "Tile":
        """Each element in another type: floats to integers towards zero, to fewer bits by dropping (integers) or rounding (floats);
        to bool: whether it is not 0."""
        return _arith.convert(self, dtype(type))

    def bitcast(self, type: "Any") -> "Tile":
        """The same bits as another type of the same width."""
        return _arith.bitcast(self, dtype(type))

    def reshape(self, *shape: "Any") -> "Tile":
        """The elements in row-major order in another shape; one size may be -1."""
        from ._functions import reshape

        return reshape(self, shape[0] if len(shape) == 1 else shape)

    def broadcast_to(self, shape: "Any") -> "Tile":
        """Repeated to a shape."""
        return broadcast(self, shape_of(shape, "broadcast_to"), "broadcast_to")

    def permute(self, *axes: "Any") -> "Tile":
        """Dimension k of the result is dimension axes[k] of this."""
        from ._functions import permute

        return permute(self, axes[0] if len(axes) == 1 else axes)

    @property
    def T(self) -> "Tile":
        """With the dimensions in reverse order."""
        return self if self.ndim < 2 else self.permute(*reversed(range(self.ndim)))

    def sum(self, axis: "Any" = None, keepdims: bool = False) -> "Tile":
        """See script.sum."""
        from ._reductions import sum

        return sum(self, axis, keepdims=keepdims)

    def max(self, axis: "Any" = None, keepdims: bool = False) -> "Tile":
        """See script.max."""
        from ._reductions import max

        return max(self, axis, keepdims=keepdims)

    def min(self, axis: "Any" = None, keepdims: bool = False) -> "Tile":
        """See script.min."""
        from ._reductions import min

        return min(self, axis, keepdims=keepdims)

    def exp(self) -> "Tile":
        """See script.exp."""
        from ._math import exp

        return exp(self)


def use(tile: "Tile") -> "Value":
    """The value for an operation. Errors: script.scope if it does not exist here."""
    if not current("a tile").visible(tile._region):
        fail("script.scope", "the tile was made in a loop, a branch or a kernel that has ended",
             "assign it to a variable of the kernel: variables are carried out of loops and branches")
    return tile._value


def make(value: "Value", type: "Union[DType, PointerType]", shape: "Sequence[int]", origin: "FrozenSet[str]" = frozenset()) -> "Tile":
    return Tile(value, type, tuple(shape), current("a tile").region, origin)


def emit(mnemonic: str, *operands: "Any", like: "Optional[Tile]" = None, type: "Optional[Union[DType, PointerType]]" = None,
         shape: "Optional[Sequence[int]]" = None, **attributes: "Any") -> "Tile":
    """An operation with one tile as its result: of the type and shape given, else of `like`'s."""
    of = like if like is not None else operands[0]
    made_type = type if type is not None else of.dtype
    made_shape = tuple(shape) if shape is not None else of.shape
    values = [use(o) if isinstance(o, Tile) else o for o in operands]
    value = current(mnemonic).emit(mnemonic, *values, results=[type_text(made_shape, made_type.element)], **attributes)
    return make(value, made_type, made_shape, of._origin if isinstance(of, Tile) else frozenset())


def constant(value: "Number", type: "DType", shape: "Sequence[int]" = ()) -> "Tile":
    """A tile full of a number that fits the type."""
    text = f"<{type.element}: {number_text(value, type)}>"
    made = current("a constant").emit("constant", value=text, results=[type_text(shape, type.element)])
    return make(made, type, shape)


def number_of(value: "Any") -> "Optional[Number]":
    """A Python number, also of what NumPy calls one; None for anything else."""
    if isinstance(value, (bool, int, float)):
        return value
    item = getattr(value, "item", None)
    if item is not None and getattr(value, "ndim", None) == 0 and not isinstance(value, Tile):
        found = item()
        return found if isinstance(found, (bool, int, float)) else None
    return None


def as_tile(value: "Any", type: "Optional[DType]" = None, what: str = "a tile", shape: "Sequence[int]" = ()) -> "Tile":
    """A tile, or a number as one (of `type`, else of the number's own). Errors: script.type, script.number."""
    if isinstance(value, Tile):
        return value
    number = number_of(value)
    if number is None:
        described = getattr(value, "_describe", None) or f"{value.__class__.__name__}"
        fix = "pass a tile or a number"
        if hasattr(value, "__array_struct__") or hasattr(value, "data_ptr"):
            fix = "a kernel sees arrays that are its arguments: name it in the signature, pass it in the call, and script.load a tile of it"
        elif hasattr(value, "shape"):
            fix = "load a tile of it: script.load(x, index, shape)"
        raise script_error("script.type", f"{what}: {described} is neither a tile nor a number", fix)
    chosen = type or of_number(number, None, what)
    check_number(number, chosen, what)
    return constant(number, chosen, shape)


def shape_of(value: "Any", what: str) -> "Shape":
    """A shape that a caller named: sizes are Python numbers, powers of two. Errors: script.constant, script.shape."""
    sizes = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    out = []
    for size in sizes:
        number = number_of(size)
        if isinstance(size, Tile) or not isinstance(number, int) or isinstance(number, bool):
            raise script_error("script.constant", f"{what}: size {size!r} of a tile is no Python integer",
                               "shapes are known while the kernel is traced: use a number, or a parameter that is a constant"
                               if isinstance(size, Tile) else "pass an integer: a power of two")
        if number < 1 or number & (number - 1):
            up = 1 << max(number, 1).bit_length()
            raise script_error("script.shape", f"{what}: size {number} of a tile is no power of two", f"use {up}, and mask or pad what lies outside")
        out.append(number)
    n = 1
    for size in out:
        n *= size
    if n > MAX_ELEMENTS or len(out) > 16:
        raise script_error("script.shape", f"{what}: a tile of shape {tuple(out)} is too large", "at most 2^24 elements, 16 dimensions")
    return tuple(out)


def common_shape(shapes: "Sequence[Shape]", what: str) -> "Shape":
    """The shape that all are broadcast to. Errors: script.shape."""
    rank = max((len(s) for s in shapes), default=0)
    out = []
    for d in range(rank):
        sizes = {s[d - rank + len(s)] for s in shapes if d >= rank - len(s)} - {1}
        if len(sizes) > 1:
            raise script_error("script.shape", f"{what}: shapes {', '.join(map(str, shapes))} do not meet",
                               "sizes must be equal or 1, from the last dimension on; x[:, None] adds a dimension")
        out.append(sizes.pop() if sizes else 1)
    return tuple(out)


def broadcast(tile: "Tile", shape: "Shape", what: str) -> "Tile":
    """Repeated to a shape, with dimensions in front where it has fewer. Errors: script.shape."""
    if tile.shape == shape:
        return tile
    if len(tile.shape) > len(shape) or common_shape([tile.shape, shape], what) != shape:
        raise script_error("script.shape", f"{what}: a tile of shape {tile.shape} cannot be repeated to {shape}",
                           "sizes must be equal or 1, from the last dimension on")
    full = (1,) * (len(shape) - len(tile.shape)) + tile.shape
    if full != tile.shape:
        tile = emit("reshape", tile, shape=full)
    return tile if full == shape else emit("broadcast", tile, shape=shape)


def together(values: "Sequence[Any]", what: str) -> "Tuple[Tile, ...]":
    """Operands of arithmetic, tiles and numbers, in one type and shape. Errors: script.dtype, script.shape, script.number."""
    type: "Optional[DType]" = None
    for value in values:
        if isinstance(value, Tile):
            if isinstance(value.dtype, PointerType):
                raise script_error("script.dtype", f"{what} of pointers", "pointers are moved by + and - of integers, loaded from and stored to")
            type = value.dtype if type is None else promote(type, value.dtype, what)
    for value in values:
        number = number_of(value)
        if number is not None:
            alone = of_number(number, type, what)
            type = alone if type is None else promote(type, alone, what)
    shape = common_shape([v.shape for v in values if isinstance(v, Tile)], what)
    tiles = (as_tile(v, type, what, shape) for v in values)
    return tuple(broadcast(_arith.convert(t, type or I32), shape, what) for t in tiles)


def pair(a: "Any", b: "Any", what: str) -> "Tuple[Tile, Tile, DType]":
    """Two operands, and their type."""
    left, right = together((a, b), what)
    assert isinstance(left.dtype, DType)
    return left, right, left.dtype
