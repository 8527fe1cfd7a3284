"""Arrays: arguments of a kernel in global memory, and `shared` memory of a block; views of them.

A view cuts an array into tiles; equal views are made once, in front of everything.
"""
from __future__ import annotations

from . import _arith
from ._api import api
from ._dtypes import I32, I64, DType, PointerType, dtype
from ._enums import PaddingMode
from ._foreign import Foreign, no_attribute, operator_text
from ._functions import permutation_of, scalar_index
from ._tile import Tile, as_tile, constant, make, number_of, shape_of, use
from ._trace import current, fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator, List, NoReturn, Optional, Sequence, Tuple, Union

    from ..builder import Value

    Size = Union[int, Tile]


class Array(Foreign):
    """An array: `shape` (numbers, or scalar tiles where the signature has a name), `dtype`, `ndim`, `name`; `ptr`, a scalar pointer to its
    first element (arrays of global memory), `strides` in elements."""

    __slots__ = ("name", "dtype", "shape", "strides", "writable", "space", "_base", "_make", "_view_type")

    def __init__(self, name: str, type: "DType", shape: "Tuple[Size, ...]", strides: "Tuple[Size, ...]", writable: bool,
                 base: "Value", view_type: str, make_view: "Callable[[], Value]", space: str = "global") -> None:
        self.name = name
        self.dtype = type
        self.shape = shape
        self.strides = strides
        self.writable = writable
        self.space = space
        self._base = base
        self._view_type = view_type
        self._make = make_view

    @property
    def _view(self) -> "Value":
        """The tensor_view: made in front if the run before needed it, else here."""
        return _cached((self.name, ""), self._make)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def ptr(self) -> Tile:
        """A scalar pointer to the first element; `x.ptr + offsets` is a tile of pointers. Errors: script.space for shared arrays."""
        if self.space == "shared":
            fail("script.space", f"a pointer into the shared array {self.name}", "pointers lead to global memory; use script.load, script.store, script.atomic")
        return make(self._base, PointerType(self.dtype, not self.writable), (), frozenset((self.name,)))

    def __repr__(self) -> str:
        return f"<{self._describe}>"

    @property
    def _describe(self) -> str:
        sizes = ", ".join("?" if isinstance(s, Tile) else str(s) for s in self.shape)
        return f"{'shared ' if self.space == 'shared' else ''}array {self.name}: {self.dtype.name}[{sizes}]"

    def __getitem__(self, key: "Any") -> "Any":
        fail("script.value", f"the {self._describe} with an index in brackets",
             "script.load(x, index, shape) gives a tile of it, script.gather(x, indices) any elements")

    def __setitem__(self, key: "Any", value: "Any") -> None:
        fail("script.value", f"the {self._describe} with an index in brackets",
             "script.store(y, index, tile) writes a tile of it, script.scatter(y, indices, tile) any elements")

    def __iter__(self) -> "Iterator[NoReturn]":
        fail("script.value", f"a loop over the {self._describe}", "for i in script.range(script.num_tiles(x, 0, shape)): script.load(x, i, shape)")

    def __len__(self) -> int:
        fail("script.value", f"len() of the {self._describe}", "its sizes are in .shape, which may be scalar tiles")

    def __bool__(self) -> bool:
        return True

    def __getattr__(self, name: str) -> "Any":
        if name in _SPELLED:
            raise no_attribute(f"the {self._describe}", name, _SPELLED[name])
        of_tile = not name.startswith("_") and hasattr(Tile, name)
        raise no_attribute(f"the {self._describe}", name, f"a tile of it has: script.load(x, index, shape).{name}" if of_tile else "")

    def at(self, *indices: "Any") -> "Any":
        """The place of an element, for the classic atomic functions: of a global array a tile of pointers (indices may be tiles), of
        a shared array one element. Bounds are not checked here; the launch does."""
        if len(indices) != self.ndim:
            fail("script.index", f"{len(indices)} indices of the {self._describe}", f"it has {self.ndim} dimensions")
        if self.space == "global":
            return self.ptr + linear(self, [as_tile(i, None, "at") for i in indices])
        return TileRef(self, tuple(indices), (1,) * self.ndim, "C", scalar=True)


# What other libraries call attributes of an array.
_SPELLED = {"size": "x.shape[0], or the product of x.shape", "numel": "the product of x.shape", "dim": "x.ndim", "rank": "x.ndim", "stride": "x.strides[0]",
            "data_ptr": "x.ptr", "data": "x.ptr", "address": "x.ptr", "itemsize": "x.dtype.bits // 8", "element_size": "x.dtype.bits // 8"}


