"""Atomic updates of tiles in memory: elementwise, and scattered along one dimension.

    script.atomic.shared_add(counts, values)                             # each element its own
    script.atomic.shared_scatter_add(bins, dim=0, indices=i, values=ones)   # bins[i[k]] += ones[k]
    old = script.atomic.shared_cas(lock, compare=zero, values=one)
    if old == 0: ...

`dst` is a whole array of the shape of `values` (its shape must be constant), or `script.tile(array, index, shape)`; a scalar of an array of one
element may be one. Nothing is repeated or converted. In the scatter form `dst` is an array. `indices` and `values` have one shape, equal to
that of the array in every dimension but `dim`. Element J changes the place J with J[dim] replaced by indices[J]; equal places all count.
An index outside is a mistake; with `check_bounds=True` it is left out.

`sem`: "relaxed", "acquire", "release", "acq_rel". `scope`: "cta", "cluster", "gpu", "sys"; by default "cta" on shared and "gpu" on global
memory. Each gives the values before, as a tile; nobody pays for it who does not use it. `output`: a `script.register` that takes them,
or None for none (not of exch and cas). Element types: i32, i64, u32, u64; add and sub also floats, exch and cas also f32 and f64.
"""
from __future__ import annotations

from ._api import api
from ._array import Array, TileRef, check_array, partition, tile_index, tile_order
from ._dtypes import DType, dtype
from ._enums import PaddingMode
from ._functions import reshape
from ._tile import Tile, as_tile, make, shape_of, type_text, use
from ._trace import current, fail
from .pointer import mode_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Optional, Tuple, Union

    Destination = Union[Array, TileRef]

_SEMS = ("relaxed", "acquire", "release", "acq_rel")
_SCOPES = {"cta": "tl_blk", "cluster": "cluster", "gpu": "device", "sys": "sys"}


class _Returned:
    def __repr__(self) -> str:
        return "RETURNED"


RETURNED = _Returned()  # the default of `output`: the values before are what the call gives


class Register:
    """A place for the `output` of an atomic; `value` is the tile that it holds. Made by `script.register`."""

    __slots__ = ("shape", "dtype", "_value")

    def __init__(self, shape: "Tuple[int, ...]", type: "DType") -> None:
        self.shape = shape
        self.dtype = type
        self._value: "Optional[Tile]" = None

    @property
    def value(self) -> Tile:
        """Errors: script.unset before an atomic has filled it."""
        if self._value is None:
            fail("script.unset", "a register that nothing was put into", "pass it as output= first")
        return self._value


@api
def register(shape: "Any", dtype: "Any") -> Register:
    """A place for the values that an atomic finds.

        old = script.register(128, script.int32)
        script.atomic.global_add(x, values, output=old)
        script.store(y, 0, old.value)
    """
    return Register(shape_of(shape, "register"), _dtype(dtype))


def _dtype(value: "Any") -> "DType":
    return dtype(value)


def how(sem: "Any", scope: "Any", what: str) -> "Dict[str, str]":
    """Errors: script.sem, script.memory_scope."""
    if sem not in _SEMS:
        fail("script.sem", f"{what}: sem={sem!r}", f"use one of {', '.join(map(repr, _SEMS))}")
    if scope not in _SCOPES:
        fail("script.memory_scope", f"{what}: scope={scope!r}", f"use one of {', '.join(map(repr, _SCOPES))}")
    return {"ordering": sem, "scope": _SCOPES[scope]}


def place_of(dst: "Destination", shape: "Tuple[int, ...]", space: str, what: str) -> "Tuple[Array, Any, Tuple[Any, ...]]":
    """Array, view and index of an elementwise destination. Errors: script.type, script.shape."""
    if isinstance(dst, Array):
        check_array(dst, what, writes=True, space=space)
        if any(isinstance(s, Tile) for s in dst.shape):
            fail("script.shape", f"{what}: the shape of the {dst._describe} is not constant",
                 "name the tile that is meant: script.tile(array, index, shape)")
        dst = TileRef(dst, (0,) * dst.ndim, shape_of(dst.shape, what), "C")
    if not isinstance(dst, TileRef):
        fail("script.type", f"{what}: {dst!r} is no destination", "pass an array, or script.tile(array, index, shape)")
    check_array(dst.array, what, writes=True, space=space)
    if shape != dst.shape and not (shape == () and set(dst.shape) <= {1}):
        fail("script.shape", f"{what}: values of shape {shape} for a destination of shape {dst.shape}", "the shapes are equal: nothing is repeated here")
    view = partition(dst.array, dst.shape, tile_order(dst.array, dst.order, what), PaddingMode.UNDETERMINED)
    return dst.array, view, tile_index(dst.array, dst.index, what)


