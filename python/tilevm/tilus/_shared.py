"""Shared memory: one `alloc_shared` for each allocation, at the top of the kernel, and views of its parts.

A part is a window of the allocation (an offset and a size in each dimension) whose dimensions are permuted, left out or added with size 1. An
allocation that the program reshapes otherwise, or cuts into windows that are no powers of two, is flat: one dimension, whose elements are
gathered and scattered by their numbers. Swizzles of shared layouts do not change values.
"""
from __future__ import annotations

from . import _scan
from ._refuse import Refusal
from ._scan import kind
from ._translate import Translator, row
from ._types import element, padded
from ._writer import Tile, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Optional, Sequence, Tuple


class Root:
    def __init__(self, name: str, shape: "Sequence[int]", dtype: "Any", flat: bool) -> None:
        self.name, self.shape, self.dtype, self.flat = name, tuple(shape), dtype, flat
        self.size = 1
        for n in shape:
            self.size *= n


class Part:
    """Of an allocation. `offsets` has a tile or None (0) for each of its dimensions, `sizes` the window's. `dims` has, for each dimension of
    the part, that of the allocation, or None for one of size 1. Of a flat one, `base` is the number of the first element, and each dimension
    of the part has a size and a stride."""

    def __init__(self, root: Root, offsets: "Sequence[Optional[Tile]]", sizes: "Sequence[int]", dims: "Sequence[Optional[int]]",
                 base: "Optional[Tile]" = None, steps: "Sequence[Tuple[int, int]]" = ()) -> None:
        self.root, self.offsets, self.sizes, self.dims = root, list(offsets), list(sizes), list(dims)
        self.base, self.steps = base, list(steps)

    @property
    def shape(self) -> "Tuple[int, ...]":
        if self.root.flat:
            return tuple(size for size, _ in self.steps)
        return tuple(1 if d is None else self.sizes[d] for d in self.dims)


def _row_major(shape: "Sequence[int]") -> "List[int]":
    strides: "List[int]" = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return strides


def _without_ones(shape: "Sequence[int]") -> "List[int]":
    return [n for n in shape if n != 1]


def _is_flat(t: Translator, tensor: "Any") -> bool:
    for inst in _scan.instructions(t.function.body):
        for part in (inst.output, *inst.inputs):
            if kind(part) != "SharedTensor" or t.shared_root.get(part) is not tensor:
                continue
            if kind(inst) == "ReshapeSharedInst" and _without_ones(inst.inputs[0].shape) != _without_ones(inst.output.shape):
                return True
            if kind(inst) == "SliceSharedInst" and any(n not in tensor.shape and padded([n]) != (n,) for n in inst.output.shape):
                return True
            if "Scatter" in kind(inst) and part is inst.inputs[0] and tuple(part.shape) != tuple(tensor.shape):
                return True
    return False


def allocate(t: Translator, i: "Any") -> None:
    """At the top of the kernel; the instruction itself does nothing more."""
    shape = i.output.shape
    root = Root(t.w.name(), shape, i.output.dtype, _is_flat(t, i.output))
    sizes = (root.size,) if root.flat else shape
    e = element(i.output.dtype)
    t.w.put(f"{root.name} = alloc_shared alignment = 128 : tensor_view<{''.join(f'{n}x' for n in sizes)}{e}, "
            f"strides=[{','.join(map(str, _row_major(sizes)))}], shared>")
    t.views[i.output] = Part(root, [None] * len(shape), shape, range(len(shape)), None, list(zip(shape, _row_major(shape))))


@row("AllocateSharedInst")
def _allocate(t: Translator, i: "Any") -> None:
    """It is there already (allocate)."""


