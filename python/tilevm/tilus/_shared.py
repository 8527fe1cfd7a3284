"""Shared memory: one `alloc_shared` for each allocation, at the top of the kernel, and views of its parts.

A part is a window of the allocation whose dimensions are permuted, left out or added with size 1. An allocation is flat if the program
reshapes it otherwise, or cuts windows from it whose sizes are not powers of two. A flat one has one dimension, and its elements are gathered
and scattered by their numbers. Swizzles of shared layouts do not change values.
"""
from __future__ import annotations

import math

from . import _scan
from ._refuse import Refusal
from ._scan import kind
from ._translate import Translator, row
from ._types import dtypes, element, is_padded, padded
from ._window import Window, as_tile, offset_of, plus
from ._writer import Tile, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

    from ._window import Offset


class Root:
    """An allocation: the name of its tensor view, its shape, and the type of its elements."""

    def __init__(self, name: str, shape: "Sequence[int]", dtype: "Any") -> None:
        self.name, self.shape, self.dtype = name, tuple(shape), dtype

    @property
    def type(self) -> str:
        """The type of the tensor view."""
        return (f"tensor_view<{''.join(f'{n}x' for n in self.shape)}{element(self.dtype)}, "
                f"strides=[{','.join(map(str, _row_major(self.shape)))}], shared>")


class Part:
    """A window of an allocation."""

    def __init__(self, root: Root, window: Window) -> None:
        self.root, self.window = root, window

    @property
    def shape(self) -> "Tuple[int, ...]":
        return self.window.shape

    @property
    def is_root(self) -> bool:
        """Whether it is the allocation itself, its dimensions in order."""
        return self.window.is_whole and self.window.dims == list(range(len(self.root.shape)))

    def slice(self, t: Translator, offsets: "Sequence[Any]", kept: "Dict[int, int]") -> "Part":
        return Part(self.root, self.window.slice(t, offsets, kept))

    def permuted(self, dims: "Sequence[int]") -> "Part":
        return Part(self.root, self.window.permuted(dims))

    def reshaped(self, shape: "Sequence[int]") -> "Part":
        return Part(self.root, self.window.reshaped(shape))

    def key(self) -> "Tuple[str, ...]":
        """A key of windows: two with one key have no element at different places. A dimension of size 1 has one place only."""
        w = self.window
        return tuple(str(offset) for offset, n, whole in zip(w.offsets, w.sizes, w.whole) if 1 < n < whole) + tuple(map(str, w.dims))


class FlatPart:
    """Elements of a flat allocation: `base` is the number of the first one, `steps` has a size and a stride for each dimension.

    `places` are the offsets of slices that have several elements of a dimension, but not all."""

    def __init__(self, root: Root, base: "Offset", steps: "Sequence[Tuple[int, int]]", places: "Tuple[str, ...]" = ()) -> None:
        self.root, self.base, self.steps, self.places = root, base, list(steps), places

    @property
    def shape(self) -> "Tuple[int, ...]":
        return tuple(size for size, _ in self.steps)

    def slice(self, t: Translator, offsets: "Sequence[Any]", kept: "Dict[int, int]") -> "FlatPart":
        base, places = self.base, self.places
        for d, (expr, (size, step)) in enumerate(zip(offsets, self.steps)):
            offset = offset_of(t, expr)
            places += (str(offset),) if 1 < kept.get(d, 1) < size else ()
            if step != 1:
                offset = offset * step if isinstance(offset, int) else t.x.op("muli", offset, t.x.number(step, offset.dtype), dtype=offset.dtype)
            base = plus(t, base, offset)
        return FlatPart(self.root, base, [(size, self.steps[d][1]) for d, size in kept.items()], places)

    def permuted(self, dims: "Sequence[int]") -> "FlatPart":
        return FlatPart(self.root, self.base, [self.steps[d] for d in dims], self.places)

    def reshaped(self, shape: "Sequence[int]") -> "FlatPart":
        """Errors: Refusal for a part with gaps."""
        if [s for n, s in self.steps if n != 1] != [s for n, s in zip(self.shape, _row_major(self.shape)) if n != 1]:
            raise Refusal("a reshape of a part of shared memory that is not contiguous", "reshape before slicing and transposing")
        return FlatPart(self.root, self.base, list(zip(shape, _row_major(shape))), self.places)

    def key(self) -> "Tuple[str, ...]":
        return *map(str, self.steps), *self.places

    def numbers(self, t: Translator, along: "Optional[Tuple[int, Tile]]" = None) -> Tile:
        """The numbers of the elements, as a tile of int64 in one dimension: -1 where sizes are padded.

        `along`: a dimension, and a tile of coordinates in it, which replace those of the part. A coordinate outside of it gives -1."""
        int64 = dtypes.int64
        shape = self.shape if along is None else tuple(along[1].shape)
        total: "Offset" = self.base
        inside: "Optional[Tile]" = None
        for d, (size, step) in enumerate(self.steps):
            if along is not None and d == along[0]:
                line = t.x.int64(along[1])
                inside = t.x.op("cmpi less_than", line, t.x.number(size, int64), dtype=dtypes.boolean, words=", unsigned")
            else:
                line = t.iota(d, shape, int64)
                inside = t.both(inside, t.inside(d, shape)) if along is None else inside
            total = plus(t, total, line if step == 1 else t.x.op("muli", line, t.x.number(step, int64), dtype=int64))
        numbers = as_tile(t, total)
        if inside is not None:
            numbers = t.x.op("select", inside, numbers, t.x.number(-1, int64), dtype=int64)
        wide = t.w.broadcast(numbers, shape)
        return t.w.reshape(wide, (wide.count,))


