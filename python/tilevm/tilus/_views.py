"""`view`: the registers of each thread, read as elements of another type and in another layout.

A layout splits the shape into modes; some count threads, the others the elements of a thread. Where all sizes are powers of two, a tile
becomes [threads, bits of a thread], and the bits become the other tile in the same way. Elsewhere the bits go through memory.
"""
from __future__ import annotations

import math

from ._refuse import Refusal
from ._registers import combine
from ._scratch import only_inside, rearranged
from ._small import bits_in_int32, element_bits
from ._translate import Translator, row
from ._types import dtypes, element, is_bool, is_float, is_padded, is_small
from ._writer import Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Sequence, Tuple


@row("ViewInst")
def _view(t: Translator, i: "Any") -> None:
    source, target = i.inputs[0], i.output
    if getattr(i.local_offset, "value", None) != 0:
        raise Refusal("a view that begins with a later register of a thread (local_offset)", "view the whole tensor, then slice it")
    if source.optional_layout is None or target.optional_layout is None:
        raise Refusal("a view of a tensor without layout", "annotate the layout (annotate_layout)")
    if source.layout.spatial_size != target.layout.spatial_size:
        raise Refusal(f"a view of {source.layout.spatial_size} threads as {target.layout.spatial_size}", "use layouts of the same threads")
    x = t.register(source)
    if not _is_plain(i):
        t.define(target, _by_units(t, x, i))
        return
    threads = _by_thread(t, x, source.layout)
    if source.dtype.name != target.dtype.name:
        threads = _recast(t, threads, source.dtype, target.dtype)
    t.define(target, _from_threads(t, threads, target))


def _is_plain(i: "Any") -> bool:
    """Whether shapes are powers of two, and no element crosses bytes."""
    source, target = i.inputs[0], i.output
    same = source.dtype.name == target.dtype.name
    return not is_padded(source.layout.mode_shape + target.layout.mode_shape) and (same or not is_padded([source.dtype.nbits, target.dtype.nbits]))


# --- powers of two: reshape, permute, and bytes


def _order(layout: "Any") -> "List[int]":
    """The modes: those of threads, then those of the elements of a thread. Replicated ones are not among them."""
    return [m for m in layout.spatial_modes if m >= 0] + list(layout.local_modes)


def _permuted(t: Translator, x: Tile, order: "Sequence[int]") -> Tile:
    if list(order) == sorted(order):
        return x
    return t.w.op(f"permute {x} {list(order)}", tuple(x.shape[d] for d in order), x.dtype)


def _by_thread(t: Translator, x: Tile, layout: "Any") -> Tile:
    """[threads, elements of a thread]"""
    x = _permuted(t, t.w.reshape(x, layout.mode_shape), _order(layout))
    spatial = [layout.mode_shape[m] if m >= 0 else 1 for m in layout.spatial_modes]
    local = [layout.mode_shape[m] for m in layout.local_modes]
    x = t.w.broadcast(t.w.reshape(x, [*spatial, *local]), [*layout.spatial_shape, *local])
    return t.w.reshape(x, (layout.spatial_size, layout.local_size))


def _from_threads(t: Translator, x: Tile, tensor: "Any") -> Tile:
    """The tile of a tensor from [threads, elements of a thread]. Threads that have the same element are taken to agree."""
    layout = tensor.layout
    local = [layout.mode_shape[m] for m in layout.local_modes]
    full: "Tuple[int, ...]" = (*layout.spatial_shape, *local)
    x = t.w.reshape(x, full)
    once = [layout.mode_shape[m] if m >= 0 else 1 for m in layout.spatial_modes] + local
    if tuple(once) != full:
        zeros = ", ".join(str(t.x.number(0, dtypes.int32)) for _ in full)
        x = t.w.op(f"extract {x}[{zeros}]", once, x.dtype, typed=True)
    order = _order(layout)
    x = t.w.reshape(x, [layout.mode_shape[m] for m in order])
    back = [order.index(d) for d in range(len(order))]
    return t.w.reshape(_permuted(t, x, back), tensor.shape)


