"""A window of an allocation, in shared or tensor memory: where it begins in each dimension, its sizes, and the dimensions that a part has.

    w = Window.all_of((3, 16, 8))
    w = w.slice(t, offsets=[i, 0, 0], kept={1: 16, 2: 8})     # shape (16, 8), and offset i in dimension 0
    w = w.permuted([1, 0])                                    # shape (8, 16)
"""
from __future__ import annotations

from ._types import dtypes
from ._writer import Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

    from ._translate import Translator

    Offset = Union[int, Tile]


def plus(t: "Translator", a: "Offset", b: "Offset") -> "Offset":
    """The sum of two offsets, a number if both are numbers."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if a == 0 or b == 0:
        return b if a == 0 else a
    return t.x.op("addi", as_tile(t, a), as_tile(t, b), dtype=dtypes.int64)


def as_tile(t: "Translator", offset: "Offset") -> Tile:
    """An offset as a tile of int64."""
    return t.x.number(offset, dtypes.int64) if isinstance(offset, int) else offset


def offset_of(t: "Translator", expr: "Any") -> "Offset":
    """The value that an expression has now: a number of Python, if it is a constant."""
    value = expr if isinstance(expr, int) else getattr(expr, "value", None)
    return int(value) if isinstance(value, int) else t.x.int64(expr)


class Window:
    """`whole`, `offsets` and `sizes` have a number for each dimension of the allocation; an offset may be a tile.

    `dims` has, for each dimension of the part, that of the allocation, or None for one of size 1 that the allocation does not have."""

    def __init__(self, whole: "Sequence[int]", offsets: "Sequence[Offset]", sizes: "Sequence[int]", dims: "Sequence[Optional[int]]") -> None:
        self.whole, self.offsets, self.sizes, self.dims = tuple(whole), list(offsets), list(sizes), list(dims)

    @staticmethod
    def all_of(whole: "Sequence[int]") -> "Window":
        return Window(whole, [0] * len(whole), whole, range(len(whole)))

    @property
    def shape(self) -> "Tuple[int, ...]":
        """The shape of the part."""
        return tuple(1 if d is None else self.sizes[d] for d in self.dims)

    @property
    def is_whole(self) -> bool:
        return tuple(self.sizes) == self.whole

    def slice(self, t: "Translator", offsets: "Sequence[Any]", kept: "Dict[int, int]") -> "Window":
        """A window of this one: an expression for each of its dimensions, and the size of each dimension that is kept.

        The expressions are evaluated now, because the program may change their variables later."""
        starts, sizes = list(self.offsets), list(self.sizes)
        for d, expr in enumerate(offsets):
            at = self.dims[d]
            if at is not None:
                starts[at] = plus(t, starts[at], offset_of(t, expr))
                sizes[at] = kept.get(d, 1)
        return Window(self.whole, starts, sizes, [self.dims[d] for d in kept])

    def permuted(self, dims: "Sequence[int]") -> "Window":
        return Window(self.whole, self.offsets, self.sizes, [self.dims[d] for d in dims])

    def reshaped(self, shape: "Sequence[int]") -> "Window":
        """With dimensions of size 1 added or left out; the others are the same."""
        real = [d for d, n in zip(self.dims, self.shape) if n != 1]
        return Window(self.whole, self.offsets, self.sizes, [None if n == 1 else real.pop(0) for n in shape])

    def order(self) -> "List[int]":
        """The allocation's dimensions: those that the part does not have (their size is 1) first, then those of the part in its order."""
        kept = [d for d in self.dims if d is not None]
        return [d for d in range(len(self.whole)) if d not in kept] + kept
