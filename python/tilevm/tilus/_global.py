"""Global memory: a tile of pointers and a mask for each access, as bounds in Tilus are: outside of a tensor loads are zero and stores vanish.

A layout gives the offset of an element as an expression of its coordinates; it is evaluated on tiles of coordinates.
"""
from __future__ import annotations

from . import _scan
from ._expr import compare
from ._refuse import Refusal
from ._translate import Translator, row
from ._types import is_pointer, is_small
from ._writer import Tile, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Optional, Sequence, Tuple


class Window:
    """Elements of a global tensor: their pointers, which of them exist, and the shape of the window."""

    def __init__(self, pointers: Tile, mask: "Optional[Tile]", offsets: Tile) -> None:
        self.pointers, self.mask, self.offsets = pointers, mask, offsets


@row("GlobalViewInst")
def _view(t: Translator, i: "Any") -> None:
    from tilus.hidet.ir.type import PointerType

    base = t.x.value(i.ptr)
    if not is_pointer(base.dtype):
        raise Refusal("a view of memory at a number", "pass a pointer, such as ~float16, to global_view")
    t.views[i.output] = t.x.cast(base, PointerType(i.output.dtype))


@row("AllocateGlobalInst")
def _allocate(t: Translator, i: "Any") -> None:
    from tilus.hidet.ir.type import PointerType

    t.views[i.output] = Tile(t.tiles[i], (), PointerType(i.output.dtype))


@row("SliceGlobalInst")
def _slice(t: Translator, i: "Any") -> None:
    """Its pointer leads to the first element, and its layout begins with 0 there."""
    source = i.inputs[0]
    base: Tile = t.views[source]
    if is_small(base.dtype.base_type):
        raise Refusal(f"a slice of a global tensor of {base.dtype.base_type.name}", "give load_global the offsets")
    for axis, offset in zip(source.layout.axes, i.offsets):
        t.state[axis] = t.x.int64(offset)
    t.views[i.output] = t.x.op("offset", base, t.x.int64(source.layout.offset), dtype=base.dtype)


def coordinates(t: Translator, offsets: "Sequence[Any]", full: "Sequence[int]") -> "Tuple[List[Tile], List[Optional[Tile]]]":
    """For each dimension of a tensor its coordinates in a window, in 64 bits, and which of them the window has: sizes are padded."""
    from tilus.hidet.ir.dtypes import int64

    rank = len(full)
    at: "List[Tile]" = []
    inside: "List[Optional[Tile]]" = []
    for d, size in enumerate(full):
        line = t.iota(d, full, int64)
        inside.append(compare(t.x, "less_than", line, t.x.number(size, int64)) if line.shape[d] != size else None)
        offset = t.w.reshape(t.x.int64(offsets[d]), (1,) * rank)
        at.append(t.x.op("addi", line, offset, dtype=int64) if size > 1 else offset)
    return at, inside


def window(t: Translator, tensor: "Any", offsets: "Sequence[Any]", dims: "Optional[Sequence[int]]", shape: "Sequence[int]") -> Window:
    """Of a tensor, at offsets in each dimension; `dims` are those that the window has."""
    rank = len(tensor.layout.shape)
    if dims is not None and list(dims) != sorted(dims):
        raise Refusal(f"a window of the dimensions {list(dims)}", "name the dimensions in order, then transpose the registers")
    full = [1] * rank
    for d, size in zip(range(rank) if dims is None else dims, shape):
        full[d] = size
    at, masks = coordinates(t, offsets, full)
    for d, size in enumerate(tensor.layout.shape):
        masks.append(t.x.op("cmpi less_than", at[d], t.x.int64(size), dtype=_boolean(), words=", unsigned"))
    mask: "Optional[Tile]" = None
    for part in masks:
        if part is not None:
            mask = part if mask is None else t.x.op("andi", mask, part, dtype=part.dtype)
    for axis, value in zip(tensor.layout.axes, at):
        t.state[axis] = value
    offset = t.x.int64(tensor.layout.offset)
    return _pointers(t, t.views[tensor], offset, mask, full, shape)


def _pointers(t: Translator, base: Tile, offset: Tile, mask: "Optional[Tile]", full: "Sequence[int]", shape: "Sequence[int]") -> Window:
    """Of a window of the sizes `full` in all dimensions of its tensor, as tiles of `shape`: without dimensions of size 1 that it does not have."""
    def fit(tile: Tile) -> Tile:
        return t.w.reshape(t.w.broadcast(tile, full), shape)

    offset = fit(offset)
    pointers = base if is_small(base.dtype.base_type) else t.x.op("offset", t.w.broadcast(base, shape), offset, dtype=base.dtype)
    return Window(pointers, None if mask is None else fit(mask), offset)


def _boolean() -> "Any":
    from tilus.hidet.ir.dtypes import boolean

    return boolean


