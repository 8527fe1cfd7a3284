"""Rearranges the elements of a tile by way of memory that only the block sees, where operations on tiles cannot.

    numbers(t, (3, 5))                              # [4, 8] of int64: 0 1 2 3 4 -1 …, 5 6 …; -1 where sizes are padded
    rearranged(t, x, numbers(t, old), numbers(t, new))     # a reshape of any sizes

The kernel has one such memory; its size is known when the kernel is written. Accesses to it are in the order of the program.
"""
from __future__ import annotations

import math

from ._expr import compare
from ._types import dtypes, is_bool, is_small, pointer_to
from ._writer import Tile, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional, Sequence

    from ._translate import Translator

_ORDER = "scratch"  # the key of the token of the last access


class Scratch:
    """The memory of a kernel: the line that allocates it, and how many bytes its uses need."""

    def __init__(self, t: "Translator") -> None:
        self.name, self.bytes = t.w.name(), 0
        self.line = t.w.put("")

    def end(self, t: "Translator") -> None:
        """Writes the allocation, if there are uses."""
        if self.bytes:
            t.w.replace(self.line, f"{self.name} = alloca num_elem = {self.bytes}, alignment = 16 : tile<ptr<i8>>")


def numbers(t: "Translator", shape: "Sequence[int]") -> Tile:
    """The place of each element in row-major order, as int64; -1 where sizes are padded."""
    int64 = dtypes.int64
    total: "Tile" = t.x.number(0, int64)
    for d in range(len(shape)):
        step = math.prod(shape[d + 1:])
        total = t.x.op("addi", total, t.x.op("muli", t.iota(d, shape, int64), t.x.number(step, int64), dtype=int64), dtype=int64)
    return only_inside(t, t.w.broadcast(total, shape), shape)


def only_inside(t: "Translator", places: Tile, shape: "Sequence[int]") -> Tile:
    """The places, -1 where the tile of a tensor of this shape is padded."""
    inside: "Optional[Tile]" = None
    for d in range(len(shape)):
        inside = t.both(inside, t.inside(d, shape))
    if inside is None:
        return places
    return t.x.op("select", inside, places, t.x.number(-1, places.dtype), dtype=places.dtype)


def rearranged(t: "Translator", x: Tile, source: Tile, target: Tile, count: int) -> Tile:
    """A tile in the shape of `target`, whose elements are those of `x` with the same place; 0 where the place is -1.

    `source` has a place below `count` for each element of `x`, or -1 for one that is left out."""
    if is_bool(x.dtype):
        return t.x.truth(rearranged(t, t.x.cast(x, dtypes.uint8), source, target, count))
    if is_small(x.dtype):
        made = rearranged(t, Tile(x.name, x.shape, dtypes.uint8), source, target, count)
        return Tile(made.name, made.shape, x.dtype)
    scratch: Scratch = t.tiles["scratch"]
    scratch.bytes = max(scratch.bytes, count * max(1, x.dtype.nbits // 8))
    base = t.x.cast(Tile(scratch.name, (), pointer_to(dtypes.int8)), pointer_to(x.dtype))
    stored = t.w.token(f"store_ptr_tko weak {_pointers(t, base, source)}, {x}, {_exists(t, source)} token = {t.state[_ORDER]}")
    made, after = Tile(t.w.name(), target.shape, x.dtype), Token(t.w.name())
    exists, zero = _exists(t, target), t.x.number(0, x.dtype, target.shape)
    t.w.put(f"{made}, {after} = load_ptr_tko weak {_pointers(t, base, target)}, {exists}, {zero} token = {stored}")
    t.state[_ORDER] = after
    return made


def _pointers(t: "Translator", base: Tile, places: Tile) -> Tile:
    return t.x.op("offset", t.w.broadcast(base, places.shape), places, dtype=base.dtype)


def _exists(t: "Translator", places: Tile) -> Tile:
    return compare(t.x, "greater_than_or_equal", places, t.x.number(0, places.dtype))