def _recast(t: Translator, x: Tile, of: "Any", to: "Any") -> Tile:
    """The bits of each row as elements of another type, from the lowest bits on."""
    rows, columns = x.shape
    if of.nbits == to.nbits and of.nbits >= 8 and not is_bool(of) and not is_bool(to):
        return x if element(of) == element(to) else t.w.op(f"bitcast {x}", x.shape, to, typed=True)
    return _from_bytes(t, _to_bytes(t, x), to, rows, columns * of.nbits // to.nbits)


def _to_bytes(t: Translator, x: Tile) -> Tile:
    """All bits of a tile in row-major order, as one row of bytes."""
    line = t.w.reshape(x, (x.count,))
    if is_small(x.dtype):
        per = 8 // x.dtype.nbits
        lanes = t.w.reshape(bits_in_int32(t.x, line), (x.count // per, per))
        return t.x.cast(_joined(t, lanes, x.dtype.nbits), dtypes.uint8)
    if is_bool(x.dtype):
        return t.x.cast(line, dtypes.uint8)
    if element(x.dtype) == "i8":
        return Tile(line.name, line.shape, dtypes.uint8)
    if x.dtype.nbits == 8:
        return t.w.op(f"bitcast {line}", line.shape, dtypes.uint8, typed=True)
    made = Tile(t.w.name(), (x.count * x.dtype.nbits // 8,), dtypes.uint8)
    t.w.put(f"{made} = pack {line} -> {made.type}")
    return made


def _from_bytes(t: Translator, line: Tile, to: "Any", rows: int, columns: int) -> Tile:
    """The elements of [rows, columns] from a row of bytes."""
    if is_small(to):
        per = 8 // to.nbits
        lanes = _split(t, t.x.cast(line, dtypes.int32), to.nbits, per)
        return t.w.reshape(element_bits(t.x, lanes, to), (rows, columns))
    if is_bool(to):
        line = t.x.truth(line)
    elif to.nbits == 8:
        line = Tile(line.name, line.shape, to) if element(to) == "i8" else t.w.op(f"bitcast {line}", line.shape, to, typed=True)
    else:
        made = Tile(t.w.name(), (rows * columns,), to)
        t.w.put(f"{made} = unpack {line} -> {made.type}")
        line = made
    return t.w.reshape(line, (rows, columns))


def _joined(t: Translator, lanes: Tile, bits: int) -> Tile:
    """Integers from their parts of some bits each, along the last dimension, the lowest part first."""
    last = len(lanes.shape) - 1
    step = t.x.number(bits, lanes.dtype)
    shifts = t.x.op("muli", t.iota(last, (1,) * last + lanes.shape[-1:], lanes.dtype), step, dtype=lanes.dtype)
    return combine(t, "reduce", t.x.op("shli", lanes, shifts, dtype=lanes.dtype), last, "or", lanes.shape[:-1])


def _split(t: Translator, x: Tile, bits: int, parts: int) -> Tile:
    """The other way: another dimension, whose elements have the part in their lowest bits and more above."""
    rank = len(x.shape)
    shifts = t.x.op("muli", t.iota(rank, (1,) * rank + (parts,), x.dtype), t.x.number(bits, x.dtype), dtype=x.dtype)
    return t.x.op("shri", t.w.reshape(x, (*x.shape, 1)), shifts, dtype=x.dtype, words=" unsigned")


# --- any sizes: units of bits that both types are made of, by way of memory


def _by_units(t: Translator, x: Tile, i: "Any") -> Tile:
    source, target = i.inputs[0], i.output
    unit = math.gcd(source.dtype.nbits, target.dtype.nbits, 8)
    per_source, per_target = source.dtype.nbits // unit, target.dtype.nbits // unit
    per_thread = source.layout.local_size * per_source
    units = t.x.cast(_split(t, _bits(t, x), unit, per_source), dtypes.uint8)
    stored = _places(t, source, per_thread, per_source, None)
    wanted = _places(t, target, per_thread, per_target, source.layout)
    found = rearranged(t, units, only_inside(t, stored, (*source.shape, per_source)), only_inside(t, wanted, (*target.shape, per_target)),
                       source.layout.spatial_size * per_thread)
    masked = t.x.op("andi", t.x.cast(found, dtypes.int64), t.x.number((1 << unit) - 1, dtypes.int64), dtype=dtypes.int64)
    return _from_bits(t, _joined(t, masked, unit), target.dtype)


def _places(t: Translator, tensor: "Any", per_thread: int, per_element: int, holder: "Any") -> Tile:
    """The numbers of the units of each element, in another dimension: those of thread 0, then those of thread 1, and so on.

    `holder`: the layout whose threads are asked for; of threads with the same elements it means the first one."""
    int64, layout = dtypes.int64, tensor.layout
    coordinates = [t.iota(d, tensor.shape, int64) for d in range(len(tensor.shape))]
    modes: "List[Tile]" = []
    for at, group in zip(coordinates, layout.grouped_modes):
        modes += _digits(t, at, [layout.mode_shape[m] for m in group])
    zero = t.x.number(0, int64)
    thread = _number(t, [modes[m] if m >= 0 else zero for m in layout.spatial_modes], layout.spatial_shape)
    if holder is not None:
        digits = _digits(t, thread, holder.spatial_shape)
        thread = _number(t, [digit if m >= 0 else zero for digit, m in zip(digits, holder.spatial_modes)], holder.spatial_shape)
    local = _number(t, [modes[m] for m in layout.local_modes], layout.local_shape)
    first = t.x.op("addi", t.x.op("muli", thread, t.x.number(per_thread, int64), dtype=int64),
                   t.x.op("muli", local, t.x.number(per_element, int64), dtype=int64), dtype=int64)
    rank = len(tensor.shape)
    first = t.w.reshape(t.w.broadcast(first, tensor.shape), (*tensor.shape, 1))
    return t.x.op("addi", first, t.iota(rank, (1,) * rank + (per_element,), int64), dtype=int64)


def _digits(t: Translator, number: Tile, sizes: "Sequence[int]") -> "List[Tile]":
    """The digits of a number with a base for each digit, the last one being the lowest."""
    int64 = dtypes.int64
    digits: "List[Tile]" = []
    for size in reversed(sizes):
        base = t.x.number(size, int64)
        digits.insert(0, t.x.op("remi", number, base, dtype=int64, words=" signed"))
        number = t.x.op("divi", number, base, dtype=int64, words=" signed")
    return digits


def _number(t: Translator, digits: "Sequence[Tile]", sizes: "Sequence[int]") -> Tile:
    total = t.x.number(0, dtypes.int64)
    for digit, size in zip(digits, sizes):
        total = t.x.op("addi", t.x.op("muli", total, t.x.number(size, dtypes.int64), dtype=dtypes.int64), digit, dtype=dtypes.int64)
    return total


def _bits(t: Translator, x: Tile) -> Tile:
    """The bits of each element, in an int64."""
    if is_small(x.dtype):
        return t.x.cast(bits_in_int32(t.x, x), dtypes.int64)
    if is_float(x.dtype):
        x = t.w.op(f"bitcast {x}", x.shape, _unsigned(x.dtype.nbits), typed=True)
    elif not is_bool(x.dtype):
        x = Tile(x.name, x.shape, _unsigned(x.dtype.nbits))
    return t.x.cast(x, dtypes.int64)


def _from_bits(t: Translator, bits: Tile, to: "Any") -> Tile:
    if is_small(to):
        return element_bits(t.x, t.x.cast(bits, dtypes.int32), to)
    if is_bool(to):
        return t.x.truth(bits)
    whole = t.x.cast(bits, _unsigned(to.nbits))
    return t.w.op(f"bitcast {whole}", whole.shape, to, typed=True) if is_float(to) else Tile(whole.name, whole.shape, to)


def _unsigned(bits: int) -> "Any":
    return getattr(dtypes, f"uint{bits}")