def _no_operator(sign: str) -> "Callable[..., Any]":
    def refuse(self: Array, *_: "Any") -> "NoReturn":
        fail("script.value", f"{sign} of the {self._describe}", "load a tile of it first: script.load(x, index, shape)")

    return refuse


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift"):
    for _side in ("", "r"):
        setattr(Array, f"__{_side}{_name.rstrip('_')}__", _no_operator(operator_text(_name)))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Array, f"__{_name}__", _no_operator(operator_text(_name)))
for _name, _sign in (("neg", "-"), ("pos", "+"), ("abs", "abs()"), ("invert", "~"), ("float", "float()"), ("int", "int()"), ("index", "the number"),
                     ("round", "round()"), ("call", "a call")):
    setattr(Array, f"__{_name}__", _no_operator(_sign))


class TileRef:
    """A tile of an array as a place, for elementwise atomics: `shape`."""

    __slots__ = ("array", "index", "shape", "order", "scalar")

    def __init__(self, array: "Array", index: "Any", shape: "Tuple[int, ...]", order: "Any", scalar: bool = False) -> None:
        self.array = array
        self.index = index
        self.shape = shape
        self.order = order
        self.scalar = scalar


@api
def tile(array: Array, /, index: "Any", shape: "Any", *, order: "Any" = "C") -> TileRef:
    """The tile with an index in the tile space of a shape, as a place for script.atomic: what `load` would read.

        script.atomic.global_add(script.tile(x, i, 128), values)
    """
    check_array(array, "tile")
    sizes = tile_shape(array, shape, "tile")
    return TileRef(array, index, sizes, order)


