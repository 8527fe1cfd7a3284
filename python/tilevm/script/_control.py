"""What rewritten `if`, `return` and `assert` ask while a kernel is traced (_rewrite.py); loops are in _loops.py.

A condition that is no tile is Python's: one branch is traced. On a scalar tile both are, each into lines of its own, and variables that
differ behind them become results of an `if` operation.
"""
from __future__ import annotations

import functools

from . import _arith
from ._carry import Unset, as_spec, flatten, merged, origins, rebuild, same, shape_of_nest, type_of
from ._dtypes import BOOL
from ._errors import script_error
from ._loops import For, While
from ._tile import Tile, make, use
from ._trace import Memory, Region, Trace, current, fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, NoReturn, Optional, Sequence, Tuple, TypeVar

    from .._places import Place
    from ..builder import Value
    from ._carry import Spec

    F = TypeVar("F", bound=Callable[..., Any])


def get(name: str, read: "Callable[[], Any]") -> "Any":
    """A variable's value, or an Unset."""
    try:
        return read()
    except NameError:
        return Unset(name, "it is not assigned on every way that leads here")


def framed(function: "F") -> "F":
    """A function in which `return` is its own, wherever it is called; functions that a kernel defines become such."""

    @functools.wraps(function)
    def call(*args: "Any", **named: "Any") -> "Any":
        trace = current(function.__name__)
        trace.frames.append(trace.region)
        try:
            return function(*args, **named)
        finally:
            trace.frames.pop()

    return call  # type: ignore[return-value]


def returns(value: bool) -> bool:
    """Whether Python returns; behind a tile's condition it cannot know, and the operation does."""
    trace = current("return")
    if trace.region is trace.frames[-1]:
        return True
    if len(trace.frames) > 1 or value:
        fail("script.control", "return with a value in a loop or branch on a tile" if value else
             "return from a function in a loop or branch on a tile", "assign the value to a variable, and return behind the loop or branch")
    region: "Any" = trace.region
    while region is not None:
        if region.kind == "for":
            fail("script.control", "return in a for loop over script.range", "use while, which can be left")
        region = region.parent
    trace.end("return")
    return False


def result(value: "Any") -> "Any":
    """What a `return` gives: of a kernel nothing."""
    if len(current("return").frames) == 1 and value is not None:
        gives(value)
    return value


def gives(value: "Any", at: "Optional[Place]" = None) -> "NoReturn":
    """Errors: script.control, always."""
    outputs = "script.store(y, index, tile) writes to an output, which a call gives"
    raise script_error("script.control", f"the kernel returns {value!r}", f"a kernel gives nothing back: {outputs}", at)


def assert_(condition: "Any", message: "Callable[[], Any]") -> None:
    """assert: at once if Python knows the condition, else when the kernel runs, of each element."""
    if not isinstance(condition, Tile):
        assert condition, message()
        return
    text = message()
    if not isinstance(text, str):
        fail("script.constant", f"assert with the message {text!r}", "the message is a Python string")
    current("assert").emit("assert", use(_arith.convert(condition, BOOL)), message=text or "an assertion failed")


class _Branch:
    """What tracing one branch left."""

    def __init__(self, values: "List[Any]", memory: "Dict[str, Memory]", lines: "Any", region: "Region") -> None:
        self.values = values
        self.memory = memory
        self.lines = lines
        self.region = region


