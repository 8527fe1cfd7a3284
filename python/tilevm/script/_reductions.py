"""Combining the elements of a tile along axes: sums, extremes, running sums, any function.

Sums of bools are int32, others have the type of the tile (integers wrap). The order in which elements are combined is free but
always the same on one device: float sums may differ in the last bits from one device to another.
"""
from __future__ import annotations

import builtins

from . import _arith
from ._api import api
from ._dtypes import BOOL, I32, DType, check_number, number_text
from ._errors import ScriptError, script_error
from ._functions import arange, axis_of, reshape
from ._tile import Tile, as_tile, broadcast, common_shape, make, number_of, type_text, use
from ._trace import Region, current, fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, List, Sequence, Tuple

    from ._dtypes import Number

    Combine = Callable[..., Any]


def _combine(tiles: "Sequence[Tile]", axis: int, identities: "Sequence[Number]", body: "Combine", scan: bool = False,
             reverse: bool = False, what: str = "reduce") -> "Tuple[Tile, ...]":
    trace = current(what)
    shape = tiles[0].shape if scan else tiles[0].shape[:axis] + tiles[0].shape[axis + 1:]
    types: "List[DType]" = []
    for t in tiles:
        if not isinstance(t.dtype, DType):
            fail("script.dtype", f"{what} of pointers", "load what they point to")
        types.append(t.dtype)
    results = [type_text(shape, t.element) for t in types]
    neutral = [number_text(i, t) for i, t in zip(identities, types)]
    values = [use(t) for t in tiles]
    b, mark = trace.builder, trace.mark()
    head = b.scan(*values, dim=axis, identities=neutral, results=results, reverse=reverse) if scan else \
        b.reduce(*values, dim=axis, identities=neutral, results=results)
    outside = trace.region
    trace.region = Region("reduce", outside)
    trace.region.dead = outside.dead
    inside = head.__enter__()
    arguments = [Tile(v, types[i // 2], (), trace.region) for i, v in enumerate(inside)]
    try:
        made = body(*arguments)
    except TypeError as error:  # of a call with so many
        raise script_error("script.type", f"{what}: {error}", f"the function takes {len(arguments)} scalars, two of each tile in turn") from error
    out = made if isinstance(made, (tuple, list)) else (made,)
    if len(out) != len(tiles) or builtins.any(not isinstance(t, Tile) or t.shape or t.dtype is not w for t, w in zip(out, types)):
        wanted = ", ".join(t.name for t in types)
        fail("script.type", f"{what}: the function gave {made!r}", f"it gives {'a scalar' if len(tiles) == 1 else f'a tuple of {len(tiles)} scalars'} of "
             f"{wanted}: convert with astype")
    trace.end("yield", *(use(t) for t in out))
    head.__exit__(None, None, None)
    trace.region.alive = False
    trace.region = outside
    if outside.dead:
        trace.cut(mark)
    return tuple(make(v, t, shape) for v, t in zip(head.results, types))


def _along(tiles: "Sequence[Tile]", axis: "Any", keepdims: bool, identities: "Sequence[Number]", body: "Combine",
           what: str) -> "Tuple[Tile, ...]":
    shape = tiles[0].shape
    axes = builtins.sorted({axis_of(a, len(shape), what) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))}) \
        if axis is not None else list(range(len(shape)))
    out = tuple(tiles)
    if axis is None and len(shape) > 1:
        out, axes = tuple(reshape(t, -1) for t in out), [0]
    for a in reversed(axes):
        out = _combine(out, a, identities, body, what=what)
    if keepdims:
        kept = tuple(1 if axis is None or d in axes else n for d, n in enumerate(shape))
        out = tuple(reshape(t, kept) for t in out)
    return out


def _numbers(x: "Any", what: str) -> "Tuple[Tile, DType]":
    tile = as_tile(x, None, what)
    if not isinstance(tile.dtype, DType) or tile.dtype.kind == "small":
        fail("script.dtype", f"{what} of {tile.dtype}", "convert with astype(script.float32)")
    if tile.dtype is BOOL:
        tile = _arith.convert(tile, I32)
    assert isinstance(tile.dtype, DType)
    return tile, tile.dtype


def _least(type: "DType") -> "Number":
    return float("-inf") if type.is_float else -(1 << (type.bits - 1)) if type.kind == "int" else 0


def _greatest(type: "DType") -> "Number":
    return float("inf") if type.is_float else (1 << (type.bits - (type.kind == "int"))) - 1


@api
def sum(x: Tile, axis: "Any" = None, *, keepdims: bool = False) -> Tile:
    """The sum along an axis, several, or all."""
    tile, _ = _numbers(x, "sum")
    return _along([tile], axis, keepdims, [0], _arith.add, "sum")[0]


@api
def prod(x: Tile, axis: "Any" = None, *, keepdims: bool = False) -> Tile:
    """The product along an axis, several, or all."""
    tile, _ = _numbers(x, "prod")
    return _along([tile], axis, keepdims, [1], _arith.mul, "prod")[0]


def _maximum(a: Tile, b: Tile) -> Tile:
    from ._math import maximum

    return maximum(a, b)


def _minimum(a: Tile, b: Tile) -> Tile:
    from ._math import minimum

    return minimum(a, b)


@api
def max(x: Tile, axis: "Any" = None, *, keepdims: bool = False) -> Tile:
    """The greatest along an axis, several, or all; of NaN and a number the number."""
    tile, type = _numbers(x, "max")
    return _along([tile], axis, keepdims, [_least(type)], _maximum, "max")[0]


@api
def min(x: Tile, axis: "Any" = None, *, keepdims: bool = False) -> Tile:
    """The least along an axis, several, or all; of NaN and a number the number."""
    tile, type = _numbers(x, "min")
    return _along([tile], axis, keepdims, [_greatest(type)], _minimum, "min")[0]


@api
def any(x: Tile, axis: "Any" = None, *, keepdims: bool = False) -> Tile:
    """Whether an element is not 0: bools."""
    return _along([_arith.convert(as_tile(x, None, "any"), BOOL)], axis, keepdims, [False], lambda a, b: a | b, "any")[0]


@api
def all(x: Tile, axis: "Any" = None, *, keepdims: bool = False) -> Tile:
    """Whether no element is 0: bools."""
    return _along([_arith.convert(as_tile(x, None, "all"), BOOL)], axis, keepdims, [True], lambda a, b: a & b, "all")[0]


def _arg(x: "Any", axis: "Any", keepdims: bool, less: bool, what: str) -> Tile:
    tile, type = _numbers(x, what)
    at = axis_of(0 if axis is None and tile.ndim == 1 else axis, tile.ndim, what)
    size = tile.shape[at]
    number = arange(size)
    numbers = broadcast(reshape(number, [size if d == at else 1 for d in range(tile.ndim)]), tile.shape, what)

    def better(a: Tile, b: Tile, i: Tile, j: Tile) -> "Tuple[Tile, Tile]":
        take = (a < b if less else a > b) | ((a == b) & (i < j))
        return _arith.select(take, a, b), _arith.select(take, i, j)

    neutral = _greatest(type) if less else _least(type)
    return _along([tile, numbers], at, keepdims, [neutral, (1 << 31) - 1], better, what)[1]


@api
def argmax(x: Tile, axis: "Any" = None, *, keepdims: bool = False) -> Tile:
    """The number of the greatest element along one axis, the first of equals: int32."""
    return _arg(x, axis, keepdims, False, "argmax")


@api
def argmin(x: Tile, axis: "Any" = None, *, keepdims: bool = False) -> Tile:
    """The number of the least element along one axis, the first of equals: int32."""
    return _arg(x, axis, keepdims, True, "argmin")


@api
def cumsum(x: Tile, axis: int = 0, *, reverse: bool = False) -> Tile:
    """The running sum along an axis, from its other end if `reverse`."""
    tile, _ = _numbers(x, "cumsum")
    return _combine([tile], axis_of(axis, tile.ndim, "cumsum"), [0], _arith.add, True, bool(reverse), "cumsum")[0]


@api
def cumprod(x: Tile, axis: int = 0, *, reverse: bool = False) -> Tile:
    """The running product along an axis, from its other end if `reverse`."""
    tile, _ = _numbers(x, "cumprod")
    return _combine([tile], axis_of(axis, tile.ndim, "cumprod"), [1], _arith.mul, True, bool(reverse), "cumprod")[0]


def _several(x: "Any", axis: "Any", function: "Combine", identity: "Any", scan: bool, reverse: bool, keepdims: bool, what: str) -> "Any":
    several = isinstance(x, (tuple, list))
    given = [as_tile(t, None, what) for t in (x if several else (x,))]
    neutral = list(identity) if isinstance(identity, (tuple, list)) else [identity]
    if not given or len(neutral) != len(given):
        fail("script.type", f"{what} of {len(given)} tiles with {len(neutral)} identities",
             "each tile has an identity: a number that the function leaves alone")
    if not callable(function):
        fail("script.type", f"{what} by {function!r}, which is no function", "name the function behind the axis: script.maximum, or lambda a, b: a + b")
    numbers: "List[Number]" = []
    for tile, one in zip(given, neutral):
        number = number_of(one)
        if number is None or not isinstance(tile.dtype, DType):
            fail("script.constant", f"{what} of {tile.dtype} with the identity {one!r}", "tiles of numbers are combined; an identity is a Python number")
        check_number(number, tile.dtype, f"{what}: the identity")
        numbers.append(number)
    try:
        shape = common_shape([t.shape for t in given], what)
    except ScriptError:
        fail("script.type", f"{what} of tiles of shapes {', '.join(str(t.shape) for t in given)}", "the tiles have one shape, or sizes of 1")
    tiles = [broadcast(t, shape, what) for t in given]

    def in_order(*pairs: Tile) -> "Any":  # the format gives the element first, then what stands before it
        return function(*(pairs[i ^ 1] for i in range(len(pairs))))

    at = axis_of(axis, len(shape), what)
    out = _combine(tiles, at, numbers, in_order, scan, reverse, what)
    if keepdims:
        out = tuple(reshape(t, shape[:at] + (1,) + shape[at + 1:]) for t in out)
    return out if several else out[0]


@api
def reduce(x: "Any", axis: int, function: "Combine", identity: "Any", *, keepdims: bool = False) -> "Any":
    """Combines along an axis with a function of two scalars that is associative and has the identity; the first comes before
    the second. For a tuple of tiles and of identities the function takes two scalars of each tile in turn and gives a tuple.

        smallest = script.reduce(x, 0, script.minimum, float("inf"))

        def greater(a, b, i, j):             # of two elements, and their places
            return script.where(b > a, b, a), script.where(b > a, j, i)

        best, place = script.reduce((x, script.arange(128)), 0, greater, (float("-inf"), 0))
    """
    return _several(x, axis, function, identity, False, False, bool(keepdims), "reduce")


@api
def scan(x: "Any", axis: int, function: "Combine", identity: "Any", reverse: bool = False) -> "Any":
    """Like reduce, with every result on the way: element k combines all up to k along the axis, from k on if `reverse`. The function takes what
    was combined so far, then the element.

        running = script.scan(x, 0, script.maximum, float("-inf"))
        best, place = script.scan((x, script.arange(128)), 0, greater, (float("-inf"), 0))
    """
    return _several(x, axis, function, identity, True, bool(reverse), False, "scan")


__all__ = ["sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "cumsum", "cumprod", "reduce", "scan"]