@api
def shared(shape: "Any", dtype: "Any", *, alignment: int = 16) -> Array:
    """A new array in the block's shared memory, of numbers of any size; its contents are unspecified. At the top level of a kernel.

        bins = script.shared(256, script.int32)
        script.store(bins, 0, script.zeros(256, script.int32))
    """
    trace = current("shared")
    sizes = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    if not sizes or any(not isinstance(s, int) or isinstance(s, bool) or s < 1 for s in sizes):
        fail("script.constant", f"shared: shape {shape!r}", "sizes are positive Python integers")
    if trace.region.kind != "kernel":
        fail("script.scope", "shared memory made in a loop or a branch", "make it before: it lives as long as the block")
    type = _type(dtype)
    strides = row_major(sizes)
    name = f"shared{trace.shared}"
    trace.shared += 1
    made = f"tensor_view<{'x'.join(map(str, sizes))}x{type.element}, strides=[{','.join(map(str, strides))}], shared>"
    at_least = max(alignment, type.bits // 8)
    view: "Value" = trace.emit("alloc_shared", alignment=at_least, results=[made])
    array = Array(name, type, tuple(sizes), tuple(strides), True, view, made, lambda: view, "shared")
    make_planned_views(array)
    return array


def _type(value: "Any") -> "DType":
    return dtype(value)


def row_major(sizes: "Sequence[int]") -> "List[int]":
    out = [1] * len(sizes)
    for d in reversed(range(len(sizes) - 1)):
        out[d] = out[d + 1] * sizes[d + 1]
    return out


def check_array(array: "Any", what: str, writes: bool = False, space: str = "") -> None:
    """Errors: script.type, script.const (an input is written), script.space."""
    if not isinstance(array, Array):
        other = "; pointers go to script.pointer" if isinstance(array, Tile) and isinstance(array.dtype, PointerType) else ""
        fail("script.type", f"{what}: {array!r} is no array",
             f"pass an argument of the kernel that the signature declares as an array, or script.shared(…){other}")
    if writes and not array.writable:
        fail("script.const", f"{what} changes `{array.name}`, which is an input",
             f"declare it as an output (behind ->), or as `inout {array.name}`, in the signature")
    if space and array.space != space:
        other_space = "global" if space == "shared" else "shared"
        fail("script.space", f"{what} of the {other_space} array `{array.name}`", f"use the {other_space} form")


def tile_shape(array: "Array", shape: "Any", what: str) -> "Tuple[int, ...]":
    """The shape of a tile of an array: of its rank; () stands for one element. Errors: script.shape, script.constant."""
    sizes = shape_of(shape, what)
    if sizes == ():
        return ()
    if len(sizes) != array.ndim:
        fail("script.shape", f"{what}: a tile of shape {sizes} of the {array._describe}", f"name {array.ndim} sizes")
    return sizes


def tile_order(array: "Array", order: "Any", what: str) -> "Tuple[int, ...]":
    """"C", "F" or a permutation, as one. Errors: script.order."""
    axes = tuple(range(array.ndim))
    if isinstance(order, str):
        if order not in ("C", "F"):
            fail("script.order", f"{what}: order={order!r}", "use 'C', 'F', or a permutation of the axes")
        return axes if order == "C" else axes[::-1]
    return permutation_of(order, array.ndim, f"{what}: order")


def tile_index(array: "Array", index: "Any", what: str) -> "Tuple[Value, ...]":
    """The operands of a tile's index: all of one type. Errors: script.index."""
    parts = tuple(index) if isinstance(index, (tuple, list)) else (index,)
    if len(parts) != array.ndim:
        fail("script.index", f"{what}: {len(parts)} indices of the {array._describe}", f"name {array.ndim}, one per dimension of the tile")
    wide = any(isinstance(p, Tile) and isinstance(p.dtype, DType) and (p.dtype.bits == 64 or p.dtype.name == "u32") for p in parts)
    wide = wide or any(isinstance(number_of(p), int) and abs(int(number_of(p) or 0)) >= 1 << 31 for p in parts)
    return tuple(use(_arith.convert(scalar_index(p, what), I64 if wide else I32)) for p in parts)


def partition(array: "Array", shape: "Tuple[int, ...]", order: "Tuple[int, ...]", padding: "PaddingMode") -> "Value":
    """The view that cuts an array into tiles."""
    current("a view")
    sizes = shape or (1,) * array.ndim
    pad = "" if padding is PaddingMode.UNDETERMINED else f"padding_value = {padding.value}, "
    mapped = "" if order == tuple(range(array.ndim)) else f", dim_map=[{', '.join(map(str, order))}]"
    made = f"partition_view<tile=({'x'.join(map(str, sizes))}), {pad}{array._view_type}{mapped}>"
    return _partition(array, made)


def _partition(array: "Array", made: str) -> "Value":
    def make_view() -> "Value":
        view: "Value" = current("a view").emit("make_partition_view", array._view, results=[made])
        return view

    return _cached((array.name, made), make_view)


def _cached(key: "Tuple[str, str]", make_view: "Callable[[], Value]") -> "Value":
    trace = current("a view")
    trace.found.views.add(key)
    known = trace.views.get(key)
    if known is None or not trace.visible(known[1]):
        known = trace.views[key] = (make_view(), trace.region)
    return known[0]


def make_planned_views(array: "Array") -> None:
    """The views of an array that the run before used."""
    for name, made in sorted(current("a view").plan.views):
        if name == array.name:
            array._view if not made else _partition(array, made)


@api
def num_tiles(array: Array, /, axis: int, shape: "Any", *, order: "Any" = "C") -> Tile:
    """How many tiles of a shape an array has along an axis of its tile space: size / tile, rounded up; a scalar int32.

        for k in script.range(script.num_tiles(a, 1, (64, 32))):
            tile = script.load(a, (i, k), (64, 32))
    """
    check_array(array, "num_tiles")
    from ._functions import axis_of

    sizes = tile_shape(array, shape, "num_tiles") or (1,) * array.ndim
    at = axis_of(axis, array.ndim, "num_tiles")
    view = partition(array, sizes, tile_order(array, order, "num_tiles"), PaddingMode.UNDETERMINED)
    trace = current("num_tiles")
    wide = any(isinstance(s, Tile) and s.dtype is I64 for s in array.shape)
    element = "i64" if wide else "i32"
    made = trace.emit("get_index_space_shape", view, results=[f"tile<{element}>"] * array.ndim)
    return make(made[at] if array.ndim > 1 else made, I64 if wide else I32, ())


def linear(array: "Array", indices: "Sequence[Tile]") -> Tile:
    """Where elements lie, in elements from the first: int64."""
    total: "Optional[Tile]" = None
    for i, stride in zip(indices, array.strides):
        if not isinstance(i.dtype, DType) or not i.dtype.is_integer:
            fail("script.index", f"an index of {i.dtype}", "indices are integers")
        wide = _arith.convert(i, I64)
        part = wide if isinstance(stride, int) and stride == 1 else wide * (stride if isinstance(stride, int) else _arith.convert(stride, I64))
        total = part if total is None else total + part
    return total if total is not None else constant(0, I64)


__all__ = ["Array", "TileRef", "tile", "shared", "num_tiles"]
