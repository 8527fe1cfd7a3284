"""A trace: the program that a Python function builds while it runs on tiles.

The function is run until what it needs to know at its beginning is known: which arrays are written (accesses to others need no
tokens) and which views are used (they are made once, in front). Usually that is twice.

Regions are the bodies of loops and branches. A value belongs to the region that it was made in; behind a terminator a region is
dead: what is traced there is dropped.

Order of accesses: each array has a state: the token that its writes end in and the tokens of reads since. A read comes after the
writes, a write after both; `acquire` comes before every later access to memory that is written, `release` after every earlier one.
So each block sees its own accesses in the order of the Python code, and arrays that nobody writes cost nothing.
"""
from __future__ import annotations

import threading

from ..builder import Builder, Value
from ._errors import is_unread, place, script_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, NoReturn, Optional, Sequence, Set, Tuple

    from .._places import Place

_local = threading.local()


class Region:
    """A body: `kind` is "kernel", "for", "while" or "if"."""

    __slots__ = ("kind", "parent", "alive", "dead", "leave")

    def __init__(self, kind: str, parent: "Optional[Region]", leave: "Optional[Callable[[], None]]" = None) -> None:
        self.kind = kind
        self.parent = parent
        self.alive = True  # it is part of the program, not of a round that was traced again
        self.dead = False  # a terminator was added
        self.leave = leave  # of loops: adds a `continue`

    def within(self, other: "Region") -> bool:
        at: "Optional[Region]" = self
        while at is not None and at is not other:
            at = at.parent
        return at is not None


class Memory:
    """Tokens of one array: `written` (None: by nobody yet), `read` since."""

    __slots__ = ("written", "read")

    def __init__(self, written: "Optional[Value]" = None, read: "Tuple[Value, ...]" = ()) -> None:
        self.written = written
        self.read = read

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Memory) and self.written is other.written and self.read == other.read

    def all(self) -> "Tuple[Value, ...]":
        return (() if self.written is None else (self.written,)) + self.read


class Plan:
    """What a run found out for the next: arrays that are written, views that are used (array, type)."""

    def __init__(self) -> None:
        self.written: "Set[str]" = set()
        self.views: "Set[Tuple[str, str]]" = set()

    def covers(self, other: "Plan") -> bool:
        return other.written <= self.written and other.views <= self.views

    def add(self, other: "Plan") -> None:
        self.written |= other.written
        self.views |= other.views


class _Builder(Builder):
    at: "Optional[Place]" = None

    def _place(self) -> "Place":
        return self.at or place()


class Trace:
    """The program that is being built. `current()` is that of the running kernel."""

    def __init__(self, name: str, plan: Plan) -> None:
        self.builder = _Builder(name)
        self.plan = plan
        self.found = Plan()
        self.region = Region("kernel", None)
        self.memory: "Dict[str, Memory]" = {}
        self.views: "Dict[Any, Tuple[Value, Region]]" = {}
        self.frames: "List[Region]" = [self.region]  # of functions that are running: the regions that they were called in
        self.shared = 0

    # --- operations

    def emit(self, mnemonic: str, *operands: "Any", results: "Sequence[str]" = (), **attributes: "Any") -> "Any":
        """Adds an operation; nothing of it remains in a dead region."""
        mark = self.mark()
        made = self.builder._add(_op(mnemonic), operands, {**attributes, "results": list(results)})
        if self.region.dead:
            self.cut(mark)
        return made

    def end(self, mnemonic: str, *operands: "Value") -> None:
        """Adds a terminator."""
        if not self.region.dead:
            types = f" : {', '.join(v.type for v in operands)}" if operands else ""
            self.builder._put(f"{mnemonic} {', '.join(v.name for v in operands)}".rstrip() + types, "op")
            self.region.dead = True

    def fall_through(self) -> None:
        """Ends a region that nothing reaches the end of, so that it ends at all."""
        region: "Optional[Region]" = self.region
        while region is not None and region.leave is None:
            region = region.parent
        if region is not None and region.leave is not None:
            region.leave()
        else:
            self.end("return")

    def mark(self) -> int:
        return len(self.builder._lines)

    def cut(self, mark: int) -> "Tuple[Any, ...]":
        """Takes the lines from a mark on away, to drop them or to `paste` them elsewhere."""
        b = self.builder
        lines = (b._lines[mark:], b._places[mark:], b._kinds[mark:])
        del b._lines[mark:], b._places[mark:], b._kinds[mark:]
        return lines

    def paste(self, lines: "Tuple[Any, ...]") -> None:
        b = self.builder
        b._lines += lines[0]
        b._places += lines[1]
        b._kinds += lines[2]

    def visible(self, region: Region) -> bool:
        return region.alive and self.region.within(region)

    # --- tokens

    def join(self, tokens: "Sequence[Value]") -> "Value":
        """One token behind all of these."""
        different = list({t.name: t for t in tokens}.values())
        if len(different) == 1:
            return different[0]
        made: Value = self.emit("join_tokens", tuple(different), results=["token"]) if different else self.emit("make_token", results=["token"])
        return made

    def before(self, keys: "Sequence[str]", writes: bool, order: str = "weak") -> "Optional[Value]":
        """The token that an access to these arrays takes."""
        if writes or order != "weak":
            self.found.written.update(keys)
        if order in ("release", "acq_rel"):
            tokens = [t for m in self.memory.values() for t in m.all()]
        else:
            states = [self.memory[k] for k in keys if k in self.memory]
            tokens = [t for m in states for t in (m.all() if writes else (() if m.written is None else (m.written,)))]
        return self.join(tokens) if tokens else None

    def after(self, keys: "Sequence[str]", writes: bool, token: "Value", order: str = "weak") -> None:
        """Notes the token that the access gave."""
        for key in keys:
            if key in self.plan.written:
                old = self.memory.get(key, Memory())
                self.memory[key] = Memory(token) if writes else Memory(old.written, old.read + (token,))
        if order in ("acquire", "acq_rel"):
            for key in self.plan.written:
                self.memory[key] = Memory(self.join([*self.memory.get(key, Memory()).all(), token]))


def _op(mnemonic: str) -> "Dict[str, Any]":
    from ..builder import table

    op: "Dict[str, Any]" = table()["op_of"][mnemonic]
    return op


def current(what: str) -> Trace:
    """The trace of the kernel that is running. Errors: script.outside."""
    trace: "Optional[Trace]" = getattr(_local, "trace", None)
    if trace is None:
        raise script_error("script.outside", f"{what} outside of a kernel", "call it in a function with @script.kernel, or one that such a function calls")
    return trace


def running() -> "Optional[Trace]":
    """The trace of the kernel that is running, or None."""
    return getattr(_local, "trace", None)


def set_running(trace: "Optional[Trace]") -> "Optional[Trace]":
    """Makes a trace the running one of this thread; gives the one before."""
    before = running()
    _local.trace = trace
    return before


def fail(code: str, message: str, fix: str = "") -> "NoReturn":
    """Raises a ScriptError at the Python line that is running."""
    raise script_error(code, message, fix)


def fail_unread(what: str) -> None:
    """Errors: script.source if the statement that is running could have become a part of the kernel, had its source been read."""
    if is_unread():
        raise script_error("script.source", f"{what}, in a kernel whose source cannot be read",
                           "put the kernel into a file or a notebook: `for`, `while` and `if` on tiles need the text of the function")