def _values(values: "Any", type: "DType", what: str) -> Tile:
    if not isinstance(values, Tile):
        fail("script.type", f"{what}: {values!r} is no tile", "script.full(shape, number, dtype) makes one")
    tile = as_tile(values, None, what)
    if tile.dtype is not type:
        fail("script.dtype", f"{what}: {tile.dtype} for a destination of {type}", f"convert with astype(script.{type.numpy})")
    return tile


def elementwise(function: str, dst: "Destination", values: Tile, compare: "Optional[Tile]", attributes: "Dict[str, str]", space: str,
                what: str) -> Tile:
    """Of checked attributes; gives the values before in the shape of the values."""
    array = dst.array if isinstance(dst, TileRef) else dst
    check_array(array, what, writes=True, space=space)
    mode = mode_of(function, array.dtype, what)
    new = _values(values, array.dtype, what)
    array, view, index = place_of(dst, new.shape, space, what)
    full = dst.shape if isinstance(dst, TileRef) else shape_of(array.shape, what)
    trace = current(what)
    before = trace.before([array.name], True, attributes["ordering"])
    results = [type_text(full, array.dtype.element), "token"]
    if function == "cas":
        expected = _values(compare, array.dtype, f"{what}: compare")
        if expected.shape != new.shape:
            fail("script.shape", f"{what}: compare of shape {expected.shape}, values of shape {new.shape}", "the shapes are equal")
        old, token = trace.emit("atomic_cas_view_tko", view, index, cmp=use(reshape(expected, full)), value=use(reshape(new, full)), token=before,
                                **attributes, results=results)
    else:
        old, token = trace.emit("atomic_rmw_view_tko", view, index, value=use(reshape(new, full)), mode=mode, token=before, **attributes,
                                results=results)
    trace.after([array.name], True, token, attributes["ordering"])
    return reshape(make(old, array.dtype, full), new.shape)


def _check_output(output: "Any", shape: "Tuple[int, ...]", type: "DType", function: str, what: str) -> None:
    if output is None and function in ("xchg", "cas"):
        fail("script.output", f"{what}: output=None", "an exchange always gives the value before: leave output= out")
    if output is not None and output is not RETURNED:
        if not isinstance(output, Register):
            fail("script.output", f"{what}: output={output!r}", "pass a script.register(shape, dtype), None, or leave it out")
        if output.shape != shape or output.dtype is not type:
            fail("script.output", f"{what}: an output of {output.dtype}{list(output.shape)} for values of {type}{list(shape)}", "they are equal")


def _given(output: "Any", old: Tile) -> "Optional[Tile]":
    if isinstance(output, Register):
        output._value = old
    return None if output is None else old


_MODES = {"exch": "xchg"}
_DOES = {"add": "dst += values", "sub": "dst -= values", "min": "the smaller of dst and values", "max": "the larger of dst and values",
         "exch": "dst = values", "cas": "dst = values where dst == compare, bit for bit"}


def _elementwise(space: str, function: str) -> "Any":
    name, mode, default = f"{space}_{function}", _MODES.get(function, function), "cta" if space == "shared" else "gpu"
    what = f"atomic.{name}"

    def run(dst: "Destination", values: "Any", compare: "Any", output: "Any", sem: str, scope: str) -> "Optional[Tile]":
        attributes = how(sem, scope, what)
        if isinstance(values, Tile) and isinstance(values.dtype, DType):
            _check_output(output, values.shape, values.dtype, mode, what)
        return _given(output, elementwise(mode, dst, values, compare, attributes, space, what))

    def update(dst: "Destination", values: Tile, *, output: "Any" = RETURNED, sem: str = "relaxed", scope: str = default) -> "Optional[Tile]":
        return run(dst, values, None, output, sem, scope)

    def swap(dst: "Destination", compare: Tile, values: Tile, *, output: "Any" = RETURNED, sem: str = "relaxed",
             scope: str = default) -> "Optional[Tile]":
        return run(dst, values, compare, output, sem, scope)

    made: "Any" = swap if function == "cas" else update
    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"Element by element, {_DOES[function]}, in {space} memory."
    return api(made)


