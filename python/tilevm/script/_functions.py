"""Making tiles, changing their shape, choosing, multiplying matrices, and the place of a block in the grid."""
from __future__ import annotations

from . import _arith
from ._api import api
from ._dtypes import F32, I32, DType, PointerType, check_number, dtype, of_number
from ._tile import (Tile, as_tile, broadcast, common_shape, constant, emit, make, number_of, pair, shape_of, type_text, use)
from ._trace import current, fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Optional, Tuple

    from ._tile import TileLike


# --- the grid

def _axis3(axis: "Any", what: str) -> int:
    if isinstance(axis, bool) or not isinstance(axis, int) or not 0 <= axis <= 2:
        fail("script.axis", f"{what}: axis {axis!r}", "the axes of a grid are 0, 1 and 2")
    return axis


@api
def bid(axis: int = 0) -> Tile:
    """The number of this block along an axis of the grid: a scalar int32."""
    return make(current("bid").emit("get_tile_block_id", results=["tile<i32>"] * 3)[_axis3(axis, "bid")], I32, ())


@api
def num_blocks(axis: int = 0) -> Tile:
    """How many blocks the grid has along an axis: a scalar int32."""
    return make(current("num_blocks").emit("get_num_tile_blocks", results=["tile<i32>"] * 3)[_axis3(axis, "num_blocks")], I32, ())


# --- tiles out of nothing

@api
def arange(size: int, /, *, dtype: "Any" = I32) -> Tile:
    """The numbers 0 … size-1: shape (size,), of an integer type.

        lane = script.arange(128)
    """
    into = _dtype(dtype)
    shape = shape_of(size, "arange")
    if not into.is_integer or len(shape) != 1:
        fail("script.dtype", f"arange of {into} and shape {shape}", "it has one dimension and an integer type; convert it with astype")
    if shape[0] > 1 << into.bits:
        fail("script.number", f"arange({size}) does not fit {into}", "use a wider type")
    return make(current("arange").emit("iota", results=[type_text(shape, into.element)]), into, shape)


@api
def full(shape: "Any", fill_value: "TileLike", dtype: "Any" = None) -> Tile:
    """A tile that is everywhere a number or a scalar tile; without `dtype` of that one's type.

        script.full((128, 64), 0.5, script.float16)
    """
    return _full(shape, fill_value, dtype, "full")


def _full(shape: "Any", fill_value: "TileLike", dtype: "Any", what: str) -> Tile:
    sizes = shape_of(shape, what)
    number = number_of(fill_value)
    if number is not None:
        into = _dtype(dtype) if dtype is not None else of_number(number, None, what)
        check_number(number, into, what)
        return constant(number, into, sizes)
    tile = as_tile(fill_value, None, what)
    return broadcast(tile if dtype is None else _arith.convert(tile, _dtype(dtype)), sizes, what)


@api
def zeros(shape: "Any", dtype: "Any" = F32) -> Tile:
    """A tile of zeros."""
    return _full(shape, 0, dtype, "zeros")


@api
def ones(shape: "Any", dtype: "Any" = F32) -> Tile:
    """A tile of ones."""
    return _full(shape, 1, dtype, "ones")


def _dtype(value: "Any") -> "DType":
    return dtype(value)


# --- shapes

@api
def reshape(x: Tile, shape: "Any") -> Tile:
    """The elements in row-major order in another shape of equally many; one size may be -1."""
    x = as_tile(x, None, "reshape")
    sizes: "List[Any]" = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    if sizes.count(-1) == 1:
        rest = 1
        for size in sizes:
            rest *= size if isinstance(size, int) and size > 0 else 1
        sizes[sizes.index(-1)] = x.size // rest
    wanted = shape_of(tuple(sizes), "reshape")
    count = 1
    for size in wanted:
        count *= size
    if count != x.size:
        fail("script.shape", f"reshape of {x.size} elements of shape {x.shape} to {wanted}, which has {count}", "keep the number of elements")
    return x if wanted == x.shape else emit("reshape", x, shape=wanted)


@api
def broadcast_to(x: "TileLike", shape: "Any") -> Tile:
    """Repeated to a shape: sizes of 1 grow, dimensions are added in front."""
    return broadcast(as_tile(x, None, "broadcast_to"), shape_of(shape, "broadcast_to"), "broadcast_to")


@api
def expand_dims(x: Tile, axis: int) -> Tile:
    """With a dimension of size 1 at an axis."""
    x = as_tile(x, None, "expand_dims")
    at = axis_of(axis, x.ndim + 1, "expand_dims")
    return reshape(x, x.shape[:at] + (1,) + x.shape[at:])


