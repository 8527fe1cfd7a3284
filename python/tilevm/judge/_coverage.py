"""Which sides of an answer's branches, loops, masks, selects and comparisons the inputs showed, and inputs that may show the others.

    coverage.add(reply.said["coverage"], case)       # what one call showed; whether something of it is new
    for case in steered(plan, coverage): …           # the plan's cases, and between them those that the missing sides ask for
    coverage.summary()                               # {"seen": 11, "of": 12, "never": ["softmax.py:17: the mask of load_ptr_tko was never false"]}

A comparison that went one way alone says by how much, and with which numbers. A size that differs by that much, or values around the number that it
compares with, go the other way in most kernels; where a value is scaled before, its next size follows from the last one by proportion. What is left
is tried at random, with the numbers of all comparisons.
"""
from __future__ import annotations

import ast
import dataclasses
import itertools
import math
import os

from . import _patterns
from ._np import numpy
from ._schema import ArrayInput, ScalarInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Optional, Tuple

    from ._cases import Case
    from ._schema import Schema

    Key = Tuple[str, int, int]  # where, choice, number among those of the same place: a kernel's name may differ with the types of its arguments
    Interval = Tuple[float, float]

BRANCH, LOOP, MASK, SELECT, COMPARISON = range(5)
FALSE, TRUE, SEVERAL = 1, 2, 4
_NAMES = {BRANCH: "the branch", LOOP: "the loop", MASK: "the mask of {op}", SELECT: "the condition of {op}", COMPARISON: "the comparison"}
_FROM = 8  # inputs of the plan come first: most sides are seen by them
_EVERY = 3  # then each third one is for a side that is missing
_MOST_ELEMENTS = 1 << 17
_MANY_ELEMENTS = 3000
_MOST_ASKED = 40  # inputs for one comparison
_LARGEST_STEP = 1 << 16  # of a size
_LARGEST_FACTOR = 1024
_MOST_POINTS = 512


@dataclasses.dataclass
class Observation:
    """Of a comparison that went one way in a call: its operands, left minus right, each (least, largest)."""

    case: "Case"
    left: "Interval"
    right: "Interval"
    gap: "Interval"

    @property
    def distance(self) -> float:
        return 0.0 if self.gap[0] <= 0 <= self.gap[1] else min(abs(self.gap[0]), abs(self.gap[1]))


@dataclasses.dataclass
class Point:
    """An operation that chooses. `sides` that were seen; `nearest`: where a comparison came next to its other side; `last`: in the last call, `around`:
    … whose values were around a number."""

    choice: int
    where: str
    op: str
    sides: int = 0
    nearest: "Optional[Observation]" = None
    last: "Optional[Observation]" = None
    around: "Optional[Observation]" = None
    asked: int = 0

    @property
    def is_seen(self) -> bool:
        return bin(self.sides).count("1") >= 2

    def missing(self) -> str:
        """What was never seen, as a sentence."""
        name = _NAMES[self.choice].format(op=self.op)
        if self.choice == LOOP:
            return f"{name} made {'no' if self.sides == FALSE else 'one' if self.sides == TRUE else 'several'} round{'s' * (self.sides == SEVERAL)} alone"
        if self.choice == MASK and "view" in self.op:
            return f"the tile of {self.op} was {'always' if self.sides == TRUE else 'never'} inside of its array"
        return f"{name} was {'always' if self.sides == TRUE else 'never'} {'taken' if self.choice == BRANCH else 'true'}"