@row("SliceSharedInst")
def _slice(t: Translator, i: "Any") -> None:
    part: Part = t.views[i.inputs[0]]
    kept = dict(zip(i.dims, i.output.shape))
    values = [t.x.int64(offset) for offset in i.offsets]
    if part.root.flat:
        base = part.base
        for value, (_, step) in zip(values, part.steps):
            base = _plus(t, base, value if step == 1 else t.x.op("muli", value, t.x.number(step, value.dtype), dtype=value.dtype))
        t.views[i.output] = Part(part.root, (), (), (), base, [(size, part.steps[d][1]) for d, size in kept.items()])
        return
    offsets, sizes = list(part.offsets), list(part.sizes)
    for d, (offset, value) in enumerate(zip(i.offsets, values)):
        at = part.dims[d]
        if at is None:
            continue
        if getattr(offset, "value", None) != 0:
            offsets[at] = _plus(t, offsets[at], value)
        sizes[at] = kept.get(d, 1)
    t.views[i.output] = Part(part.root, offsets, sizes, [part.dims[d] for d in kept])


def _plus(t: Translator, a: "Optional[Tile]", b: Tile) -> Tile:
    return b if a is None else t.x.op("addi", a, b, dtype=b.dtype)


@row("PermuteSharedInst")
def _permute(t: Translator, i: "Any") -> None:
    part: Part = t.views[i.inputs[0]]
    dims = () if part.root.flat else [part.dims[d] for d in i.dims]
    t.views[i.output] = Part(part.root, part.offsets, part.sizes, dims, part.base, [part.steps[d] for d in i.dims] if part.root.flat else ())


@row("ReshapeSharedInst")
def _reshape(t: Translator, i: "Any") -> None:
    part: Part = t.views[i.inputs[0]]
    new = i.output.shape
    if part.root.flat:
        if [s for n, s in part.steps if n != 1] != [s for n, s in zip(part.shape, _row_major(part.shape)) if n != 1]:
            raise Refusal("a reshape of a part of shared memory that is not contiguous", "reshape before slicing and transposing")
        t.views[i.output] = Part(part.root, (), (), (), part.base, list(zip(new, _row_major(new))))
        return
    real = [d for d, n in zip(part.dims, part.shape) if n != 1]
    t.views[i.output] = Part(part.root, part.offsets, part.sizes, [None if n == 1 else real.pop(0) for n in new])


# --- accesses


