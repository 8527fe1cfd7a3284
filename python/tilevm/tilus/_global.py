"""Global memory: each access has a tile of pointers and a mask. As in Tilus, loads outside of a tensor give zero, and stores there do nothing.

A layout gives the offset of an element as an expression of its coordinates, which is evaluated on tiles of coordinates.
"""
from __future__ import annotations

from . import _scan
from ._expr import compare
from ._refuse import Refusal
from ._translate import Translator, row
from ._types import dtypes, is_pointer, is_small, pointer_to
from ._writer import Tile, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Optional, Sequence, Tuple


class Elements:
    """Elements of global memory: pointers, a mask of those that exist (None: all), and their offsets from the pointer of the tensor.

    `pointers` is one pointer for types of less than eight bits, which have no addresses of their own."""

    def __init__(self, pointers: Tile, mask: "Optional[Tile]", offsets: Tile) -> None:
        self.pointers, self.mask, self.offsets = pointers, mask, offsets


@row("GlobalViewInst")
def _view(t: Translator, i: "Any") -> None:
    base = t.x.value(i.ptr)
    if not is_pointer(base.dtype):
        raise Refusal("a view of memory at a number", "pass a pointer, such as ~float16, to global_view")
    t.views[i.output] = t.x.cast(base, pointer_to(i.output.dtype))


@row("AllocateGlobalInst")
def _allocate(t: Translator, i: "Any") -> None:
    t.views[i.output] = Tile(t.tiles[i], (), pointer_to(i.output.dtype))


@row("SliceGlobalInst")
def _slice(t: Translator, i: "Any") -> None:
    """The pointer of a slice leads to its first element. Small types have none: their slices keep the tensor's pointer, and an offset."""
    source, target = i.inputs[0], i.output
    base: Tile = t.views[source]
    for axis, offset in zip(source.layout.axes, i.offsets):
        t.state[axis] = t.x.int64(offset)
    begin = t.x.int64(source.layout.offset)
    if is_small(base.dtype.base_type):
        t.views[target], t.tiles[target] = base, _moved(t, source, begin)
    else:
        t.views[target] = t.x.op("offset", base, begin, dtype=base.dtype)


def _moved(t: Translator, tensor: "Any", offset: Tile) -> Tile:
    """An offset in a tensor as one from the tensor's pointer."""
    begin = t.tiles.get(tensor)
    return offset if begin is None else t.x.op("addi", offset, begin, dtype=offset.dtype)


def window(t: Translator, tensor: "Any", offsets: "Sequence[Any]", dims: "Optional[Sequence[int]]", shape: "Sequence[int]") -> Elements:
    """A window of a tensor at an offset in each dimension. `dims` are those that it has, None for the first ones; as in Tilus, their order does
    not matter."""
    int64, rank = dtypes.int64, len(tensor.layout.shape)
    full = [1] * rank
    for d, size in zip(range(rank) if dims is None else sorted(dims), shape):
        full[d] = size
    mask: "Optional[Tile]" = None
    places: "List[Tile]" = []
    for d, whole in enumerate(tensor.layout.shape):
        at = t.w.reshape(t.x.int64(offsets[d]), (1,) * rank)
        if full[d] > 1:
            at = t.x.op("addi", t.iota(d, full, int64), at, dtype=int64)
        exists = t.x.op("cmpi less_than", at, t.x.int64(whole), dtype=dtypes.boolean, words=", unsigned")
        mask = t.both(t.both(mask, t.inside(d, full)), exists)
        places.append(at)
    for axis, at in zip(tensor.layout.axes, places):
        t.state[axis] = at
    return _elements(t, t.views[tensor], _moved(t, tensor, t.x.int64(tensor.layout.offset)), mask, full, shape)


def _elements(t: Translator, base: Tile, offset: Tile, mask: "Optional[Tile]", full: "Sequence[int]", shape: "Sequence[int]") -> Elements:
    """Elements in tiles of `shape`, from tiles of `full`: that has dimensions of size 1 more."""
    def fit(tile: Tile) -> Tile:
        return t.w.reshape(t.w.broadcast(tile, full), shape)

    offset = fit(offset)
    pointers = base if is_small(base.dtype.base_type) else t.x.op("offset", t.w.broadcast(base, shape), offset, dtype=base.dtype)
    return Elements(pointers, None if mask is None else fit(mask), offset)


def fitted(t: Translator, value: Tile, shape: "Sequence[int]") -> Tile:
    """A value in the shape of an access: a scalar or a tile of this rank is repeated, others have the same elements."""
    return t.w.broadcast(value, shape) if len(value.shape) in (0, len(shape)) else t.w.reshape(value, shape)


# --- loads and stores of windows


def load(t: Translator, w: Elements, dtype: "Any", token: "Optional[Token]", ordering: str = "weak") -> "Tuple[Tile, Token]":
    if is_small(dtype):
        from ._small import load_packed

        return load_packed(t, w, dtype, token)
    made, after = Tile(t.w.name(), w.pointers.shape, dtype), Token(t.w.name())
    behind = "" if w.mask is None else f", {w.mask}, {t.x.number(0, dtype)}"
    t.w.put(f"{made}, {after} = load_ptr_tko {ordering} {w.pointers}{behind}{'' if token is None else f' token = {token}'}")
    return made, after