def _check_scatter(dst: "Any", dim: "Any", indices: "Any", values: "Any", space: str, check_bounds: "Any", what: str) -> "Tuple[Tile, Tile]":
    check_array(dst, what, writes=True, space=space)
    if not isinstance(dim, int) or isinstance(dim, bool) or not 0 <= dim < dst.ndim:
        fail("script.axis", f"{what}: dim={dim!r} of the {dst._describe}", f"a Python integer from 0 to {dst.ndim - 1}")
    new = _values(values, dst.dtype, what)
    if not isinstance(indices, Tile) or not indices.dtype.is_integer:
        fail("script.index", f"{what}: indices {indices!r}", "a tile of integers")
    if not isinstance(check_bounds, bool):
        fail("script.constant", f"{what}: check_bounds={check_bounds!r}", "True or False")
    shapes = f"indices of shape {indices.shape}, values of shape {new.shape}, the {dst._describe}"
    if indices.shape != new.shape or new.ndim != dst.ndim:
        fail("script.shape", f"{what}: {shapes}", "indices and values have one shape, with as many dimensions as the array")
    for d, size in enumerate(dst.shape):
        if d != dim and not isinstance(size, Tile) and size != new.shape[d]:
            fail("script.shape", f"{what}: {shapes}: dimension {d} differs", f"only dimension dim={dim} may")
    return indices, new


def _scatter(space: str, function: str) -> "Any":
    name, default = f"{space}_scatter_{function}", "cta" if space == "shared" else "gpu"
    what = f"atomic.{name}"

    def scatter(dst: Array, dim: int, indices: Tile, values: Tile, *, output: "Any" = RETURNED, sem: str = "relaxed", scope: str = default,
                check_bounds: bool = False) -> "Optional[Tile]":
        at, new = _check_scatter(dst, dim, indices, values, space, check_bounds, what)
        attributes = how(sem, scope, what)
        mode = mode_of(function, dst.dtype, what)
        _check_output(output, new.shape, dst.dtype, function, what)
        trace = current(what)
        old, token = trace.emit("atomic_scatter_view_tko", dst._view, use(at), use(new), dim=dim, mode=mode, check_bounds=check_bounds,
                                token=trace.before([dst.name], True, attributes["ordering"]), **attributes,
                                results=[type_text(new.shape, dst.dtype.element), "token"])
        trace.after([dst.name], True, token, attributes["ordering"])
        return _given(output, make(old, dst.dtype, new.shape))

    scatter.__name__ = scatter.__qualname__ = name
    scatter.__doc__ = f"{_DOES[function].capitalize()} at the places that indices and dim name, in {space} memory."
    return api(scatter)


def _store_scatter(space: str) -> "Any":
    what = f"store_{space}_scatter"

    def scatter(dst: Array, dim: int, indices: Tile, values: Tile, *, check_bounds: bool = False) -> None:
        at, new = _check_scatter(dst, dim, indices, values, space, check_bounds, what)
        trace = current(what)
        token = trace.emit("store_scatter_view_tko", dst._view, use(at), use(new), dim=dim, check_bounds=check_bounds,
                           token=trace.before([dst.name], True), results=["token"])
        trace.after([dst.name], True, token)

    scatter.__name__ = scatter.__qualname__ = what
    scatter.__doc__ = (f"Writes values to the places that indices and dim name, in {space} memory, as script.atomic's scatter form does but not "
                       "atomically: of equal places one value stays.")
    return api(scatter)


shared_add, shared_sub, shared_min, shared_max, shared_exch, shared_cas = (
    _elementwise("shared", f) for f in ("add", "sub", "min", "max", "exch", "cas"))
global_add, global_sub, global_min, global_max, global_exch, global_cas = (
    _elementwise("global", f) for f in ("add", "sub", "min", "max", "exch", "cas"))
shared_scatter_add, shared_scatter_sub, shared_scatter_min, shared_scatter_max = (_scatter("shared", f) for f in ("add", "sub", "min", "max"))
global_scatter_add, global_scatter_sub, global_scatter_min, global_scatter_max = (_scatter("global", f) for f in ("add", "sub", "min", "max"))
store_shared_scatter = _store_scatter("shared")
store_global_scatter = _store_scatter("global")

__all__ = [f"{s}_{f}" for s in ("shared", "global") for f in ("add", "sub", "min", "max", "exch", "cas")]
__all__ += [f"{s}_scatter_{f}" for s in ("shared", "global") for f in ("add", "sub", "min", "max")]