@api
def permute(x: Tile, axes: "Any") -> Tile:
    """Dimension k of the result is dimension axes[k] of x."""
    x = as_tile(x, None, "permute")
    order = permutation_of(axes, x.ndim, "permute")
    if list(order) == list(range(x.ndim)):
        return x
    return emit("permute", x, shape=[x.shape[a] for a in order], permutation=list(order))


@api
def transpose(x: Tile, axis0: "Optional[int]" = None, axis1: "Optional[int]" = None) -> Tile:
    """With two dimensions exchanged: those named, or both of a matrix."""
    x = as_tile(x, None, "transpose")
    if (axis0 is None) != (axis1 is None) or (axis0 is None and x.ndim != 2):
        fail("script.axis", f"transpose of shape {x.shape}", "name two axes")
    a, b = (0, 1) if axis0 is None else (axis_of(axis0, x.ndim, "transpose"), axis_of(axis1, x.ndim, "transpose"))
    order = list(range(x.ndim))
    order[a], order[b] = order[b], order[a]
    return permute(x, order)


@api
def cat(x: Tile, y: Tile, axis: int = 0) -> Tile:
    """x, then y, along an axis; of one shape."""
    left, right = as_tile(x, None, "cat"), as_tile(y, None, "cat")
    if left.dtype != right.dtype or left.shape != right.shape or not left.shape:
        fail("script.shape", f"cat of {left} and {right}", "the tiles have one type and one shape of at least one dimension")
    at = axis_of(axis, left.ndim, "cat")
    return emit("cat", left, right, shape=left.shape[:at] + (2 * left.shape[at],) + left.shape[at + 1:], dim=at)


@api
def extract(x: Tile, index: "Any", shape: "Any") -> Tile:
    """The part of a shape with a number along each axis: extract(x, (i, j), (4, 8)) begins at (4 i, 8 j). Outside is undefined."""
    x = as_tile(x, None, "extract")
    sizes = shape_of(shape, "extract")
    numbers = list(index) if isinstance(index, (tuple, list)) else [index]
    if len(sizes) != x.ndim or len(numbers) != x.ndim or any(s > n for s, n in zip(sizes, x.shape)):
        fail("script.shape", f"extract of shape {sizes} at {len(numbers)} indices from shape {x.shape}", "one index and one size per dimension")
    at = [scalar_index(n, "extract") for n in numbers]
    value = current("extract").emit("extract", use(x), tuple(use(_arith.convert(i, I32)) for i in at), results=[type_text(sizes, x.dtype.element)])
    return make(value, x.dtype, sizes, x._origin)


