"""Loops of a kernel (_rewrite.py).

A `for` over anything but `script.range` is Python's: it is unrolled. Over `script.range`, and a `while` whose condition is a tile or True, the body is
traced into a loop operation. Which variables and tokens it changes is known at its end only, so it is traced again with those carried,
until nothing new changes: mostly once or twice.
"""
from __future__ import annotations

import abc

from . import _arith
from ._carry import Unset, as_spec, flatten, merged, origins, rebuild, same, shape_of_nest, type_of
from ._dtypes import BOOL, I32, I64, DType
from ._tile import Tile, as_tile, constant, make, number_of, use
from ._trace import Memory, Region, Trace, current, fail, fail_unread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, FrozenSet, Iterable, Iterator, List, Optional, Sequence, Tuple

    from ..builder import Value
    from ._carry import Spec


class range:
    """The numbers from start to stop (not included) by step, of a loop that runs in the kernel: Python numbers or scalar tiles; the step is
    positive. Python's own range unrolls a loop.

        for k in script.range(script.num_tiles(a, 1, (64, 32))):
            sum = script.mma(script.load(a, (i, k), (64, 32)), script.load(b, (k, j), (32, 64)), sum)

    Variables that the body assigns are carried; each has one type and shape."""

    def __init__(self, start: "Any", stop: "Any" = None, step: "Any" = 1) -> None:
        current("range")
        if stop is None:
            start, stop = 0, start
        parts = [as_tile(v, None, "range") for v in (start, stop, step)]
        for given, tile in zip((start, stop, step), parts):
            if not isinstance(tile.dtype, DType) or not tile.dtype.is_integer or tile.shape:
                fail("script.type", f"range over {given!r}", "bounds and step are Python integers or scalar tiles of integers")
        number = number_of(step)
        if number is not None and number <= 0:
            fail("script.number", f"range with step {number}", "the step is positive: count up, and take n - 1 - i")
        wide = any(isinstance(t.dtype, DType) and (t.dtype.bits == 64 or t.dtype.name == "u32") for t in parts)
        self.dtype = I64 if wide else I32
        self.bounds = tuple(_arith.convert(t, self.dtype) for t in parts)

    def __iter__(self) -> "Iterator[Tile]":
        fail_unread("a loop over script.range")
        fail("script.control", "script.range outside of a `for` statement of a kernel",
             "loop in a function with @script.kernel or @script.function, by `for`, not in a comprehension; Python's own range is unrolled")


