"""Tensor memory (tcgen05): an allocation is a tile that the program carries, and a slice is a window of it."""
from __future__ import annotations

from ._barriers import count, signal
from ._matrix import product, shared_operand, zeros
from ._refuse import Refusal
from ._registers import extract, insert
from ._scan import kind
from ._translate import Translator, row
from ._types import dtypes
from ._window import Window
from ._writer import Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Part:
    """A window of an allocation, which is a tensor of Tilus."""

    def __init__(self, root: "Any", window: Window) -> None:
        self.root, self.window = root, window


@row("Tcgen05AllocInst")
def _allocate(t: Translator, i: "Any") -> None:
    if i.cta_group != 1:
        raise Refusal("tensor memory of two blocks (cta_group=2)", "write a version of the kernel with cta_group=1")
    shape = i.output.shape
    t.state[i.output] = zeros(t, shape, i.output.dtype)
    t.views[i.output] = Part(i.output, Window.all_of(shape))


@row("Tcgen05DeallocInst", "Tcgen05RelinquishAllocPermitInst")
def _nothing(t: Translator, i: "Any") -> None:
    """The end of a lifetime does not change values."""


@row("Tcgen05WaitInst")
def _wait(t: Translator, i: "Any") -> None:
    """Loads and stores of tensor memory are over when they return."""


@row("Tcgen05SliceInst")
def _slice(t: Translator, i: "Any") -> None:
    part: Part = t.views[i.inputs[0]]
    t.views[i.output] = Part(part.root, part.window.slice(t, i.offsets, dict(zip(i.slice_dims, i.output.shape))))


@row("Tcgen05ViewInst")
def _view(t: Translator, i: "Any") -> None:
    raise Refusal(f"a view of tensor memory as {i.output.dtype.name}", "allocate tensor memory of that type")


def read(t: Translator, tensor: "Any") -> Tile:
    """The value of a tensor in tensor memory."""
    part: Part = t.views[tensor]
    whole: Tile = t.state[part.root]
    return t.w.reshape(whole if part.window.is_whole else extract(t, whole, part.window.sizes, part.window.offsets), tensor.shape)


def _write(t: Translator, tensor: "Any", value: Tile) -> None:
    part: Part = t.views[tensor]
    value, whole = t.x.cast(value, part.root.dtype), t.state[part.root]
    if part.window.is_whole:
        t.state[part.root] = t.w.reshape(value, whole.shape)
    else:
        t.state[part.root] = insert(t, value, whole, part.window.sizes, part.window.offsets)


@row("Tcgen05LoadInst")
def _load(t: Translator, i: "Any") -> None:
    t.define(i.output, read(t, i.inputs[0]))


@row("Tcgen05StoreInst")
def _store(t: Translator, i: "Any") -> None:
    _write(t, i.inputs[0], t.register(i.inputs[1]))


@row("Tcgen05CopyInst")
def _copy(t: Translator, i: "Any") -> None:
    source, target = (i.inputs[0], i.inputs[1]) if kind(i.inputs[0]) == "SharedTensor" else (i.inputs[1], i.inputs[0])
    if tuple(source.shape) != tuple(target.shape) or source.dtype.name != target.dtype.name:
        raise Refusal(f"a copy of {source.dtype.name}{list(source.shape)} to {target.dtype.name}{list(target.shape)} in tensor memory",
                      "copy between tensors of one type and shape")
    _write(t, target, shared_operand(t, source, "tcgen05"))


def _mma(t: Translator, a: Tile, i: "Any", k: int) -> None:
    _, b, d = i.inputs
    if i.cta_group != 1:
        raise Refusal("a product of two blocks (cta_group=2)", "write a version of the kernel with cta_group=1")
    old = read(t, d)
    enabled = t.x.truth(t.x.value(i.enable_input_d))
    start = t.x.op("select", enabled, old, t.x.number(0, old.dtype), dtype=old.dtype)
    _write(t, d, product(t, a, shared_operand(t, b, "tcgen05"), start, k))


@row("Tcgen05MmaSSInst")
def _mma_shared(t: Translator, i: "Any") -> None:
    _mma(t, shared_operand(t, i.inputs[0], "tcgen05"), i, i.inputs[0].shape[1])


@row("Tcgen05MmaTSInst")
def _mma_tmem(t: Translator, i: "Any") -> None:
    _mma(t, read(t, i.inputs[0]), i, i.inputs[0].shape[1])


@row("Tcgen05CommitInst")
def _commit(t: Translator, i: "Any") -> None:
    """The barrier counts one arrival when the products and copies before are over."""
    if i.multicast_mask is not None or i.cta_group != 1:
        raise Refusal("a commit to barriers of several blocks", "leave multicast_mask and cta_group=2 out")
    signal(t, i.mbarrier, t.state["tcgen05 open"])
    t.state["tcgen05 open"] = t.state.none()
    count(t, i.mbarrier, t.x.number(1, dtypes.int32))
