"""Inputs that are tried: sizes around whatever the answer's text names, layouts, values; from a seed, smallest first.

    for case in plan(schema, constants): arguments = build(schema, case)

A case is data: it is printed, stored in a verdict, and built again by replay.

    sizes     1, small primes, and one below, at and above each constant of the answer; 0 where the task allows it
    layouts   contiguous, rows apart, transposed, every other element, one element into a memory, expanded; gaps hold NaN or the largest integer
    values    _patterns.py
"""
from __future__ import annotations

import ast
import dataclasses
import itertools


from . import _patterns, _values
from ._np import numpy
from ._schema import ArrayInput, Formula, ScalarInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

    from ._schema import Schema

LAYOUTS = ("transposed", "rows", "step", "offset", "expanded", "outer")
_MOST_ELEMENTS = 1 << 15
_LARGEST_CONSTANT = 4096  # that a size is tried around
_LARGEST_GATE = 1 << 17  # … that an array has more elements than
_BEFORE_EXAMPLES = 7  # small inputs, which say more about a mistake that they show; the task's own examples come before the budget ends
_SMALL = (3, 5, 2, 7, 4, 6, 11, 13)


@dataclasses.dataclass(frozen=True)
class Case:
    """`sizes`, `layout` of all arrays that may have it, or of the argument number `only`, `values`: the pattern of floats, `seed`; `aliased`: arrays
    of one kind and shape are one; `example`: the number of an example call of the task, whose arguments are taken as they are; `after`: the seed of an
    earlier call, whose numbers and whose first element of each array of floats it has: an answer may know a call by these."""

    sizes: "Tuple[Tuple[str, int], ...]" = ()
    layout: str = "contiguous"
    values: str = "normal"
    seed: int = 1
    aliased: bool = False
    only: "Optional[int]" = None
    example: "Optional[int]" = None
    after: "Optional[int]" = None

    @property
    def by_name(self) -> "Dict[str, int]":
        return dict(self.sizes)

    def to_json(self) -> "Dict[str, Any]":
        found = {"sizes": dict(self.sizes), "layout": self.layout, "values": self.values, "seed": self.seed}
        more = {"only": self.only, "example": self.example, "after": self.after}
        return {**found, **({"aliased": True} if self.aliased else {}), **{key: value for key, value in more.items() if value is not None}}

    @staticmethod
    def from_json(text: "Dict[str, Any]") -> "Case":
        return Case(tuple(text["sizes"].items()), text["layout"], text["values"], text["seed"], bool(text.get("aliased")), text.get("only"),
                    text.get("example"), text.get("after"))

    def text(self) -> str:
        if self.example is not None:
            return f"the task's example {self.example}" + ("" if self.values == "normal" else f", {self.values} values")
        sizes = ", ".join(f"{name} = {number}" for name, number in self.sizes)
        layout = "" if self.layout == "contiguous" else f"layout {self.layout}" + ("" if self.only is None else f" of argument {self.only}")
        values = f"values around {self.values[3:]}" if self.values.startswith("at:") else f"{self.values} values"
        return ", ".join(filter(None, [sizes, layout, values, f"seed {self.seed}",
                                       "one array in several places" if self.aliased else ""]))


def _layouts_of_one(schema: "Schema", where: "Tuple[Tuple[str, int], ...]", seeds: "Iterator[int]") -> "List[Case]":
    """One array has strides that the others have not: a kernel that takes those of another array is right while all are laid out alike."""
    free = [(number, item) for number, item in enumerate(schema.inputs)
            if isinstance(item, ArrayInput) and "contiguous" not in item.words and ("rows" not in item.words or len(item.shape) > 1)]
    arrays = sum(isinstance(item, ArrayInput) for item in schema.inputs)
    layout = {number: "rows" if "rows" in item.words else "transposed" if len(item.shape) > 1 else "step" for number, item in free}
    return [Case(where, layout=layout[number], seed=next(seeds), only=number) for number, _ in free] if arrays > 1 and schema.declared else []