class _Traced(abc.ABC):
    """A loop operation. `specs`: what is carried, by variable and leaf; `tokens`: of which arrays, "w" (all accesses) or "r" (reads)."""

    def __init__(self, names: "Sequence[str]", values: "Sequence[Any]") -> None:
        self.trace: Trace = current("a loop")
        self.names = names
        self.before = list(values)
        self.outside = self.trace.region
        self.memory = dict(self.trace.memory)
        self.views = dict(self.trace.views)
        self.start, self.number = self.trace.mark(), self.trace.builder._next
        self.specs: "Dict[Tuple[int, int], Spec]" = {}
        self.origin: "Dict[Tuple[int, int], FrozenSet[str]]" = {}
        self.tokens: "Dict[str, str]" = {}
        self.extra: "Dict[int, List[Spec]]" = {}  # variables that only breaks of a `while True` give
        self.extra_like: "Dict[int, Any]" = {}
        self.results: "List[Any]" = self.before
        for i, value in enumerate(self.before):
            for j, leaf in enumerate(flatten(value)):
                if isinstance(leaf, Tile):
                    self.specs[i, j], self.origin[i, j] = (leaf.dtype, leaf.shape), leaf._origin

    def begin(self) -> None:
        """A round of tracing."""
        trace = self.trace
        trace.cut(self.start)
        trace.region, trace.memory, trace.views, trace.builder._next = self.outside, dict(self.memory), dict(self.views), self.number
        self.found = False  # something more is to be carried
        self.breaks: "List[List[Any]]" = []
        leaves = [flatten(v) for v in self.before]
        slots = sorted(self.specs)
        init = [as_spec(leaves[i][j], self.specs[i, j], self.names[i]) for i, j in slots]
        for key, which in self.tokens.items():
            state = self.memory.get(key, Memory())
            init.append(trace.join(state.all() if which == "w" else state.read))
        self.body = self.head(init)
        self.region = trace.region = Region(self.kind, self.outside, self._continue_unchanged)
        arguments = list(self.body.__enter__())
        self.arguments = arguments[len(arguments) - len(init):]
        self.index = arguments[:len(arguments) - len(init)]
        for (i, j), value in zip(slots, self.arguments):
            leaves[i][j] = make(value, *self.specs[i, j], self.origin[i, j])
        self.inside = [v if isinstance(v, Unset) else rebuild(v, list(part)) for v, part in zip(self.before, leaves)]
        for key, value in zip(self.tokens, self.arguments[len(self.specs):]):
            old = self.memory.get(key, Memory())
            trace.memory[key] = Memory(value) if self.tokens[key] == "w" else Memory(old.written, (value,))
        self.entered = dict(trace.memory)

    kind = "for"

    @abc.abstractmethod
    def head(self, init: "List[Value]") -> "Any":
        """The builder's loop, which carries `init`."""

    def _continue_unchanged(self) -> None:
        self.trace.end("continue", *self.arguments)

    def way_out(self, values: "Sequence[Any]", terminator: str) -> None:
        """A `continue` or `break`: passes what is carried, notes what should be."""
        trace = self.trace
        if trace.region.dead:
            return
        passed: "List[Value]" = []
        for i, name in enumerate(self.names):
            old, new = self.before[i], values[i]
            if isinstance(old, Unset):
                continue
            if isinstance(new, Unset):
                fail("script.carry", f"`{name}` loses its value in the loop", "assign it on every way through the body")
            if shape_of_nest(old) != shape_of_nest(new):
                fail("script.carry", f"`{name}` is {old!r} before the loop and {new!r} at the end of its body", "keep its form")
            for j, (was, is_) in enumerate(zip(flatten(self.inside[i]), flatten(new))):
                if (i, j) in self.specs:
                    spec = merged(was, is_, name, "at the beginning of a round and")
                    passed.append(as_spec(is_, spec, name))
                elif not same(was, is_):
                    self.specs[i, j], self.found = merged(was, is_, name, "before the loop and"), True
                    self.origin[i, j] = frozenset()
                if (i, j) in self.origin and not origins([is_]) <= self.origin[i, j]:
                    self.origin[i, j] |= origins([is_])
                    self.found = True
        if terminator == "break":
            self.breaks.append(list(values))
            for i, specs in self.extra.items():
                passed += [as_spec(leaf, spec, self.names[i]) for leaf, spec in zip(flatten(values[i]), specs)]
        carried = dict(self.tokens)
        for key, state in trace.memory.items():
            start = self.entered.get(key, Memory())
            which = carried.get(key)
            if state.written is not start.written and which != "w":
                self.tokens[key], self.found = "w", True
            elif state != start and which is None:
                self.tokens[key], self.found = "r", True
        for key, which in carried.items():
            state = trace.memory.get(key, Memory())
            passed.append(trace.join(state.all() if which == "w" else state.read))
        if self.found:
            trace.region.dead = True  # this round is traced again
        else:
            trace.end(terminator, *passed)

    def end(self) -> bool:
        """Whether the loop is complete; else another round is needed."""
        self.region.alive = False
        if self.found or self._more_from_breaks():
            self.trace.builder._depth -= 1
            return False
        trace = self.trace
        self.body.__exit__(None, None, None)
        trace.region, trace.memory, trace.views = self.outside, dict(self.memory), dict(self.views)
        results = list(self.body.results)
        leaves = [flatten(v) for v in self.before]
        for i, j in sorted(self.specs):
            leaves[i][j] = make(results.pop(0), *self.specs[i, j], self.origin[i, j])
        out = [v if isinstance(v, Unset) else rebuild(v, part) for v, part in zip(self.before, leaves)]
        for i, specs in self.extra.items():
            new = [make(results.pop(0), s[0], s[1], origins([flatten(b[i])[k] for b in self.breaks])) for k, s in enumerate(specs)]
            out[i] = rebuild(self.extra_like[i], new)
        for i, value in enumerate(out):
            if isinstance(value, Unset):
                out[i] = Unset(self.names[i], "only the loop assigns it, which may run no round")
        for key, which in self.tokens.items():
            token = results.pop(0)
            trace.memory[key] = Memory(token) if which == "w" else Memory(self.memory.get(key, Memory()).written, (token,))
        self.results = out
        if self.outside.dead:
            trace.cut(self.start)
        return True

    def _more_from_breaks(self) -> bool:
        return False



