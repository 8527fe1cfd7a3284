"""Atomic updates and scatters, with the semantics of this project's operations (docs/semantics/atomics.md)."""
from __future__ import annotations

from . import _global, _shared
from ._refuse import Refusal
from ._scan import kind
from ._translate import Translator, row
from ._types import dtypes, element, is_float, is_padded, sign
from ._writer import Tile, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence, Tuple

_SCOPES = {"cta": "tl_blk", "cluster": "cluster", "gpu": "device", "sys": "sys"}


def _mode(op: str, dtype: "Any") -> str:
    """The word of an update function for a type. Errors: Refusal."""
    if op == "exch":
        return "xchg"
    if op in ("min", "max"):
        if is_float(dtype):
            raise Refusal(f"an atomic {op} of {dtype.name}", "use integers")
        return op if sign(dtype) == "signed" else f"u{op}"
    if op == "sub" and is_float(dtype):
        raise Refusal(f"an atomic sub of {dtype.name}", "add the negative")
    return f"{op}f" if is_float(dtype) else op


def _update(t: Translator, i: "Any", text: str, shape: "Sequence[int]") -> Tile:
    """Writes an atomic operation in order with other accesses; gives the old values."""
    old, after = Tile(t.w.name(), shape, i.inputs[0].dtype), Token(t.w.name())
    t.w.put(f"{old}, {after} = {text} token = {t.order.before()}")
    t.order.after(after)
    return old


def _define(t: Translator, i: "Any", old: Tile) -> None:
    if i.output is not None:
        t.define(i.output, old)


def _order(i: "Any") -> str:
    return f"{i.sem} {_SCOPES[i.scope]}"


# --- each element of a tile with the element at its place


def _operands(t: Translator, i: "Any") -> "Tuple[Tile, ...]":
    """The values; of a compare-and-swap the values to compare with, then the new ones."""
    values = t.register(i.inputs[1])
    return (t.register(i.inputs[2]), values) if i.op == "cas" else (values,)


@row("AtomicSharedInst")
def _shared_update(t: Translator, i: "Any") -> None:
    at = _shared.access(t, i.inputs[0])
    operands = ", ".join(str(at.from_part(v)) for v in _operands(t, i))
    operation = "cas" if i.op == "cas" else "rmw"
    mode = "" if i.op == "cas" else f"{_mode(i.op, i.inputs[0].dtype)}, "
    _define(t, i, at.to_part(_update(t, i, f"atomic_{operation}_view_tko {_order(i)} {at.view}[{at.indices}], {mode}{operands}", at.shape)))


@row("AtomicGlobalInst")
def _global_update(t: Translator, i: "Any") -> None:
    target = i.inputs[0]
    rank = len(target.layout.shape)
    at = _global.window(t, target, [dtypes.int32(0)] * rank, range(rank), i.inputs[1].shape)
    operands = ", ".join(map(str, (*_operands(t, i), *([] if at.mask is None else [at.mask]))))
    operation = "cas" if i.op == "cas" else "rmw"
    mode = "" if i.op == "cas" else f"{_mode(i.op, target.dtype)}, "
    _define(t, i, _update(t, i, f"atomic_{operation}_tko {_order(i)} {at.pointers}, {mode}{operands}", at.pointers.shape))


# --- scatters: a tile of indices chooses the places along one dimension


def _scattered(t: Translator, i: "Any") -> "Tuple[str, Tile, Tile, int]":
    """The tensor view, the indices, the values in the shape of the indices, and the dimension. Errors: Refusal."""
    target, shape = i.inputs[0], i.inputs[1].shape
    if is_padded(shape):
        raise Refusal(f"a scatter of {list(shape)} elements, sizes that are not powers of two", "use sizes that are powers of two")
    indices, values = t.register(i.inputs[1]), t.register(i.inputs[2])
    view, dim = _global_view(t, target) if kind(target) == "GlobalTensor" else "", i.dim
    if not view:
        part = t.views[target]
        view = part.root.name
        if isinstance(part, _shared.FlatPart):
            indices, dim = part.numbers(t, (dim, indices)), 0
        elif not part.is_root:
            raise Refusal("a scatter into a part of shared memory", "scatter into the tensor itself")
    return view, indices, t.w.reshape(values, indices.shape), dim


def _global_view(t: Translator, tensor: "Any") -> str:
    """Writes a view of a whole tensor; its strides are differences of offsets."""
    layout = tensor.layout
    rank = len(layout.shape)

    def offset(one: int) -> Tile:
        for d, axis in enumerate(layout.axes):
            t.state[axis] = t.x.number(1 if d == one else 0, dtypes.int64)
        return t.x.int64(layout.offset)

    base = offset(-1)
    strides = [t.x.op("subi", offset(d), base, dtype=dtypes.int64) for d in range(rank)]
    pointer = t.x.op("offset", t.views[tensor], base, dtype=t.views[tensor].dtype)
    sizes = [t.x.int64(size) for size in layout.shape]
    name = t.w.name()
    t.w.put(f"{name} = make_tensor_view {pointer}, shape = [{', '.join(map(str, sizes))}], strides = [{', '.join(map(str, strides))}] : "
            f"tile<i64> -> tensor_view<{'?x' * rank}{element(tensor.dtype)}, strides=[{','.join('?' * rank)}]>")
    return name


@row("AtomicScatterSharedInst", "AtomicScatterGlobalInst")
def _scatter_update(t: Translator, i: "Any") -> None:
    view, indices, values, dim = _scattered(t, i)
    mode = _mode(i.op, i.inputs[0].dtype)
    old = _update(t, i, f"atomic_scatter_view_tko {_order(i)} {view}[{indices}], {mode}, {values} dim = {dim}", indices.shape)
    _define(t, i, t.w.reshape(old, i.inputs[2].shape))


@row("StoreSharedScatterInst", "StoreGlobalScatterInst")
def _scatter_store(t: Translator, i: "Any") -> None:
    view, indices, values, dim = _scattered(t, i)
    t.order.after(t.w.token(f"store_scatter_view_tko {view}[{indices}], {values} dim = {dim} token = {t.order.before()}"))
