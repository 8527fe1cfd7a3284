"""Arrays in array style: tiles of them (`load`, `store`), any elements of them (`gather`, `scatter`), atomic updates of any elements
(`atomic_cas`, `atomic_add`, …).

Indices of elements: a tuple as long as the array has dimensions, of integer tiles and numbers whose shapes meet in one; for an array of
one dimension a tile alone will do. With `check_bounds` (the default) an index below 0 or at or above the size is outside, and nothing
happens there; without, the caller promises that there is none, and the launch reports one.
"""
from __future__ import annotations

from . import _arith
from ._api import api
from ._array import Array, check_array, linear, partition, tile_index, tile_order, tile_shape
from ._dtypes import BOOL, I64, DType, check_number, holds
from ._enums import MemoryOrder, MemoryScope, PaddingMode, member
from ._functions import reshape
from ._tile import Tile, as_tile, broadcast, common_shape, make, number_of, type_text, use
from ._trace import current, fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple

    from ._tile import Shape, TileLike

_SCOPES = (MemoryScope.BLOCK, MemoryScope.CLUSTER, MemoryScope.DEVICE, MemoryScope.SYS)
_ATOMIC = (MemoryOrder.RELAXED, MemoryOrder.ACQUIRE, MemoryOrder.RELEASE, MemoryOrder.ACQ_REL)


def order_of(order: "Any", scope: "Any", allowed: "Tuple[MemoryOrder, ...]", what: str) -> "Dict[str, str]":
    """The attributes of an order and a scope. Errors: script.memory_order, script.memory_scope."""
    chosen = member(MemoryOrder, order, "memory_order", allowed, what)
    if chosen is MemoryOrder.WEAK:
        if member(MemoryScope, scope, "memory_scope", MemoryScope, what) is not MemoryScope.NONE:
            fail("script.memory_scope", f"{what}: memory_scope={scope} of a weak access", "a weak access has none: leave it out, or use MemoryOrder.RELAXED")
        return {"ordering": "weak"}
    return {"ordering": chosen.value, "scope": member(MemoryScope, scope, "memory_scope", _SCOPES, what).value}


def hints_of(latency: "Any", allow_tma: "Any", what: str) -> "Dict[str, str]":
    """Errors: script.hint."""
    parts = []
    if latency is not None:
        if not isinstance(latency, int) or isinstance(latency, bool) or not 1 <= latency <= 10:
            fail("script.hint", f"{what}: latency={latency!r}", "a Python integer from 1 (low) to 10 (high), or None")
        parts.append(f"latency = {latency}")
    if allow_tma is not None:
        if not isinstance(allow_tma, bool):
            fail("script.hint", f"{what}: allow_tma={allow_tma!r}", "True, False or None")
        parts.append(f"allow_tma = {str(allow_tma).lower()}")
    return {"hints": f"<default = {{{', '.join(parts)}}}>"} if parts else {}


def stored(value: "Any", into: "DType", shape: "Shape", what: str) -> Tile:
    """A value as memory of a type takes it: converted if nothing can be lost, repeated to a shape.
    Errors: script.narrowing, script.number, script.shape."""
    number = number_of(value)
    if number is not None:
        check_number(number, into, what)
        return as_tile(number, into, what, shape)
    tile = as_tile(value, None, what)
    if not isinstance(tile.dtype, DType):
        fail("script.dtype", f"{what}: a {tile.dtype} as a value of {into}", "load what it points to")
    if not holds(into, tile.dtype):
        fail("script.narrowing", f"{what}: {tile.dtype} where {into} is stored, which may lose something", f"say so: .astype(script.{into.numpy})")
    return broadcast(_arith.convert(tile, into), shape, what)


def mask_of(mask: "Any", shape: "Shape", what: str) -> Tile:
    """A mask: not 0 is true; repeated to a shape."""
    return broadcast(_arith.convert(as_tile(mask, None, what), BOOL), shape, what)


# --- tiles of arrays