class _TracedFor(_Traced):
    def __init__(self, over: "range", names: "Sequence[str]", values: "Sequence[Any]") -> None:
        self.over = over
        self.bounds = [use(b) for b in over.bounds]
        super().__init__(names, values)

    def head(self, init: "List[Value]") -> "Any":
        lower, upper, step = self.bounds
        return self.trace.builder.for_(lower, upper, step, init)


class For:
    """A `for` statement."""

    def __init__(self, over: "Iterable[Any]", names: "Sequence[str]", values: "Sequence[Any]") -> None:
        self.over = over
        self.loop: "Optional[_TracedFor]" = _TracedFor(over, names, values) if isinstance(over, range) else None
        self.region = current("for").region

    def rounds(self) -> "Iterator[Any]":
        """The indices: of a traced loop one per round of tracing."""
        loop = self.loop
        if loop is None:
            yield from self.over
            return
        while True:
            loop.begin()
            yield make(loop.index[0], loop.over.dtype, ())
            if loop.end():
                return

    def enter(self, values: "Sequence[Any]") -> "Sequence[Any]":
        """The variables at the beginning of the body."""
        return values if self.loop is None else self.loop.inside

    def next(self, values: "Sequence[Any]") -> None:
        """At the end of the body."""
        if self.loop is not None:
            self.loop.way_out(values, "continue")

    def continue_(self, values: "Sequence[Any]") -> bool:
        """Whether Python continues."""
        if self.loop is None:
            return self._static("continue")
        self.loop.way_out(values, "continue")
        return False

    def break_(self, values: "Sequence[Any]") -> bool:
        """Whether Python breaks."""
        if self.loop is None:
            return self._static("break")
        fail("script.control", "break out of a for loop over script.range", "use while, which can be left")

    def _static(self, word: str) -> bool:
        if current(word).region is not self.region:
            fail("script.control", f"{word} behind a condition on a tile, in a loop that Python unrolls",
                 "loop over script.range, or put the rest of the body under an if")
        return True

    def leave(self, values: "Sequence[Any]") -> "Sequence[Any]":
        """The variables behind the loop."""
        return values if self.loop is None else self.loop.results

    def targets(self, names: "Sequence[str]", values: "Sequence[Any]") -> "Sequence[Any]":
        """The index behind the loop: a traced loop leaves none."""
        return values if self.loop is None else [Unset(n, "the index of a loop has no value behind it") for n in names]


