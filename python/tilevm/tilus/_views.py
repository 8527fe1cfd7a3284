"""`view`: the registers of each thread, read as elements of another type and in another layout.

A layout splits the shape into modes; some count threads, the others the elements of a thread. A tile becomes [threads, bits of a thread], and
the bits become the other tile, the same way back.
"""
from __future__ import annotations

from ._refuse import Refusal
from ._translate import Translator, row
from ._types import element, padded
from ._writer import Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Sequence, Tuple


@row("ViewInst")
def _view(t: Translator, i: "Any") -> None:
    source, target = i.inputs[0], i.output
    if getattr(i.local_offset, "value", None) != 0:
        raise Refusal("a view that begins behind the first register of a thread (local_offset)", "view the whole tensor, then slice it")
    if source.optional_layout is None or target.optional_layout is None:
        raise Refusal("a view of a tensor without layout", "annotate the layout (annotate_layout)")
    for layout in (source.layout, target.layout):
        if padded(layout.mode_shape) != tuple(layout.mode_shape):
            raise Refusal(f"a view with the modes {list(layout.mode_shape)}, which are no powers of two", "use layouts of powers of two")
    threads = _by_thread(t, t.register(source), source.layout)
    if source.dtype.name != target.dtype.name:
        threads = _recast(t, threads, source.dtype, target.dtype)
    t.define(target, _from_threads(t, threads, target))


def _order(layout: "Any") -> "List[int]":
    """Modes: those of threads, then those of the elements of a thread. Replicated ones are not among them."""
    return [m for m in layout.spatial_modes if m >= 0] + list(layout.local_modes)


def _permuted(t: Translator, x: Tile, order: "Sequence[int]") -> Tile:
    if list(order) == sorted(order):
        return x
    return t.w.op(f"permute {x} {list(order)}", tuple(x.shape[d] for d in order), x.dtype)


def _by_thread(t: Translator, x: Tile, layout: "Any") -> Tile:
    """[threads, elements of a thread]"""
    modes = t.w.reshape(x, layout.mode_shape) if layout.mode_shape else t.w.reshape(x, ())
    x = _permuted(t, modes, _order(layout))
    spatial = [layout.mode_shape[m] if m >= 0 else 1 for m in layout.spatial_modes]
    local = [layout.mode_shape[m] for m in layout.local_modes]
    x = t.w.reshape(x, [*spatial, *local])
    x = t.w.broadcast(x, [*layout.spatial_shape, *local])
    return t.w.reshape(x, (layout.spatial_size, layout.local_size))


def _from_threads(t: Translator, x: Tile, tensor: "Any") -> Tile:
    """The other way; of a replicated mode the first copy."""
    from tilus.hidet.ir.dtypes import int32

    layout = tensor.layout
    if x.shape[0] != layout.spatial_size:
        raise Refusal(f"a view of {x.shape[0]} threads as {layout.spatial_size}", "use layouts of the same threads")
    local = [layout.mode_shape[m] for m in layout.local_modes]
    full: "Tuple[int, ...]" = (*layout.spatial_shape, *local)
    x = t.w.reshape(x, full)
    once = [layout.mode_shape[m] if m >= 0 else 1 for m in layout.spatial_modes] + local
    if tuple(once) != full:
        zeros = ", ".join(str(t.x.number(0, int32)) for _ in full)
        x = t.w.op(f"extract {x}[{zeros}]", once, x.dtype, typed=True)
    order = _order(layout)
    x = t.w.reshape(x, [layout.mode_shape[m] for m in order])
    back = [order.index(d) for d in range(len(order))]
    return t.w.reshape(_permuted(t, x, back), tensor.shape)


def _recast(t: Translator, x: Tile, of: "Any", to: "Any") -> Tile:
    """The bits of each row as elements of another type, from the lowest bits on."""
    from ._small import from_bytes, to_bytes

    rows, columns = x.shape
    if columns * of.nbits % to.nbits:
        raise Refusal(f"a view of {columns} elements of {of.name} a thread as {to.name}", "view types whose bits fill the registers")
    if of.nbits == to.nbits and of.nbits >= 8:
        made = Tile("", x.shape, to)
        return x if element(of) == element(to) else t.w.op(f"bitcast {x}", made.shape, to, typed=True)
    return from_bytes(t, to_bytes(t, x), to, rows, columns * of.nbits // to.nbits)