class If:
    """An `if` statement."""

    def __init__(self, condition: "Any", names: "Sequence[str]", values: "Sequence[Any]") -> None:
        self.traced = isinstance(condition, Tile)
        if not self.traced:
            self.holds = bool(condition)
            return
        if condition.shape != ():
            fail("script.control", f"`if` on a tile of shape {condition.shape}",
                 "a condition is a scalar: script.any(c) or script.all(c); script.where chooses element by element")
        trace = current("if")
        self.trace: Trace = trace
        self.names = names
        self.values = list(values)
        self.outside = trace.region
        self.start = trace.mark()
        self.place = trace.builder._place()
        self.condition = use(_arith.convert(condition, BOOL))
        self.memory = dict(trace.memory)
        self.branches: "List[_Branch]" = []

    def _begin(self) -> bool:
        trace = self.trace
        self.mark = trace.mark()
        trace.region = Region("if", self.outside)
        trace.memory = dict(self.memory)
        trace.builder._depth += 1
        return True

    def then(self) -> bool:
        """Whether the body is traced."""
        return self._begin() if self.traced else self.holds

    def otherwise(self) -> bool:
        """Whether the body of else is traced."""
        return self._begin() if self.traced else not self.holds

    def before(self, values: "Sequence[Any]") -> "Sequence[Any]":
        """The variables at the beginning of else."""
        return self.values if self.traced else values

    def done(self, values: "Sequence[Any]") -> None:
        """At the end of a body."""
        if self.traced:
            trace = self.trace
            self.branches.append(_Branch(list(values), trace.memory, trace.cut(self.mark), trace.region))
            trace.builder._depth -= 1
            trace.region = self.outside
            trace.memory = dict(self.memory)

    def leave(self, values: "Sequence[Any]") -> "Sequence[Any]":
        """The variables behind the statement."""
        if not self.traced:
            return values
        if len(self.branches) == 1:
            self._begin()
            self.done(self.values)
        at, self.trace.builder.at = self.trace.builder.at, self.place
        try:
            return self._assemble()
        finally:
            self.trace.builder.at = at

    def _assemble(self) -> "List[Any]":
        trace, live = self.trace, [b for b in self.branches if not b.region.dead]
        slots: "List[Tuple[int, int, Spec]]" = []  # variable, leaf, and what it becomes
        out: "List[Any]" = list(self.values)
        for i, name in enumerate(self.names):
            given = [b.values[i] for b in live]
            if not given:
                continue
            if any(isinstance(v, Unset) for v in given):
                out[i] = given[0] if all(isinstance(v, Unset) for v in given) else Unset(name, "only one branch assigns it")
                continue
            if any(shape_of_nest(v) != shape_of_nest(given[0]) for v in given):
                fail("script.carry", f"`{name}` is {given[0]!r} in one branch and {given[1]!r} in the other", "give it one form in both")
            leaves = [flatten(v) for v in given]
            out[i] = given[0]
            for j, first in enumerate(leaves[0]):
                last = leaves[-1][j]
                if same(first, last) and not (isinstance(first, Tile) and not trace.visible(first._region)):
                    continue
                slots.append((i, j, merged(first, last, name, "in one branch and") if len(live) > 1 else (first.dtype, first.shape)))
        tokens = self._tokens(live)
        body = trace.builder.if_(self.condition, [type_of(s) for _, _, s in slots] + ["token"] * len(tokens))
        for number, branch in enumerate(self.branches):
            if number == 1:
                if not (branch.lines[0] or slots or tokens or branch.region.dead):
                    break
                other = trace.builder.else_()
            (body if number == 0 else other).__enter__()
            self._fill(branch, slots, tokens)
            (body if number == 0 else other).__exit__(None, None, None)
        trace.region, trace.memory = self.outside, dict(self.memory)
        results = list(body.results)
        for i in {i for i, _, _ in slots}:
            leaves_now = flatten(out[i])
            for k, (n, j, spec) in enumerate(slots):
                if n == i:
                    leaves_now[j] = make(results[k], spec[0], spec[1], origins([flatten(b.values[i])[j] for b in live]))
            out[i] = rebuild(out[i], leaves_now)
        for k, (key, which) in enumerate(tokens.items()):
            token = results[len(slots) + k]
            trace.memory[key] = Memory(token) if which == "w" else Memory(self.memory.get(key, Memory()).written, (token,))
        if self.outside.dead:
            trace.cut(self.start)
        elif not live:
            trace.fall_through()
        return out

    def _tokens(self, live: "List[_Branch]") -> "Dict[str, str]":
        found: "Dict[str, str]" = {}
        for branch in live:
            for key, state in branch.memory.items():
                old = self.memory.get(key, Memory())
                if state.written is not old.written:
                    found[key] = "w"
                elif state != old:
                    found.setdefault(key, "r")
        return found

    def _fill(self, branch: "_Branch", slots: "List[Tuple[int, int, Spec]]", tokens: "Dict[str, str]") -> None:
        trace = self.trace
        trace.region, trace.memory = branch.region, branch.memory
        trace.paste(branch.lines)
        if branch.region.dead:
            return
        passed: "List[Value]" = [as_spec(flatten(branch.values[i])[j], spec, self.names[i]) for i, j, spec in slots]
        for key, which in tokens.items():
            state = branch.memory.get(key, Memory())
            passed.append(trace.join(state.all() if which == "w" else state.read))
        if passed:
            trace.end("yield", *passed)


__all__ = ["For", "While", "If", "framed", "get", "returns", "result", "assert_"]