def index(x: Tile, key: "Any") -> Tile:
    """x[:, None]: whole dimensions, and new ones of size 1."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if keys.count(Ellipsis) == 1:
        at = keys.index(Ellipsis)
        keys[at:at + 1] = [slice(None)] * (x.ndim - sum(k is not None for k in keys) + 1)
    if any(k is not None and k != slice(None) for k in keys) or sum(k is not None for k in keys) > x.ndim:
        fail("script.value", f"a tile of shape {x.shape} with the index {key!r}", "only `:`, `...` and `None` are indices of tiles; script.extract takes parts")
    sizes = iter(x.shape)
    shape = [1 if k is None else next(sizes) for k in keys]
    return reshape(x, (*shape, *sizes))


def axis_of(axis: "Any", rank: int, what: str) -> int:
    number = number_of(axis)
    if not isinstance(number, int) or isinstance(number, bool) or not -rank <= number < rank:
        fail("script.axis", f"{what}: axis {axis!r} of {rank} dimensions", f"use {-rank} to {rank - 1}" if rank else "a scalar has none")
    return number % rank


def permutation_of(axes: "Any", rank: int, what: str) -> "Tuple[int, ...]":
    order = tuple(axes) if isinstance(axes, (tuple, list)) else (axes,)
    if any(isinstance(a, Tile) for a in order) or sorted(map(str, order)) != sorted(map(str, range(rank))):
        fail("script.order", f"{what}: {axes!r} is no permutation of {rank} dimensions", f"name each of {', '.join(map(str, range(rank)))} once")
    return order


def scalar_index(value: "Any", what: str) -> Tile:
    """An index: a Python integer or a scalar integer tile."""
    tile = as_tile(value, None, what)
    if not tile.dtype.is_integer or tile.shape:
        more = "; script.gather and script.scatter take tiles of indices" if tile.shape and what in ("load", "store") else ""
        fail("script.index", f"{what}: index {value!r}", f"an index is a Python integer or a scalar tile of integers{more}")
    return tile


# --- choosing

@api
def where(condition: "TileLike", x: "TileLike", y: "TileLike", /) -> Tile:
    """x where the condition holds (is not 0), else y; all in one shape. Also of pointers."""
    chosen = _arith.convert(as_tile(condition, None, "where"), dtype("bool"))
    if isinstance(x, Tile) and isinstance(y, Tile) and isinstance(x.dtype, PointerType) and x.dtype == y.dtype:
        left, right = x, y
    else:
        left, right, _ = pair(x, y, "where")
    shape = common_shape([chosen.shape, left.shape, right.shape], "where")
    return _arith.select(*(broadcast(t, shape, "where") for t in (chosen, left, right)))


@api
def astype(x: "TileLike", dtype: "Any") -> Tile:
    """See Tile.astype."""
    return as_tile(x, None, "astype").astype(dtype)


@api
def bitcast(x: Tile, dtype: "Any") -> Tile:
    """See Tile.bitcast."""
    return as_tile(x, None, "bitcast").bitcast(dtype)


def cdiv(a: "Any", b: "Any") -> "Any":
    """a / b rounded up, of Python integers or of tiles of non-negative integers."""
    if isinstance(a, Tile) or isinstance(b, Tile):
        left, right, type = pair(a, b, "cdiv")
        if not type.is_integer:
            fail("script.dtype", f"cdiv of {type}", "it takes integers")
        return emit("divi", left, right, signedness=type.signedness, rounding="positive_inf")
    return -(-a // b)


# --- matrices

_SUM_OF = {"f16": "f32", "bf16": "f32", "tf32": "f32", "f8E4M3FN": "f32", "f8E5M2": "f32", "f32": "f32", "f64": "f64", "i8": "i32", "u8": "i32"}


@api
def mma(x: Tile, y: Tile, acc: Tile) -> Tile:
    """acc + x @ y: (M, K), (K, N) and (M, N), or all with one leading batch dimension. x and y have one type; 8-bit integers may
    differ in sign. acc has f32 for f16 (or f16), bf16, tf32, f8 (or f16) and f32, f64 for f64, i32 for 8-bit integers.

        sum = script.mma(a, b, sum)
    """
    left, right, sum_ = (as_tile(t, None, "mma") for t in (x, y, acc))
    shapes = (left.shape, right.shape, sum_.shape)
    rank = left.ndim
    good = rank in (2, 3) and right.ndim == rank == sum_.ndim and left.shape[:-2] == right.shape[:-2] == sum_.shape[:-2]
    if not good or left.shape[-1] != right.shape[-2] or sum_.shape[-2:] != (left.shape[-2], right.shape[-1]):
        fail("script.shape", f"mma of shapes {', '.join(map(str, shapes))}", "they are (M, K), (K, N), (M, N), with an equal batch dimension or without")
    wanted = _SUM_OF.get(left.dtype.name)
    eight = left.dtype.name in ("i8", "u8") and right.dtype.name in ("i8", "u8")
    if wanted is None or not (eight or left.dtype is right.dtype):
        fail("script.dtype", f"mma of {left.dtype} and {right.dtype}", "both have one type: f16, bf16, tf32, f32, f64, f8, or 8-bit integers")
    half = sum_.dtype.name == "f16" and left.dtype.name in ("f16", "f8E4M3FN", "f8E5M2")
    if sum_.dtype.name != wanted and not half:
        fail("script.dtype", f"mma of {left.dtype} into {sum_.dtype}", f"the sum is {wanted}: script.zeros(shape, script.{dtype(wanted).numpy})")
    if eight:
        assert isinstance(left.dtype, DType) and isinstance(right.dtype, DType)
        return emit("mmai", left, right, sum_, like=sum_, signedness_lhs=left.dtype.signedness, signedness_rhs=right.dtype.signedness)
    return emit("mmaf", left, right, sum_, like=sum_)


@api
def dot(x: Tile, y: Tile) -> Tile:
    """x @ y, summed in the type that `mma` names first."""
    left, right = as_tile(x, None, "@"), as_tile(y, None, "@")
    if left.ndim < 2 or right.ndim < 2:
        fail("script.shape", f"@ of shapes {left.shape} and {right.shape}",
             "they are (M, K) and (K, N); of one dimension each: script.sum(x * y); x[None, :] and y[:, None] add a dimension")
    into = dtype(_SUM_OF.get(left.dtype.name, "f32"))
    return mma(left, right, constant(0, into, left.shape[:-1] + right.shape[-1:]))


__all__ = ["bid", "num_blocks", "arange", "full", "zeros", "ones", "reshape", "broadcast_to", "expand_dims", "permute", "transpose", "cat",
           "extract", "where", "astype", "bitcast", "cdiv", "mma", "dot"]