class _TracedWhile(_Traced):
    kind = "while"

    def __init__(self, forever: bool, names: "Sequence[str]", values: "Sequence[Any]") -> None:
        self.forever = forever
        super().__init__(names, values)

    def head(self, init: "List[Value]") -> "Any":
        types = [type_of(self.specs[slot]) for slot in sorted(self.specs)] + [type_of(s) for e in self.extra.values() for s in e] + ["token"] * len(self.tokens)
        return self.trace.builder.loop(init, types)

    def _more_from_breaks(self) -> bool:
        if not self.forever or not self.breaks:
            return False
        more = False
        for i, old in enumerate(self.before):
            given = [b[i] for b in self.breaks]
            if not isinstance(old, Unset) or i in self.extra or any(isinstance(v, Unset) for v in given):
                continue
            if any(shape_of_nest(v) != shape_of_nest(given[0]) for v in given):
                continue
            leaves = [flatten(v) for v in given]
            if all(isinstance(leaf, Tile) or number_of(leaf) is not None for part in leaves for leaf in part):
                self.extra[i] = [merged(a, b, self.names[i], "at one break and") for a, b in zip(leaves[0], leaves[-1])]
                self.extra_like[i] = given[0]
                more = True
        return more


class While:
    """A `while` statement: Python's if its condition is a Python value other than the constant True."""

    def __init__(self, forever: bool, names: "Sequence[str]", values: "Sequence[Any]") -> None:
        self.forever = forever
        self.region = current("while").region
        self.values = values
        self.loop: "Optional[_TracedWhile]" = _TracedWhile(forever, names, values)
        self.restored = False

    def rounds(self) -> "Iterator[None]":
        """Rounds of tracing, or of Python's loop."""
        while True:
            if self.loop is not None:
                self.loop.begin()
            yield None
            if self.loop is not None and self.loop.end():
                return

    def enter(self, values: "Sequence[Any]") -> "Sequence[Any]":
        """The variables at the beginning of a round."""
        if self.loop is not None:
            return self.loop.inside
        if not self.restored:
            self.restored = True
            return self.values
        return values

    def test(self, condition: "Any", values: "Sequence[Any]") -> int:
        """0: go on; 1: Python leaves the loop; 2: it is Python's after all, begin again."""
        loop = self.loop
        if loop is None:
            return 0 if condition else 1
        if not isinstance(condition, Tile):
            if self.forever:
                return 0
            trace = loop.trace
            loop.region.alive = False
            trace.builder._depth -= 1
            trace.cut(loop.start)
            trace.region, trace.memory, trace.views = loop.outside, dict(loop.memory), dict(loop.views)
            self.loop = None
            return 2
        if condition.shape != ():
            fail("script.control", f"`while` on a tile of shape {condition.shape}", "a condition is a scalar: script.any(c) or script.all(c)")
        trace = loop.trace
        holds = _arith.convert(condition, BOOL)
        stop = use(_arith.bitwise("xori", holds, constant(True, BOOL)))
        body = trace.builder.if_(stop)
        inside = Region("if", trace.region)
        outside, memory, mark = trace.region, dict(trace.memory), trace.mark()
        body.__enter__()
        trace.region = inside
        loop.way_out(values, "break")
        trace.region, trace.memory = outside, memory
        body.__exit__(None, None, None)
        if outside.dead:
            trace.cut(mark)
        return 0

    def next(self, values: "Sequence[Any]") -> None:
        """At the end of the body."""
        if self.loop is not None:
            self.loop.way_out(values, "continue")

    def continue_(self, values: "Sequence[Any]") -> bool:
        """Whether Python continues."""
        return self._jump(values, "continue")

    def break_(self, values: "Sequence[Any]") -> bool:
        """Whether Python breaks."""
        return self._jump(values, "break")

    def _jump(self, values: "Sequence[Any]", word: str) -> bool:
        if self.loop is not None:
            self.loop.way_out(values, word)
            return False
        if current(word).region is not self.region:
            fail("script.control", f"{word} behind a condition on a tile, in a loop that Python unrolls", "let the loop's own condition be a tile, or True")
        return True

    def leave(self, values: "Sequence[Any]") -> "Sequence[Any]":
        """The variables behind the loop."""
        return values if self.loop is None else self.loop.results