class Access:
    """A view of a part, its indices, and how tiles of the view become tiles of the part."""

    def __init__(self, t: Translator, part: Part) -> None:
        self.t, self.part = t, part
        self.shape: "Tuple[int, ...]" = ()  # of the view's tiles
        self.indices = ""
        self.view = self._gather() if part.root.flat else self._window()

    def _window(self) -> str:
        t, part = self.t, self.part
        self.shape = padded(part.sizes)
        if not part.root.shape:
            raise Refusal("shared memory without dimensions", "give the tensor a shape")
        aligned = all(offset is None or n == 1 for offset, n in zip(part.offsets, part.sizes))
        sizes = "x".join(map(str, self.shape))
        steps = "" if aligned else f", traversal_strides=[{','.join('1' for _ in self.shape)}]"
        kind = "partition_view" if aligned else "strided_view"
        name = t.w.name()
        tensor = (f"tensor_view<{''.join(f'{n}x' for n in part.root.shape)}{element(part.root.dtype)}, "
                  f"strides=[{','.join(map(str, _row_major(part.root.shape)))}], shared>")
        t.w.put(f"{name} = make_{kind} {part.root.name} : {kind}<tile=({sizes}){steps}, padding_value = zero, {tensor}>")
        zero = t.x.number(0, _int64())
        self.indices = ", ".join(str(zero if offset is None else offset) for offset in part.offsets)
        return name

    def numbers(self, along: "Optional[Tuple[int, Tile]]" = None) -> Tile:
        """Of the elements in a flat allocation, -1 where sizes are padded; `along`: the coordinates of one dimension."""
        t, part = self.t, self.part
        from ._expr import compare

        int64 = _int64()
        shape = part.shape if along is None else tuple(along[1].shape)
        total: "Optional[Tile]" = None
        inside: "Optional[Tile]" = None
        for d, (_, step) in enumerate(part.steps):
            line = t.iota(d, shape, int64)
            if along is None and line.shape[d] != part.shape[d]:
                here = compare(t.x, "less_than", line, t.x.number(part.shape[d], int64))
                inside = here if inside is None else t.x.op("andi", inside, here, dtype=here.dtype)
            if along is not None and d == along[0]:
                line = t.x.int64(along[1])
                inside = t.x.op("cmpi less_than", line, t.x.number(part.shape[d], int64), dtype=_boolean(), words=", unsigned")
            line = line if step == 1 else t.x.op("muli", line, t.x.number(step, int64), dtype=int64)
            total = line if total is None else t.x.op("addi", total, line, dtype=int64)
        total = t.x.number(0, int64, ()) if total is None else total
        total = total if part.base is None else t.x.op("addi", total, part.base, dtype=int64)
        if inside is not None:
            total = t.x.op("select", inside, total, t.x.number(-1, int64), dtype=int64)
        wide = t.w.broadcast(total, shape)
        count = 1
        for n in wide.shape:
            count *= n
        return t.w.reshape(wide, (count,))

    def _gather(self) -> str:
        t, part = self.t, self.part
        numbers = self.numbers()
        self.shape, self.indices = numbers.shape, str(numbers)
        name = t.w.name()
        t.w.put(f"{name} = make_gather_scatter_view {part.root.name} : gather_scatter_view<tile=({numbers.shape[0]}), padding_value = zero, "
                f"tensor_view<{part.root.size}x{element(part.root.dtype)}, strides=[1], shared>, sparse_dim=0>")
        return name

    def to_part(self, tile: Tile) -> Tile:
        """A tile of the view, as one of the part."""
        if self.part.root.flat:
            return self.t.w.reshape(tile, self.part.shape)
        order = self._order()
        if order != sorted(order):
            tile = self.t.w.op(f"permute {tile} {order}", tuple(tile.shape[d] for d in order), tile.dtype)
        return self.t.w.reshape(tile, self.part.shape)

    def from_part(self, tile: Tile) -> Tile:
        """The other way."""
        tile = self.t.w.broadcast(tile, self.part.shape) if not tile.shape and self.part.shape else tile
        if self.part.root.flat:
            return self.t.w.reshape(tile, self.shape)
        order = self._order()
        if order == sorted(order):
            return self.t.w.reshape(tile, self.shape)
        tile = self.t.w.reshape(tile, tuple(self.shape[d] for d in order))
        back = [order.index(d) for d in range(len(order))]
        return self.t.w.op(f"permute {tile} {back}", self.shape, tile.dtype)

    def _order(self) -> "List[int]":
        """Of all dimensions of the allocation: those that the part has, in its order, the others (of size 1) in front."""
        kept = [d for d in self.part.dims if d is not None]
        return [d for d in range(len(self.shape)) if d not in kept] + kept


def load(t: Translator, tensor: "Any", token: "Optional[Token]") -> "Tuple[Tile, Token]":
    access = Access(t, t.views[tensor])
    made, after = Tile(t.w.name(), access.shape, tensor.dtype), Token(t.w.name())
    t.w.put(f"{made}, {after} = load_view_tko weak {access.view}[{access.indices}]{'' if token is None else f' token = {token}'}")
    return access.to_part(made), after


def store(t: Translator, tensor: "Any", value: Tile, token: Token) -> Token:
    access = Access(t, t.views[tensor])
    return t.w.token(f"store_view_tko weak {access.from_part(t.x.cast(value, tensor.dtype))}, {access.view}[{access.indices}] token = {token}")


def threads_of(t: Translator, tensor: "Any", register: "Any") -> "Any":
    """What two accesses have in common whose threads do the same elements."""
    layout = _scan.layout_key(register)
    if layout is None:
        return None
    part: Part = t.views[tensor]
    moved = [] if part.root.flat else [str(o) for o, n, whole in zip(part.offsets, part.sizes, part.root.shape) if o is not None and 1 < n < whole]
    return part.root.name, layout, tuple(moved), tuple(part.dims)


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
    value, after = load(t, tensor, t.order.before())
    t.order.after(after)
    return t.w.reshape(value, ())


def _int64() -> "Any":
    from tilus.hidet.ir.dtypes import int64

    return int64


def _boolean() -> "Any":
    from tilus.hidet.ir.dtypes import boolean

    return boolean