class Coverage:
    """Of one answer. `file`: its file, whose operations count; those of libraries steer, too."""

    def __init__(self, file: str) -> None:
        self._file = os.path.basename(file)
        self.points: "Dict[Key, Point]" = {}
        self.numbers: "Dict[float, None]" = {}  # that values are compared with
        self.factors: "List[float]" = []  # numbers of the answer's text: what is compared may be a multiple of a size or value
        self._tried: "set[Tuple[Any, ...]]" = set()
        self._cases: "List[Case]" = []  # that showed something new
        self._usual: "List[Case]" = []  # of usual values, that wait
        self._wide: "Optional[Case]" = None  # … that has most elements, up to some thousand
        self._elements = 0

    def add(self, said: "List[Any]", case: "Case", elements: int = 0) -> bool:
        """`said`: what the process of the answer claims; what has another form is left out. `elements`: of the case's arrays."""
        self._tried.add(_identity(case))
        new = False
        if case.example is None and self._elements < elements <= _MANY_ELEMENTS:
            self._wide, self._elements = case, elements
        places: "Dict[Tuple[str, int], int]" = {}
        for each in said[:_MOST_POINTS]:
            point = _read(each)
            if point is None:
                continue
            choice, sides, where, op, left, right, gap = point
            place = where, choice
            places[place] = places.get(place, -1) + 1
            known = self.points.setdefault((*place, places[place]), Point(choice, where, op))
            new |= bool(sides & ~known.sides)
            known.sides |= sides
            if choice == COMPARISON and left[0] <= left[1]:
                known.last = Observation(case, left, right, gap)
                if _patterns.numbers_of(case.values):
                    known.around = known.last
                if known.nearest is None or known.last.distance < known.nearest.distance:
                    known.nearest = known.last
                if op == "cmpf":
                    self.numbers.update((v, None) for v in _constants(known.last))
        if new and case.example is None:  # an example has no sizes to change
            self._cases.append(case)
            if case.values != "normal":  # what it showed may do nothing to these values
                self._usual.append(dataclasses.replace(case, values="normal", layout="contiguous", only=None, aliased=False))
        return new

    def unseen(self) -> "List[Point]":
        """Operations that ran, of which one side is missing."""
        return [point for point in self.points.values() if point.sides and not point.is_seen]

    def _own(self) -> "List[Point]":
        return [point for point in self.points.values() if point.sides and self._place(point)]

    def _place(self, point: Point) -> str:
        """file:line, if it is in the answer's file, else nothing."""
        file, _, rest = os.path.basename(point.where).partition(":")
        return f"{file}:{rest.split(':')[0]}" if file == self._file else ""

    def summary(self) -> "Dict[str, Any]":
        """`never`: by line, one sentence each."""
        own = self._own()
        never = sorted((p for p in own if not p.is_seen), key=lambda p: [int(n) if n.isdigit() else 0 for n in p.where.split(":")[-2:]])
        said = list(dict.fromkeys(f"{self._place(p)}: {p.missing()}" for p in never))
        return {"seen": sum(p.is_seen for p in own), "of": len(own), "never": said[:20]}

    # --- inputs

    def proposals(self, schema: "Schema") -> "Iterator[Case]":
        """For the sides that are missing now; each input once."""
        generator = numpy.random.default_rng(len(self._tried))
        takes_integers = any(isinstance(item, ArrayInput) and not item.is_float or isinstance(item, ScalarInput) and item.kind == "int" and item.value is None
                             for item in schema.inputs)
        usual, self._usual = self._usual, []
        yield from usual
        points = sorted((p for p in self.unseen() if p.nearest is not None and p.asked < _MOST_ASKED), key=lambda p: p.asked)
        for point in points:
            values = self._by_value(point) if point.op == "cmpf" or takes_integers else []
            for case in [*values, *self._by_size(point)] if point.asked % 2 else [*self._by_size(point), *values]:
                if self._is_new(case, schema):
                    point.asked += 1
                    yield case
                    break  # what it shows says more than the next one
            else:
                point.asked = _MOST_ASKED
        if self.unseen() and self._cases:
            case = self._mutated(schema, generator)
            if self._is_new(case, schema):
                yield case

    def _is_new(self, case: "Case", schema: "Schema") -> bool:
        identity = _identity(case)
        if identity in self._tried or not schema.allows(case.by_name) or schema.elements(case.by_name) > _MOST_ELEMENTS:
            return False
        self._tried.add(identity)
        return True

    def _by_size(self, point: Point) -> "List[Case]":
        """Sizes that move an integer by as much as it was away from the other side; where it is a multiple or a quotient of a size, by proportion, or
        by a multiple of that; beside these. Each kind, and each size, has its turn."""
        found: "Dict[Case, Tuple[int, int, int]]" = {}
        for seen in filter(None, (point.nearest, point.last)):
            if point.op != "cmpi" or seen.case.example is not None:
                continue
            steps = {int(edge) for edge in seen.gap if abs(edge) < _LARGEST_STEP}
            ratios = [pair for each in itertools.product(seen.left, seen.right) for pair in (each, each[::-1]) if 0 < min(each) and max(each) < 2 ** 40]
            whole = [int(factor) for factor in self.factors if factor == int(factor) and 1 < factor <= _LARGEST_FACTOR]
            for place, (name, size) in enumerate(seen.case.sizes):
                ranked = [[size + sign * step for step in steps for sign in (-1, 1)],
                          [int(size * top // bottom) + more for top, bottom in ratios if size * top / bottom < _LARGEST_STEP for more in (0, 1)],
                          [size + sign * step * factor for step in steps for factor in whole for sign in (-1, 1)],
                          [size + sign * step + more for step in steps for sign in (-1, 1) for more in (-1, 1)]]
                for rank, numbers in enumerate(ranked):
                    for number in numbers:
                        if 0 <= number <= _LARGEST_STEP and number != size:
                            found.setdefault(_with_size(seen.case, name, number), (
                                (rank - point.asked) % len(ranked), (place - point.asked // len(ranked)) % len(seen.case.sizes), abs(number - size)))
        return sorted(found, key=lambda case: (found[case], case.sizes))

    def _by_value(self, point: Point) -> "List[Case]":
        """Values around the number that is compared with; where they are scaled before, by proportion. In many elements first, which hold all of them."""
        found: "List[Case]" = []
        for seen in filter(None, (point.around, point.nearest, point.last)):
            own = [] if seen.case.example is not None else [seen.case]
            for number in _constants(seen):
                other = seen.left if seen.right[0] == seen.right[1] == number else seen.right
                values = [last * number / edge for last in _patterns.numbers_of(seen.case.values)[:1] for edge in other
                          if edge and 2 ** -20 < abs(number / edge) < 2 ** 20]
                for value in (number, *values, -number, *(-v for v in values)):
                    for case in filter(None, (self._wide, *own, *self._cases[-2:])):
                        found.append(dataclasses.replace(case, values=pattern([value]), aliased=False, layout="contiguous", only=None))
        return list(dict.fromkeys(found))

    def _mutated(self, schema: "Schema", generator: "Any") -> "Case":
        """An input that showed something new, with another size or other values."""
        cases = self._cases if self._wide is None or generator.random() < 0.5 else [self._wide]
        case = cases[int(generator.integers(len(cases)))]
        case = dataclasses.replace(case, example=None, seed=int(generator.integers(1 << 20)), aliased=False, only=None)
        if case.sizes and (not self.numbers or generator.random() < 0.5):
            name, size = case.sizes[int(generator.integers(len(case.sizes)))]
            case = _with_size(case, name, int(generator.choice([generator.integers(1, 300), size + generator.integers(1, 17), 2 * size + 1])))
        if self.numbers and generator.random() < 0.7:
            numbers = list(self.numbers)
            chosen = [numbers[int(generator.integers(len(numbers)))] for _ in range(int(generator.integers(1, 3)))]
            if self.factors and generator.random() < 0.5:
                factor = float(generator.choice(self.factors))
                chosen = [number / factor if generator.random() < 0.7 else number * factor for number in chosen]
            case = dataclasses.replace(case, values=pattern(sorted(set(chosen))))
        return case


def steered(plan: "Iterator[Case]", coverage: Coverage, schema: "Schema") -> "Iterator[Case]":
    """The plan's cases in their order, and between them what the missing sides ask for."""
    waiting: "Iterator[Case]" = iter(())
    for number, case in enumerate(plan):
        yield case
        if number >= _FROM and number % _EVERY == 0:
            following = next(waiting, None)
            if following is None:
                waiting = coverage.proposals(schema)
                following = next(waiting, None)
            if following is not None:
                yield following


def factors_of(text: str) -> "List[float]":
    """Numbers in a Python text other than 0 and 1."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return []
    found = {float(node.value) for node in nodes if isinstance(node, ast.Constant) and type(node.value) in (int, float) and abs(node.value) < 1e30}
    return sorted(found - {0.0, 1.0})


def pattern(numbers: "List[float]") -> str:
    """The name of values around these numbers (_patterns.py)."""
    return "at:" + ",".join(f"{number:.9g}" for number in numbers)


def _with_size(case: "Case", name: str, size: int) -> "Case":
    return dataclasses.replace(case, sizes=tuple((other, size if other == name else number) for other, number in case.sizes), example=None)


def _identity(case: "Case") -> "Tuple[Any, ...]":
    return case.sizes, case.values if case.values.startswith("at:") else "", case.example


def _constants(seen: Observation) -> "List[float]":
    """Numbers that all elements are compared with; the edges, where there is no such number."""
    found = [interval[0] for interval in (seen.right, seen.left) if interval[0] == interval[1] and math.isfinite(interval[0])]
    return found or [edge for edge in seen.right if math.isfinite(edge)]


def _read(said: "Any") -> "Optional[Tuple[int, int, str, str, Interval, Interval, Interval]]":
    """One entry of a reply; None if it is of another form."""
    if not isinstance(said, list) or len(said) != 7:
        return None
    choice, sides, where, op, *intervals = said
    if choice not in _NAMES or type(sides) is not int or type(where) is not str or type(op) is not str:
        return None
    pairs: "List[Interval]" = []
    for pair in intervals:
        if not isinstance(pair, list) or len(pair) != 2 or not all(type(v) in (int, float) for v in pair):
            return None
        pairs.append((float(pair[0]), float(pair[1])))
    return choice, sides & (FALSE | TRUE | SEVERAL), where, op, pairs[0], pairs[1], pairs[2]


class Recorder:
    """In the process of the answer: what its launches showed since `begin`."""

    def __init__(self) -> None:
        from .. import _tilevm

        self._said: "Dict[Any, List[Any]]" = {}
        _tilevm.set_coverage(self._tell)

    def begin(self) -> None:
        self._said.clear()
        self._launch: "Dict[Any, int]" = {}

    def launched(self) -> None:
        """The operations of the next launch begin anew."""
        self._launch = {}

    def _tell(self, choice: int, sides: int, kernel: str, where: str, op: str, predicate: str, left: "Interval", right: "Interval",
              gap: "Interval") -> None:
        place = where, choice
        self._launch[place] = number = self._launch.get(place, -1) + 1
        known = self._said.get((*place, number))
        if known is None:
            self._said[(*place, number)] = [choice, sides, where, op, list(left), list(right), list(gap)]
            return
        known[1] |= sides
        for old, new in zip(known[4:], (left, right, gap)):
            if new[0] <= new[1]:
                old[:] = new if old[0] > old[1] else (min(old[0], new[0]), max(old[1], new[1]))

    def said(self) -> "List[List[Any]]":
        return list(self._said.values())[:_MOST_POINTS]