@api
def load(array: Array, /, index: "Any", shape: "Any", *, order: "Any" = "C", padding_mode: "Any" = PaddingMode.UNDETERMINED,
         latency: "Optional[int]" = None, allow_tma: "Optional[bool]" = None, memory_order: "Any" = MemoryOrder.WEAK,
         memory_scope: "Any" = MemoryScope.NONE) -> Tile:
    """The tile with an index in the tile space: the array cut into tiles of `shape`. Element (x, y) of the tile (i, j) of shape (tm, tn) is
    array[i * tm + x, j * tn + y].

    `shape`: Python integers, powers of two; one number for an array of one dimension; () gives one element as a scalar. `order`: "C", "F"
    (axes reversed) or a permutation: dimension k of tile and index runs along axis order[k]. `padding_mode`: what elements outside of
    the array are; undetermined reads as 0 and must not matter. A tile that lies wholly outside is a mistake. `latency`: 1 (little traffic) to
    10, `allow_tma=False`: hints. `memory_order`: WEAK, or RELAXED or ACQUIRE with a `memory_scope`.

        x = script.load(a, (i, k), (128, 64), padding_mode=script.PaddingMode.ZERO)
    """
    check_array(array, "load")
    sizes = tile_shape(array, shape, "load")
    axes = tile_order(array, order, "load")
    padding = member(PaddingMode, padding_mode, "padding_mode", PaddingMode, "load")
    if padding not in (PaddingMode.UNDETERMINED, PaddingMode.ZERO) and array.dtype.kind not in ("float", "small"):
        fail("script.padding", f"load: padding_mode={padding} of {array.dtype}", "integers are padded with PaddingMode.ZERO")
    how = order_of(memory_order, memory_scope, (MemoryOrder.WEAK, MemoryOrder.RELAXED, MemoryOrder.ACQUIRE), "load")
    hints = hints_of(latency, allow_tma, "load")
    at = tile_index(array, index, "load")
    view = partition(array, sizes, axes, padding)
    trace = current("load")
    full = sizes or (1,) * array.ndim
    value, token = trace.emit("load_view_tko", view, at, token=trace.before([array.name], False, how["ordering"]), **how, **hints,
                              results=[type_text(full, array.dtype.element), "token"])
    trace.after([array.name], False, token, how["ordering"])
    tile = make(value, array.dtype, full)
    return tile if sizes else reshape(tile, ())


@api
def store(array: Array, /, index: "Any", tile: "TileLike", *, order: "Any" = "C", latency: "Optional[int]" = None,
          allow_tma: "Optional[bool]" = None, memory_order: "Any" = MemoryOrder.WEAK, memory_scope: "Any" = MemoryScope.NONE) -> None:
    """Writes a tile where `load` with its shape would read. Elements outside of the array are not written. `memory_order`: WEAK, or RELAXED or
    RELEASE with a `memory_scope`. A scalar writes one element.

        script.store(c, (i, j), sum.astype(c.dtype))
    """
    check_array(array, "store", writes=True)
    given = as_tile(tile, array.dtype, "store")
    shape = given.shape
    sizes = tile_shape(array, shape, "store") or (1,) * array.ndim
    value = stored(given, array.dtype, shape, "store")
    how = order_of(memory_order, memory_scope, (MemoryOrder.WEAK, MemoryOrder.RELAXED, MemoryOrder.RELEASE), "store")
    hints = hints_of(latency, allow_tma, "store")
    at = tile_index(array, index, "store")
    view = partition(array, sizes, tile_order(array, order, "store"), PaddingMode.UNDETERMINED)
    trace = current("store")
    whole = reshape(value, sizes)
    token = trace.emit("store_view_tko", use(whole), view, at, token=trace.before([array.name], True, how["ordering"]), **how, **hints,
                       results=["token"])
    trace.after([array.name], True, token, how["ordering"])


# --- any elements of arrays