def _row_major(shape: "Sequence[int]") -> "List[int]":
    return [math.prod(shape[d + 1:]) for d in range(len(shape))]


def _without_ones(shape: "Sequence[int]") -> "List[int]":
    return [n for n in shape if n != 1]


def _is_flat(t: Translator, tensor: "Any") -> bool:
    for inst in _scan.instructions(t.function.body):
        for part in (inst.output, *inst.inputs):
            if kind(part) != "SharedTensor" or t.shared_root.get(part) is not tensor:
                continue
            if kind(inst) == "ReshapeSharedInst" and _without_ones(inst.inputs[0].shape) != _without_ones(inst.output.shape):
                return True
            if kind(inst) == "SliceSharedInst" and any(n not in tensor.shape and is_padded([n]) for n in inst.output.shape):
                return True
            if "Scatter" in kind(inst) and part is inst.inputs[0] and tuple(part.shape) != tuple(tensor.shape):
                return True
    return False


def allocate(t: Translator, i: "Any") -> None:
    """Writes the allocation of an AllocateSharedInst, at the top of the kernel."""
    shape, dtype = i.output.shape, i.output.dtype
    if not shape:
        raise Refusal("shared memory without dimensions", "give the tensor a shape")
    flat = _is_flat(t, i.output)
    root = Root(t.w.name(), (math.prod(shape),) if flat else shape, dtype)
    t.w.put(f"{root.name} = alloc_shared alignment = 128 : {root.type}")
    t.views[i.output] = FlatPart(root, 0, list(zip(shape, _row_major(shape)))) if flat else Part(root, Window.all_of(shape))


@row("AllocateSharedInst")
def _allocate(t: Translator, i: "Any") -> None:
    """The top of the kernel has it already (allocate)."""


@row("SliceSharedInst")
def _slice(t: Translator, i: "Any") -> None:
    t.views[i.output] = t.views[i.inputs[0]].slice(t, i.offsets, dict(zip(i.dims, i.output.shape)))


@row("PermuteSharedInst")
def _permute(t: Translator, i: "Any") -> None:
    t.views[i.output] = t.views[i.inputs[0]].permuted(i.dims)


@row("ReshapeSharedInst")
def _reshape(t: Translator, i: "Any") -> None:
    t.views[i.output] = t.views[i.inputs[0]].reshaped(i.output.shape)


# --- accesses