def store(t: Translator, w: Elements, value: Tile, token: "Token", ordering: str = "weak") -> Token:
    if is_small(value.dtype):
        from ._small import store_packed

        return store_packed(t, w, value, token)
    mask = "" if w.mask is None else f", {w.mask}"
    return t.w.token(f"store_ptr_tko {ordering} {w.pointers}, {fitted(t, value, w.pointers.shape)}{mask} token = {token}")


def threads_of(t: Translator, tensor: "Any", register: "Any", offsets: "Sequence[Any]" = ()) -> "Any":
    """A key that two accesses share if each of their threads has the same elements; None if that is not known."""
    layout = _scan.layout_key(register)
    return None if layout is None else (t.memory.root(tensor), layout, tuple(map(str, offsets)))


@row("LoadGlobalInst")
def _load(t: Translator, i: "Any") -> None:
    w = window(t, i.inputs[0], i.offsets, i.dims, i.output.shape)
    t.define(i.output, loaded(t, w, i.inputs[0], threads_of(t, i.inputs[0], i.output, i.offsets)))


def loaded(t: Translator, w: Elements, tensor: "Any", threads: "Any", dtype: "Any" = None) -> Tile:
    """Loads elements, in order with stores of the program to the same memory."""
    dtype = dtype or tensor.dtype
    if not t.memory.is_written(tensor):
        return load(t, w, dtype, None)[0]
    value, after = load(t, w, dtype, t.order.before(threads))
    t.order.after(after, threads)
    return value


@row("StoreGlobalInst")
def _store(t: Translator, i: "Any") -> None:
    tensor, source = i.inputs
    w = window(t, tensor, i.offsets, i.dims, source.shape)
    threads = threads_of(t, tensor, source, i.offsets)
    t.order.after(store(t, w, t.x.cast(t.register(source), tensor.dtype), t.order.before(threads)), threads)


def generic_window(t: Translator, i: "Any", shape: "Sequence[int]") -> Elements:
    """The elements of an instruction that gives the offset and the mask of each as expressions."""
    mask: "Optional[Tile]" = None
    for d, axis in enumerate(i.axes):
        t.state[axis] = t.iota(d, shape, dtypes.int64)
        mask = t.both(mask, t.inside(d, shape))
    if i.mask is not None and getattr(i.mask, "value", None) is not True:
        mask = t.both(mask, t.x.truth(t.x.value(i.mask)))
    return _elements(t, t.x.value(i.ptr), t.x.int64(i.offset), mask, shape, shape)


@row("LoadGlobalGenericInst")
def _load_generic(t: Translator, i: "Any") -> None:
    w = generic_window(t, i, i.output.shape)
    t.define(i.output, loaded(t, w, i.ptr, threads_of(t, i.ptr, i.output, (i.offset,)), i.output.dtype))


@row("StoreGlobalGenericInst")
def _store_generic(t: Translator, i: "Any") -> None:
    w = generic_window(t, i, i.inputs[0].shape)
    threads = threads_of(t, i.ptr, i.inputs[0], (i.offset,))
    t.order.after(store(t, w, t.register(i.inputs[0]), t.order.before(threads)), threads)


# --- single elements


def address(t: Translator, tensor: "Any") -> Tile:
    """The address of the element of a tensor without dimensions. Errors: Refusal."""
    if tensor.layout.shape:
        raise Refusal(f"the address of a tensor with {len(tensor.layout.shape)} dimensions", "give an index for each dimension before item_ptr()")
    if is_small(tensor.dtype):
        raise Refusal(f"the address of an element of {tensor.dtype.name}", "use load_global and store_global")
    return t.x.op("offset", t.views[tensor], t.x.int64(tensor.layout.offset), dtype=t.views[tensor].dtype)


def read_item(t: Translator, tensor: "Any") -> Tile:
    """The element of a tensor without dimensions."""
    if is_small(tensor.dtype):
        return loaded(t, window(t, tensor, (), (), ()), tensor, None)
    return loaded(t, _single(t, address(t, tensor)), tensor, None)


def _single(t: Translator, pointer: Tile) -> Elements:
    return Elements(pointer, None, t.x.number(0, dtypes.int64))


@row("LockSemaphoreInst")
def _lock(t: Translator, i: "Any") -> None:
    """Waits until the semaphore has the value. Accesses of other blocks before they set it are then visible."""
    pointer, wanted = t.x.value(i.semaphore), t.x.cast(t.x.value(i.value), dtypes.int32)
    before = t.order.join(t.state["ready"], t.state["since"])
    with t.state.loop("loop", ()):
        value, after = load(t, _single(t, pointer), dtypes.int32, before, "acquire device")
        t.state["semaphore"] = after
        t.state.branches(compare(t.x, "equal", value, wanted), t.state.leave_loop)
    t.order.add("ready", t.state["semaphore"])
    t.order.sync()  # all threads of the group wait for the one that asks


@row("ReleaseSemaphoreInst")
def _release(t: Translator, i: "Any") -> None:
    """Sets the value that another block waits for. The stores of this block before its last sync are visible there."""
    pointer, value = t.x.value(i.semaphore), t.x.cast(t.x.value(i.value), dtypes.int32)
    t.order.after(store(t, _single(t, pointer), value, t.state["ready"], "release device"))