def _int64() -> "Any":
    from tilus.hidet.ir.dtypes import int64

    return int64


# --- loads and stores of windows


def load(t: Translator, w: Window, dtype: "Any", token: "Optional[Token]", ordering: str = "weak") -> "Tuple[Tile, Token]":
    if is_small(dtype):
        from ._small import load_packed

        return load_packed(t, w, dtype, token)
    made, after = Tile(t.w.name(), w.pointers.shape, dtype), Token(t.w.name())
    behind = "" if w.mask is None else f", {w.mask}, {t.x.number(0, dtype)}"
    t.w.put(f"{made}, {after} = load_ptr_tko {ordering} {w.pointers}{behind}{'' if token is None else f' token = {token}'}")
    return made, after


def store(t: Translator, w: Window, value: Tile, token: "Token", ordering: str = "weak") -> Token:
    if is_small(value.dtype):
        from ._small import store_packed

        return store_packed(t, w, value, token)
    mask = "" if w.mask is None else f", {w.mask}"
    value = t.w.broadcast(value, w.pointers.shape) if len(value.shape) in (0, len(w.pointers.shape)) else t.w.reshape(value, w.pointers.shape)
    return t.w.token(f"store_ptr_tko {ordering} {w.pointers}, {value}{mask} token = {token}")


def threads_of(t: Translator, tensor: "Any", register: "Any", offsets: "Sequence[Any]" = ()) -> "Any":
    """What two accesses have in common whose threads do the same elements."""
    layout = _scan.layout_key(register)
    return None if layout is None else (t.memory.root(tensor), layout, tuple(map(str, offsets)))


@row("LoadGlobalInst")
def _load(t: Translator, i: "Any") -> None:
    w = window(t, i.inputs[0], i.offsets, i.dims, i.output.shape)
    t.define(i.output, loaded(t, w, i.inputs[0], threads_of(t, i.inputs[0], i.output, i.offsets)))


def loaded(t: Translator, w: Window, tensor: "Any", threads: "Any", dtype: "Any" = None) -> Tile:
    """An ordinary load, in order with what the program writes there."""
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


def generic_window(t: Translator, i: "Any", shape: "Sequence[int]") -> Window:
    """Of an instruction that gives offset and mask of each element as expressions."""
    from tilus.hidet.ir.dtypes import int64

    masks: "List[Tile]" = []
    for d, axis in enumerate(i.axes):
        line = t.iota(d, shape, int64)
        t.state[axis] = line
        if line.shape[d] != shape[d]:
            masks.append(compare(t.x, "less_than", line, t.x.number(shape[d], int64)))
    if i.mask is not None and getattr(i.mask, "value", None) is not True:
        masks.append(t.x.truth(t.x.value(i.mask)))
    mask: "Optional[Tile]" = None
    for part in masks:
        mask = part if mask is None else t.x.op("andi", mask, part, dtype=part.dtype)
    return _pointers(t, t.x.value(i.ptr), t.x.int64(i.offset), mask, shape, shape)


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
    """Of the element of a tensor without dimensions."""
    if tensor.layout.shape:
        raise Refusal(f"the address of a tensor with {len(tensor.layout.shape)} dimensions", "give an index for each dimension before item_ptr()")
    return t.x.op("offset", t.views[tensor], t.x.int64(tensor.layout.offset), dtype=t.views[tensor].dtype)


def read_item(t: Translator, tensor: "Any") -> Tile:
    return loaded(t, Window(address(t, tensor), None, t.x.number(0, _int64())), tensor, None)


@row("LockSemaphoreInst")
def _lock(t: Translator, i: "Any") -> None:
    """Waits until the semaphore has the value; what other blocks did before they gave it is seen afterwards."""
    from tilus.hidet.ir.dtypes import int32

    pointer, wanted = t.x.value(i.semaphore), t.x.cast(t.x.value(i.value), int32)
    before = t.order.join(t.state["ready"], t.state["since"])
    with t.state.loop("loop", ()):
        value, after = load(t, Window(pointer, None, t.x.number(0, _int64())), int32, before, "acquire device")
        t.state["semaphore"] = after
        t.state.branches(compare(t.x, "equal", value, wanted), t.state.leave_loop)
    t.order.add("ready", t.state["semaphore"])
    t.order.sync()  # all threads of the group wait for the one that asks


@row("ReleaseSemaphoreInst")
def _release(t: Translator, i: "Any") -> None:
    """Gives it to the block that waits for the value. What this block wrote before its last sync is seen there."""
    from tilus.hidet.ir.dtypes import int32

    pointer, value = t.x.value(i.semaphore), t.x.cast(t.x.value(i.value), int32)
    t.order.after(store(t, Window(pointer, None, t.x.number(0, _int64())), value, t.state["ready"], "release device"))