def constants_of(text: str) -> "List[int]":
    """Integers in a Python text that may be sizes of tiles, blocks or gates; 1 << 12 is one, too."""
    found: "set[int]" = set()
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return []
    for node in ast.walk(tree):
        number = _folded(node)
        if number is not None and 2 <= number <= _LARGEST_GATE:
            found.add(number)
    return sorted(found)


def _folded(node: "ast.AST") -> "Optional[int]":
    """The value of an expression of integers alone."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _folded(node.left), _folded(node.right)
    if left is None or right is None or not 0 <= left <= _LARGEST_GATE or not 0 <= right <= _LARGEST_GATE:
        return None
    if isinstance(node.op, ast.Mult):
        return left * right
    if isinstance(node.op, (ast.LShift, ast.Pow)):
        return (left << right if isinstance(node.op, ast.LShift) else left ** right) if right <= 20 else None
    return left + right if isinstance(node.op, ast.Add) else None


def plan(schema: "Schema", constants: "Iterable[int]", examples: int = 0) -> "Iterator[Case]":
    """In the order in which they tell most for their time; without end for the budget to end it. `constants` are read after the first case, so
    that they may grow by what its launches name."""
    base = _base(schema)
    yield Case(base)
    numbers = sorted({c for c in constants if 2 <= c <= _LARGEST_CONSTANT})
    points = _by_size(schema, base, numbers)
    larger = [sizes for sizes in points if schema.elements(dict(sizes)) >= 24][:1] or [base]
    middle = _middle(schema, points, larger[0])
    seeds = itertools.count(2)
    first = [Case(sizes, seed=next(seeds)) for sizes in points if sizes != base]
    blocks = _of_several_blocks(schema, base, numbers)
    several = [Case(sizes, seed=next(seeds)) for sizes in blocks]
    places = [dict.fromkeys((larger[0], middle, where)) for where in blocks or [middle]]
    values = [Case(where, values=name, seed=next(seeds)) for number, name in enumerate(_patterns.wanted(schema)) for where in places[number % len(places)]]
    layouts = [Case(where, layout=name, seed=next(seeds)) for name in _layouts(schema) for where in dict.fromkeys((larger[0], middle))]
    aliases = [Case(larger[0], aliased=True, seed=next(seeds))] if _may_alias(schema) else []
    beyond = [Case(sizes, seed=next(seeds)) for sizes in (*_of_more_blocks(schema, base, numbers),
                                                          *_beyond(schema, base, [c for c in constants if c > _LARGEST_CONSTANT]))]
    samples = [Case(example=number) for number in range(examples)]
    alone = _layouts_of_one(schema, middle, seeds)
    # What a slow task is tried with says much for its time: layouts of few elements come before values at many.
    mixed = _interleaved([(first, 3), (values[::2], 1), (layouts, 1), (several, 1), (values[1::2], 1), (alone, 1), (aliases, 1)])
    yield from itertools.islice(mixed, _BEFORE_EXAMPLES)
    yield from samples
    yield from mixed
    yield from beyond
    generator = numpy.random.default_rng(5)
    patterns, forms = _patterns.wanted(schema), ["contiguous", *_layouts(schema)]
    while True:
        sizes = points[int(generator.integers(len(points)))]
        yield Case(sizes, str(generator.choice(forms)), str(generator.choice(["normal", *patterns])), next(seeds))


def _interleaved(queues: "List[Tuple[List[Case], int]]") -> "Iterator[Case]":
    places = [iter(queue) for queue, _ in queues]
    left = [len(queue) for queue, _ in queues]
    while any(left):
        for number, (_, share) in enumerate(queues):
            for case in itertools.islice(places[number], share):
                left[number] -= 1
                yield case


def _base(schema: "Schema") -> "Tuple[Tuple[str, int], ...]":
    """Different small sizes, so that exchanged ones are seen."""
    count = len(schema.sizes)
    small = (dict(zip(schema.sizes, numbers)) for numbers in _small(count))
    others = (dict(zip(schema.sizes, numbers)) for numbers in _candidates(count))
    for sizes in itertools.chain(small, _as_the_rules_say(schema), others):
        if schema.allows(sizes):
            return tuple(sizes.items())
    if schema.example and schema.allows(schema.example):
        return tuple(schema.example.items())
    from .._errors import argument_error

    raise argument_error("no sizes below 64 keep the rules of the task", "give sizes that do: AT = {…}")


def _as_the_rules_say(schema: "Schema") -> "Iterator[Dict[str, int]]":
    """Sizes that a rule such as d == 32 binds are numbers of the rules; the others stay small, and different."""
    bound = [name for name in schema.sizes if any(name in rule.names for rule in schema.rules)]
    numbers = sorted({1, 2, 3, 4, 5, 8, 16, 32, 64, *(c for rule in schema.rules for c in constants_of(rule.text) if c <= 256)})
    if len(bound) > 3:
        return
    for values in sorted(itertools.product(numbers, repeat=len(bound)), key=sum):
        rest = itertools.cycle([n for n in _SMALL if n not in values] or _SMALL)
        sizes = dict(zip(bound, values))
        yield {name: sizes[name] if name in sizes else next(rest) for name in schema.sizes}


def _small(count: int) -> "Iterator[Tuple[int, ...]]":
    for first in range(len(_SMALL)):
        yield tuple(_SMALL[(first + i) % len(_SMALL)] for i in range(count))
    generator = numpy.random.default_rng(4)
    for most in (8, 12):
        for _ in range(100):  # where a rule binds some of them
            if count <= most - 1:
                yield tuple(int(n) for n in 2 + generator.permutation(most - 1)[:count])


def _candidates(count: int) -> "Iterator[Tuple[int, ...]]":
    for number in (2, 4, 8, 16, 32, 64, 1):
        yield (number,) * count
    generator = numpy.random.default_rng(3)
    for limit in (8, 20, 64):
        for _ in range(2000):
            yield tuple(int(n) for n in generator.integers(1, limit + 1, count))


def _by_size(schema: "Schema", base: "Tuple[Tuple[str, int], ...]", constants: "List[int]") -> "List[Tuple[Tuple[str, int], ...]]":
    """Sizes to try, by the number of elements: one size at a time, then all together."""
    around = sorted({max(0, c + d) for c in constants for d in (-1, 0, 1)})
    plain = [0, 1, 2, 3, 8, 17, 33, 37, 64, 100, 129]
    found: "Dict[Tuple[Tuple[str, int], ...], None]" = {base: None}
    start = dict(base)

    def add(sizes: "Dict[str, int]") -> None:
        if schema.allows(sizes) and schema.elements(sizes) <= _MOST_ELEMENTS:
            found[tuple(sizes.items())] = None

    for name in schema.sizes:
        for number in [*plain, *around]:
            add({**start, name: number})
    for number in [1, 2, *around, 17, 33]:
        add(dict.fromkeys(schema.sizes, number))
    generator = numpy.random.default_rng(11)
    choices = [n for n in (*plain[1:], *around) if n <= 300]
    for _ in range(24):
        add({name: int(generator.choice(choices)) for name in schema.sizes})
    if schema.example:
        add(dict(schema.example))
        for name, number in schema.example.items():
            for other in (number - 1, number + 1, number * 2):
                add({**schema.example, name: other})
    return sorted(found, key=lambda sizes: schema.elements(dict(sizes)))


def _of_several_blocks(schema: "Schema", base: "Tuple[Tuple[str, int], ...]", constants: "List[int]") -> "List[Tuple[Tuple[str, int], ...]]":
    """One size at a time that a block of a size in the text does not hold, nor two, nor three: a number of blocks may be written out. Where the task
    does not allow that, fewer blocks. Each size comes once before one comes twice."""
    found: "Dict[Tuple[Tuple[str, int], ...], int]" = {}
    for name in schema.sizes:
        for place, block in enumerate([c for c in constants if 8 <= c <= 1024][-4:]):
            for number in (3 * block + 1, 2 * block, block + 1):
                sizes = {**dict(base), name: number}
                if schema.allows(sizes) and schema.elements(sizes) <= _MOST_ELEMENTS:
                    found.setdefault(tuple(sizes.items()), place)
                    break
    return sorted(found, key=lambda sizes: (found[sizes], schema.elements(dict(sizes))))


def _of_more_blocks(schema: "Schema", base: "Tuple[Tuple[str, int], ...]", constants: "List[int]") -> "List[Tuple[Tuple[str, int], ...]]":
    """One size at a time that has two blocks more than a number in the text says, or nine: partial results of the blocks may have no place."""
    found: "Dict[Tuple[Tuple[str, int], ...], None]" = {}
    blocks = [c for c in constants if 8 <= c <= 1024][-4:]
    for name in schema.sizes:
        for number in sorted({(count + 1) * block + 1 for block in blocks for count in (8, *(c for c in constants if 2 < c <= 32))}):
            sizes = {**dict(base), name: number}
            if number <= _LARGEST_CONSTANT and schema.allows(sizes) and schema.elements(sizes) <= _MOST_ELEMENTS:
                found[tuple(sizes.items())] = None
    return sorted(found, key=lambda sizes: schema.elements(dict(sizes)))[:12]


def _beyond(schema: "Schema", base: "Tuple[Tuple[str, int], ...]", constants: "List[int]") -> "List[Tuple[Tuple[str, int], ...]]":
    """Sizes at which an array has more elements than a large number in the text: an answer may do something else from there on."""
    found: "Dict[Tuple[Tuple[str, int], ...], None]" = {}
    for number in sorted({c for c in constants if c <= _LARGEST_GATE})[-2:]:
        sizes, factor = dict(base), 2
        while schema.most_elements(sizes) <= number and factor <= _LARGEST_GATE:
            for name, size in base:
                grown = {**sizes, name: size * factor}
                if schema.most_elements(sizes) <= number and schema.allows(grown):
                    sizes = grown
            factor *= 2
        if number < schema.most_elements(sizes) <= 4 * _LARGEST_GATE:
            found[tuple(sizes.items())] = None
    return list(found)


def _middle(schema: "Schema", points: "List[Tuple[Tuple[str, int], ...]]", small: "Tuple[Tuple[str, int], ...]") -> "Tuple[Tuple[str, int], ...]":
    """Sizes of some thousand elements, for values and statistics."""
    fitting = [sizes for sizes in points if schema.elements(dict(sizes)) <= 3000]
    return fitting[-1] if fitting else small


def _layouts(schema: "Schema") -> "List[str]":
    free = [item for item in schema.inputs if isinstance(item, ArrayInput) and "contiguous" not in item.words and item.shape]
    if not free:
        return []
    rank = max(len(item.shape) for item in free)
    any_stride = any("rows" not in item.words for item in free)
    return [name for name in LAYOUTS if (rank >= 2 or name in ("step", "offset", "expanded")) and (any_stride or name not in ("transposed", "step"))]


def _kind(item: ArrayInput) -> "Tuple[Any, ...]":
    """What elements of an array may be: only one that promises the same can stand for it."""
    return item.dtype, repr(item.low), repr(item.high), item.other, item.words - {"contiguous", "rows"}


def _may_alias(schema: "Schema") -> bool:
    arrays = [item for item in schema.inputs if isinstance(item, ArrayInput)]
    keys = [(_kind(a), tuple(map(repr, a.shape))) for a in arrays if "inout" not in a.words]
    return schema.declared and len(set(keys)) < len(keys)


def build(schema: "Schema", case: Case, examples: "List[Tuple[Any, ...]]") -> "Tuple[Any, ...]":
    """The arguments of a case: the same for the same case, everywhere."""
    if case.example is not None:
        from ._reference import _copy, _mapped

        return tuple(_mapped(examples[case.example], _copy))
    made: "List[Any]" = []
    known: "Dict[Any, Any]" = {}
    for number, item in enumerate(schema.inputs):
        generator = numpy.random.default_rng([case.seed, number])
        if isinstance(item, ArrayInput):
            shape = tuple(part.at(case.by_name) for part in item.shape)
            key = _kind(item), shape
            if case.aliased and key in known and "inout" not in item.words:
                made.append(known[key])
                continue
            values = _patterns.fill(item, case.by_name, case.values, shape, generator)
            if case.after is not None and item.is_float and values.size:
                earlier = _patterns.fill(item, case.by_name, case.values, shape, numpy.random.default_rng([case.after, number]))
                values.reshape(-1)[0] = earlier.reshape(-1)[0]
            made.append(_array(item, values, "contiguous" if case.only not in (None, number) else case.layout))
            known[key] = made[-1]
        elif isinstance(item, ScalarInput):
            made.append(_scalar(item, case, generator if case.after is None else numpy.random.default_rng([case.after, number])))
        else:
            made.append(item.value)
    if not schema.keywords:
        return tuple(made)
    named = {item.name: value for item, value in zip(schema.inputs, made)}
    last = _values.Keywords((name, value) for name, value in named.items() if name in schema.keywords)
    return (*(value for name, value in named.items() if name not in schema.keywords), last)


def _scalar(item: ScalarInput, case: Case, generator: "Any") -> "Any":
    sizes = case.by_name
    if item.value is not None:
        return item.value.at(sizes) if isinstance(item.value, Formula) else item.value
    assert item.low is not None and item.high is not None
    if item.kind == "float":
        least, most = item.low.number(sizes), item.high.number(sizes)
        drawn = float(least + (most - least) * generator.random())
        near = [number for number in _patterns.numbers_of(case.values) if least <= number <= most]
        return float(generator.choice(near)) if near and generator.random() < 0.5 else drawn
    low, high = item.low.at(sizes), item.high.at(sizes)
    whole = [int(number) for number in _patterns.numbers_of(case.values) if low <= int(number) <= high]
    return int(generator.choice(whole)) if whole and generator.random() < 0.5 else int(generator.integers(low, high + 1))


def _array(item: ArrayInput, values: "Any", layout: str) -> "Any":
    layout = "contiguous" if "contiguous" in item.words else layout
    if "rows" in item.words and (layout in ("transposed", "step") or len(item.shape) < 2):
        layout = "contiguous"
    if layout == "expanded" and ("inout" in item.words or "distinct" in item.words):
        layout = "contiguous"
    return _laid_out(item, values, layout)


def _laid_out(item: ArrayInput, values: "Any", layout: str) -> "Any":
    """An array of the library with these values: in a larger memory, whose other elements hold what nobody may use."""
    shape, rank = values.shape, values.ndim
    whole: "Tuple[int, ...]" = shape
    at: "Tuple[Any, ...]" = tuple(slice(None) for _ in shape)
    turned = False
    if rank >= 1 and layout == "step":
        whole, at = (*shape[:-1], 2 * shape[-1]), (*at[:-1], slice(None, None, 2))
    elif rank >= 1 and layout == "offset":
        whole, at = (*shape[:-1], shape[-1] + 1), (*at[:-1], slice(1, None))
    elif rank >= 2 and layout == "rows":
        whole, at = (*shape[:-1], shape[-1] + 3), (*at[:-1], slice(0, shape[-1]))
    elif rank >= 2 and layout == "outer":
        whole, at = (2 * shape[0], *shape[1:]), (slice(None, None, 2), *at[1:])
    elif rank >= 2 and layout == "transposed":
        whole, turned = (*shape[:-2], shape[-1], shape[-2]), True
    elif rank >= 1 and layout == "expanded" and shape[0] > 0:
        values = values[:1]
        return _patterns.as_array(item, values).expand(*shape) if item.library == "torch" else numpy.broadcast_to(_patterns.as_array(item, values), shape)
    memory = _patterns.as_array(item, _patterns.gap(item, whole))
    view = memory[at] if not turned else memory.swapaxes(-1, -2)
    view[...] = _patterns.as_array(item, values)
    return view