class _WindowAccess:
    """A view of a window, its indices, and how tiles of the view become tiles of the part."""

    def __init__(self, t: Translator, part: Part) -> None:
        self.t, self.part, window = t, part, part.window
        self.shape = padded(window.sizes)  # the shape of the view's tiles
        aligned = all(offset == 0 or n == 1 for offset, n in zip(window.offsets, window.sizes))
        steps = "" if aligned else f", traversal_strides=[{','.join('1' for _ in self.shape)}]"
        kind = "partition_view" if aligned else "strided_view"
        self.view = t.w.name()
        t.w.put(f"{self.view} = make_{kind} {part.root.name} : {kind}<tile=({'x'.join(map(str, self.shape))}){steps}, padding_value = zero, "
                f"{part.root.type}>")
        self.indices = ", ".join(str(as_tile(t, offset)) for offset in window.offsets)

    def to_part(self, tile: Tile) -> Tile:
        order = self.part.window.order()
        if order != sorted(order):
            tile = self.t.w.op(f"permute {tile} {order}", tuple(tile.shape[d] for d in order), tile.dtype)
        return self.t.w.reshape(tile, self.part.shape)

    def from_part(self, tile: Tile) -> Tile:
        tile = self.t.w.broadcast(tile, self.part.shape) if not tile.shape else tile
        order = self.part.window.order()
        if order == sorted(order):
            return self.t.w.reshape(tile, self.shape)
        tile = self.t.w.reshape(tile, tuple(self.shape[d] for d in order))
        return self.t.w.op(f"permute {tile} {[order.index(d) for d in range(len(order))]}", self.shape, tile.dtype)


class _FlatAccess:
    """The same for elements that are gathered by their numbers."""

    def __init__(self, t: Translator, part: FlatPart) -> None:
        self.t, self.part = t, part
        numbers = part.numbers(t)
        self.shape, self.indices = numbers.shape, str(numbers)
        self.view = t.w.name()
        t.w.put(f"{self.view} = make_gather_scatter_view {part.root.name} : gather_scatter_view<tile=({numbers.count}), padding_value = zero, "
                f"{part.root.type}, sparse_dim=0>")

    def to_part(self, tile: Tile) -> Tile:
        return self.t.w.reshape(tile, self.part.shape)

    def from_part(self, tile: Tile) -> Tile:
        tile = self.t.w.broadcast(tile, self.part.shape) if not tile.shape else tile
        return self.t.w.reshape(tile, self.shape)


def access(t: Translator, tensor: "Any") -> "Union[_WindowAccess, _FlatAccess]":
    """Writes the view that a load, a store or an atomic update of a shared tensor takes."""
    part = t.views[tensor]
    return _FlatAccess(t, part) if isinstance(part, FlatPart) else _WindowAccess(t, part)


def load(t: Translator, tensor: "Any", token: "Optional[Token]") -> "Tuple[Tile, Token]":
    at = access(t, tensor)
    made, after = Tile(t.w.name(), at.shape, tensor.dtype), Token(t.w.name())
    t.w.put(f"{made}, {after} = load_view_tko weak {at.view}[{at.indices}]{'' if token is None else f' token = {token}'}")
    return at.to_part(made), after


def store(t: Translator, tensor: "Any", value: Tile, token: Token) -> Token:
    at = access(t, tensor)
    return t.w.token(f"store_view_tko weak {at.from_part(t.x.cast(value, tensor.dtype))}, {at.view}[{at.indices}] token = {token}")


def threads_of(t: Translator, tensor: "Any", register: "Any") -> "Any":
    """A key that two accesses share if each of their threads has the same elements; None if that is not known."""
    layout = _scan.layout_key(register)
    part = t.views[tensor]
    return None if layout is None else (part.root.name, layout, part.key())


@row("LoadSharedInst")
def _load(t: Translator, i: "Any") -> None:
    threads = threads_of(t, i.inputs[0], i.output)
    value, after = load(t, i.inputs[0], t.order.before(threads))
    t.order.after(after, threads)
    t.define(i.output, value)


@row("StoreSharedInst")
def _store(t: Translator, i: "Any") -> None:
    target, source = i.inputs
    threads = threads_of(t, target, source)
    t.order.after(store(t, target, t.register(source), t.order.before(threads)), threads)


def read_item(t: Translator, tensor: "Any") -> Tile:
    """The element of a tensor that has only one."""
    value, after = load(t, tensor, t.order.before())
    t.order.after(after)
    return t.w.reshape(value, ())