def _places(array: "Array", indices: "Any", check_bounds: bool, mask: "Any", what: str) -> "Tuple[Tile, Optional[Tile]]":
    """Pointers, and the mask of those inside."""
    if isinstance(indices, Tile) or number_of(indices) is not None:
        parts: "List[Any]" = [indices]
    elif isinstance(indices, (tuple, list)):
        parts = list(indices)
    else:
        fail("script.index", f"{what}: indices {indices!r}", "a tuple of integer tiles and numbers, one per dimension")
    if len(parts) != array.ndim:
        fail("script.index", f"{what}: {len(parts)} indices of the {array._describe}", f"the tuple has {array.ndim}, one per dimension")
    tiles = [as_tile(p, None, what) for p in parts]
    for t in tiles:
        if not isinstance(t.dtype, DType) or not t.dtype.is_integer:
            fail("script.index", f"{what}: an index of {t.dtype}", "indices are integers: convert with astype")
    if not isinstance(check_bounds, bool):
        fail("script.constant", f"{what}: check_bounds={check_bounds!r}", "True or False")
    shape = common_shape([t.shape for t in tiles], what)
    wide = [_arith.convert(t, I64) for t in tiles]
    inside: "Optional[Tile]" = None
    if check_bounds:
        for i, size in zip(wide, array.shape):
            limit = _arith.convert(as_tile(size, I64), I64)
            bit = _below(i, broadcast(limit, i.shape, what))
            inside = bit if inside is None else inside & bit
        inside = broadcast(inside, shape, what) if inside is not None else None
    if mask is not None:
        wanted = mask_of(mask, shape, what)
        inside = wanted if inside is None else inside & wanted
    return array.ptr + broadcast(linear(array, wide), shape, what), inside


def _below(i: Tile, size: Tile) -> Tile:
    """0 <= i < size, as one unsigned comparison."""
    from ._tile import emit

    return emit("cmpi", i, size, type=BOOL, predicate="less_than", signedness="unsigned")


@api
def gather(array: Array, indices: "Any", /, *, mask: "TileLike | None" = None, padding_value: "TileLike" = 0, check_bounds: bool = True,
           latency: "Optional[int]" = None) -> Tile:
    """The elements at any indices; `padding_value` where they are outside of the array or `mask` is not true.

        row = script.gather(table, (ids[:, None], script.arange(64)))
    """
    from .pointer import read

    check_array(array, "gather", space="global")
    pointers, inside = _places(array, indices, check_bounds, mask, "gather")
    return read(pointers, inside, None if inside is None else padding_value, {"ordering": "weak", **hints_of(latency, None, "gather")}, "gather")


@api
def scatter(array: Array, indices: "Any", value: "TileLike", /, *, mask: "TileLike | None" = None, check_bounds: bool = True,
            latency: "Optional[int]" = None) -> None:
    """Writes to any indices; nothing where they are outside of the array or `mask` is not true. No two may be equal."""
    from .pointer import write

    check_array(array, "scatter", writes=True, space="global")
    pointers, inside = _places(array, indices, check_bounds, mask, "scatter")
    write(pointers, value, inside, {"ordering": "weak", **hints_of(latency, None, "scatter")}, "scatter")


@api
def atomic_cas(array: Array, indices: "Any", expected: "TileLike", desired: "TileLike", /, *, check_bounds: bool = True,
               memory_order: "Any" = MemoryOrder.ACQ_REL, memory_scope: "Any" = MemoryScope.DEVICE) -> Tile:
    """Compare-and-swap of each element named: where it equals `expected` bit for bit it becomes `desired`. Gives the values before;
    where an index is outside, the value expected. `expected` and `desired` are repeated to the shape of the indices. Elements are integers or
    floats of 32 or 64 bits.

        old = script.atomic_cas(x, script.arange(4), 0, 42)
    """
    from .pointer import compare_exchange

    check_array(array, "atomic_cas", writes=True, space="global")
    how = order_of(memory_order, memory_scope, _ATOMIC, "atomic_cas")
    pointers, inside = _places(array, indices, check_bounds, None, "atomic_cas")
    return compare_exchange(pointers, expected, desired, inside, how, "atomic_cas")


