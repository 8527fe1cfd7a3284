"""Atomic updates and scatters, whose semantics are those of this project's operations (docs/semantics/atomics.md)."""
from __future__ import annotations

from . import _global, _shared
from ._refuse import Refusal
from ._scan import kind
from ._translate import Translator, row
from ._types import element, is_float, sign
from ._writer import Tile, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional, Tuple

_SCOPES = {"cta": "tl_blk", "cluster": "cluster", "gpu": "device", "sys": "sys"}


def _mode(op: str, dtype: "Any") -> str:
    """The update function of a type. Errors: Refusal."""
    if op == "exch":
        return "xchg"
    if op in ("min", "max"):
        if is_float(dtype):
            raise Refusal(f"an atomic {op} of {dtype.name}", "use integers")
        return op if sign(dtype) == "signed" else f"u{op}"
    if op == "sub" and is_float(dtype):
        raise Refusal(f"an atomic sub of {dtype.name}", "add the negative")
    return f"{op}f" if is_float(dtype) else op


def _order(i: "Any") -> str:
    return f"{i.sem} {_SCOPES[i.scope]}"


def _result(t: Translator, i: "Any", text: str, shape: "Any", dtype: "Any") -> Tile:
    """Writes the operation and notes its token."""
    old, after = Tile(t.w.name(), shape, dtype), Token(t.w.name())
    before = t.order.before()
    t.w.put(f"{old}, {after} = {text} token = {before}")
    t.order.after(after)
    return old


def _give(t: Translator, i: "Any", old: Tile) -> None:
    if i.output is not None:
        t.define(i.output, old)


@row("AtomicSharedInst")
def _shared_update(t: Translator, i: "Any") -> None:
    target, values = i.inputs[0], t.register(i.inputs[1])
    access = _shared.Access(t, t.views[target])
    place, value = f"{access.view}[{access.indices}]", access.from_part(values)
    if i.op == "cas":
        text = f"atomic_cas_view_tko {_order(i)} {place}, {access.from_part(t.register(i.inputs[2]))}, {value}"
    else:
        text = f"atomic_rmw_view_tko {_order(i)} {place}, {_mode(i.op, target.dtype)}, {value}"
    _give(t, i, access.to_part(_result(t, i, text, access.shape, target.dtype)))


@row("AtomicGlobalInst")
def _global_update(t: Translator, i: "Any") -> None:
    target, values = i.inputs[0], t.register(i.inputs[1])
    rank = len(target.layout.shape)
    w = _global.window(t, target, _zeros(rank), range(rank), i.inputs[1].shape)
    mask = "" if w.mask is None else f", {w.mask}"
    if i.op == "cas":
        text = f"atomic_cas_tko {_order(i)} {w.pointers}, {t.register(i.inputs[2])}, {values}{mask}"
    else:
        text = f"atomic_rmw_tko {_order(i)} {w.pointers}, {_mode(i.op, target.dtype)}, {values}{mask}"
    _give(t, i, _result(t, i, text, w.pointers.shape, target.dtype))


def _zeros(rank: int) -> "Any":
    from tilus.hidet.ir.dtypes import int32

    return [int32(0)] * rank


# --- scatters


def _padding_is_none(shape: "Any", tile: Tile) -> None:
    if tuple(shape) != tuple(tile.shape):
        raise Refusal(f"a scatter of {list(shape)} elements, sizes that are no powers of two", "use sizes that are powers of two")


def _shared_place(t: Translator, tensor: "Any", indices: Tile, dim: int) -> "Tuple[str, int, Any]":
    """The tensor view, the dimension, and the index tile."""
    part = t.views[tensor]
    if not part.root.flat and list(part.dims) == list(range(len(part.root.shape))):
        return part.root.name, dim, indices
    if not part.root.flat:
        raise Refusal("a scatter into a transposed part of shared memory", "scatter into the tensor itself")
    return part.root.name, 0, _shared.Access(t, part).numbers((dim, indices))


def _global_view(t: Translator, tensor: "Any") -> str:
    """A view of a whole tensor. Its strides are differences of offsets."""
    from tilus.hidet.ir.dtypes import int64

    layout = tensor.layout
    rank = len(layout.shape)

    def offset(one: "Optional[int]") -> Tile:
        for d, axis in enumerate(layout.axes):
            t.state[axis] = t.x.number(1 if d == one else 0, int64)
        return t.x.int64(layout.offset)

    base = offset(None)
    strides = [t.x.op("subi", offset(d), base, dtype=int64) for d in range(rank)]
    pointer = t.x.op("offset", t.views[tensor], base, dtype=t.views[tensor].dtype)
    sizes = [t.x.int64(size) for size in layout.shape]
    name = t.w.name()
    t.w.put(f"{name} = make_tensor_view {pointer}, shape = [{', '.join(map(str, sizes))}], strides = [{', '.join(map(str, strides))}] : "
            f"tile<i64> -> tensor_view<{'?x' * rank}{element(tensor.dtype)}, strides=[{','.join('?' * rank)}]>")
    return name


@row("AtomicScatterSharedInst", "AtomicScatterGlobalInst")
def _scatter_update(t: Translator, i: "Any") -> None:
    target, indices, values = i.inputs[0], t.register(i.inputs[1]), t.register(i.inputs[2])
    _padding_is_none(i.inputs[1].shape, indices)
    if kind(i) == "AtomicScatterGlobalInst":
        view, dim = _global_view(t, target), i.dim
    else:
        view, dim, indices = _shared_place(t, target, indices, i.dim)
    flat = t.w.reshape(values, indices.shape)
    text = f"atomic_scatter_view_tko {_order(i)} {view}[{indices}], {_mode(i.op, target.dtype)}, {flat} dim = {dim}"
    _give(t, i, t.w.reshape(_result(t, i, text, indices.shape, target.dtype), values.shape))


@row("StoreSharedScatterInst", "StoreGlobalScatterInst")
def _scatter_store(t: Translator, i: "Any") -> None:
    target, indices, values = i.inputs[0], t.register(i.inputs[1]), t.register(i.inputs[2])
    _padding_is_none(i.inputs[1].shape, indices)
    if kind(i) == "StoreGlobalScatterInst":
        view, dim = _global_view(t, target), i.dim
    else:
        view, dim, indices = _shared_place(t, target, indices, i.dim)
    flat = t.w.reshape(values, indices.shape)
    t.order.after(t.w.token(f"store_scatter_view_tko {view}[{indices}], {flat} dim = {dim} token = {t.order.before()}"))
