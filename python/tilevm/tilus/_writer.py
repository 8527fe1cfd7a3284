"""The text of a kernel while it is written: lines, each with the place in Python that it comes from.

    w = Writer("k")
    a = w.op("addi %x, %y", (16,), int32)          # a Tile; types that do not follow from the operands: typed=True
    with w.body("if %c"): …
    w.text()                                       # with debug records, so that messages name lines of Python
"""
from __future__ import annotations

import contextlib
import math

from .._places import located
from ._types import element, padded, tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Sequence

    from .._places import Place


class Tile:
    """A value: its name, its sizes (powers of two), the type that Tilus gives its elements."""

    __slots__ = ("name", "shape", "dtype")

    def __init__(self, name: str, shape: "Sequence[int]", dtype: "Any") -> None:
        self.name, self.shape, self.dtype = name, padded(shape), dtype

    @property
    def type(self) -> str:
        return tile(self.shape, self.dtype)

    @property
    def count(self) -> int:
        """The number of elements, those of padding among them."""
        return math.prod(self.shape)

    def __str__(self) -> str:
        return self.name


class Token:
    """A value that orders accesses."""

    __slots__ = ("name",)
    type = "token"

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name


class Writer:
    def __init__(self, name: str) -> None:
        self.lines: "List[str]" = [f"module @{name}"]
        self.places: "List[Place]" = [("", 0, 1)]
        self.kinds: "List[str]" = [""]
        self.place: "Place" = ("", 0, 1)  # the place of the lines that are written next
        self._depth = 0
        self._next = 0
        self._constants: "List[Dict[str, Tile]]" = [{}]  # by scope

    def text(self) -> str:
        """The module, without lines that were left empty."""
        written = [i for i, line in enumerate(self.lines) if line.strip()]
        return located([self.lines[i] for i in written], [self.places[i] for i in written], [self.kinds[i] for i in written])

    def put(self, text: str, kind: str = "op") -> int:
        """Adds a line and gives its number."""
        self.lines.append("  " * self._depth + text)
        self.places.append(self.place)
        self.kinds.append(kind)
        return len(self.lines) - 1

    def name(self) -> str:
        self._next += 1
        return f"%{self._next}"

    def op(self, text: str, shape: "Sequence[int]", dtype: "Any", typed: bool = False) -> Tile:
        made = Tile(self.name(), shape, dtype)
        self.put(f"{made} = {text}" + (f" : {made.type}" if typed else ""))
        return made

    def constant(self, value: "Any", dtype: "Any", shape: "Sequence[int]" = ()) -> Tile:
        """A constant. Equal ones of a scope are one value."""
        made = Tile("", shape, dtype)
        text = f"constant <{element(dtype)}: {value}> : {made.type}"
        for scope in self._constants:
            if text in scope:
                return scope[text]
        made.name = self.name()
        self.put(f"{made} = {text}")
        self._constants[-1][text] = made
        return made

    def token(self, text: str) -> Token:
        made = Token(self.name())
        self.put(f"{made} = {text}")
        return made

    @contextlib.contextmanager
    def scope(self) -> "Iterator[None]":
        """The inside of a region. Values that are made there are unknown after it."""
        self._depth += 1
        self._constants.append({})
        yield
        self._constants.pop()
        self._depth -= 1

    @contextlib.contextmanager
    def body(self, head: str, end: str = "}") -> "Iterator[int]":
        """An operation with one body; gives the number of its first line."""
        before = self.place
        at = self.put(head + " {", "open")
        with self.scope():
            yield at
        self.place = before
        if end:
            self.put(end, "close")

    def replace(self, line: int, text: str) -> None:
        """Replaces a line whose text was not known when it was added."""
        depth = len(self.lines[line]) - len(self.lines[line].lstrip())
        self.lines[line] = " " * depth + text

    def reshape(self, value: Tile, shape: "Sequence[int]") -> Tile:
        if tuple(value.shape) == padded(shape):
            return value
        return self.op(f"reshape {value}", shape, value.dtype, typed=True)

    def broadcast(self, value: Tile, shape: "Sequence[int]") -> Tile:
        """To a shape of the same rank, or from a scalar."""
        wanted = padded(shape)
        if tuple(value.shape) == wanted:
            return value
        if not value.shape:
            value = self.reshape(value, (1,) * len(wanted))
        if tuple(value.shape) == wanted:
            return value
        return self.op(f"broadcast {value}", wanted, value.dtype, typed=True)