def _update(what: str, function: str, array: "Array", indices: "Any", update: "Any", check_bounds: bool, memory_order: "Any",
            memory_scope: "Any") -> Tile:
    from .pointer import update as apply

    check_array(array, what, writes=True, space="global")
    how = order_of(memory_order, memory_scope, _ATOMIC, what)
    pointers, inside = _places(array, indices, check_bounds, None, what)
    return apply(function, pointers, update, inside, how, what)


@api
def atomic_xchg(array: Array, indices: "Any", update: "TileLike", /, *, check_bounds: bool = True,
                memory_order: "Any" = MemoryOrder.ACQ_REL, memory_scope: "Any" = MemoryScope.DEVICE) -> Tile:
    """Puts `update` into each element named. Gives the values before, unspecified outside. Integers and floats of 32 or 64 bits."""
    return _update("atomic_xchg", "xchg", array, indices, update, check_bounds, memory_order, memory_scope)


@api
def atomic_add(array: Array, indices: "Any", update: "TileLike", /, *, check_bounds: bool = True,
               memory_order: "Any" = MemoryOrder.ACQ_REL, memory_scope: "Any" = MemoryScope.DEVICE) -> Tile:
    """Adds to each element named; equal indices all count. Gives the values before, unspecified outside. Integers of 32 or 64 bits (they wrap)
    and floats f16, bf16, f32, f64.

        script.atomic_add(bins, value, 1, memory_order="relaxed")
    """
    return _update("atomic_add", "add", array, indices, update, check_bounds, memory_order, memory_scope)


@api
def atomic_max(array: Array, indices: "Any", update: "TileLike", /, *, check_bounds: bool = True,
               memory_order: "Any" = MemoryOrder.ACQ_REL, memory_scope: "Any" = MemoryScope.DEVICE) -> Tile:
    """The larger of element and `update`. Gives the values before, unspecified outside. Integers of 32 or 64 bits."""
    return _update("atomic_max", "max", array, indices, update, check_bounds, memory_order, memory_scope)


@api
def atomic_min(array: Array, indices: "Any", update: "TileLike", /, *, check_bounds: bool = True,
               memory_order: "Any" = MemoryOrder.ACQ_REL, memory_scope: "Any" = MemoryScope.DEVICE) -> Tile:
    """The smaller of element and `update`. Gives the values before, unspecified outside. Integers of 32 or 64 bits."""
    return _update("atomic_min", "min", array, indices, update, check_bounds, memory_order, memory_scope)


@api
def atomic_and(array: Array, indices: "Any", update: "TileLike", /, *, check_bounds: bool = True,
               memory_order: "Any" = MemoryOrder.ACQ_REL, memory_scope: "Any" = MemoryScope.DEVICE) -> Tile:
    """Bitwise and. Gives the values before, unspecified outside. Integers of 32 or 64 bits."""
    return _update("atomic_and", "and", array, indices, update, check_bounds, memory_order, memory_scope)


@api
def atomic_or(array: Array, indices: "Any", update: "TileLike", /, *, check_bounds: bool = True,
              memory_order: "Any" = MemoryOrder.ACQ_REL, memory_scope: "Any" = MemoryScope.DEVICE) -> Tile:
    """Bitwise or. Gives the values before, unspecified outside. Integers of 32 or 64 bits."""
    return _update("atomic_or", "or", array, indices, update, check_bounds, memory_order, memory_scope)


@api
def atomic_xor(array: Array, indices: "Any", update: "TileLike", /, *, check_bounds: bool = True,
               memory_order: "Any" = MemoryOrder.ACQ_REL, memory_scope: "Any" = MemoryScope.DEVICE) -> Tile:
    """Bitwise exclusive or. Gives the values before, unspecified outside. Integers of 32 or 64 bits."""
    return _update("atomic_xor", "xor", array, indices, update, check_bounds, memory_order, memory_scope)


__all__ = ["load", "store", "gather", "scatter", "atomic_cas", "atomic_xchg", "atomic_add", "atomic_max", "atomic_min", "atomic_and",
           "atomic_or", "atomic_xor"]
