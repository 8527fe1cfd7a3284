"""What inputs a task takes: written by the task, or inferred from an example call.

    INPUTS = {
        "x": "f32[m, n]",                        # any strides; finite values
        "w": "f32[n] contiguous",
        "index": "i64[k] in 0..m-1",             # each element; bounds are expressions of sizes
        "eps": "float = 1e-5",                   # always this value
        "rows": "int = m",                       # follows from a size
        "groups": "int in 1..4",
    }
    SIZES = "m >= 1, n <= 4096, n % 2 == 0"

    "target": "i64[m] in 0..n-1 or -100"     # some elements have a value of their own

Words behind the brackets: `contiguous`, `rows` (elements of a row are neighbours; rows may be apart), `distinct` (no element twice), `sorted`,
`positive`, `inf` and `nan` (such values are part of the task; else a difference there is none), `inout` (the task changes it). Without SIZES
every size is at least 1; `m >= 0` allows empty arrays.
"""
from __future__ import annotations

import ast
import dataclasses
import math
import re

from .._errors import argument_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

    Sizes = Mapping[str, int]

ELEMENTS = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
            "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "i1": "bool", "bool": "bool", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}
FLOATS = ("float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2")
WORDS = ("contiguous", "rows", "distinct", "sorted", "positive", "inf", "nan", "inout")
_ALLOWED = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Name, ast.Load, ast.Constant, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv,
            ast.Mod, ast.USub, ast.Gt, ast.GtE, ast.Lt, ast.LtE, ast.Eq, ast.NotEq, ast.And, ast.Or, ast.Pow)


class Formula:
    """An expression of sizes: "m - 1", "d // 2", "n % 4 == 0"."""

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        try:
            tree = ast.parse(self.text, mode="eval")
        except SyntaxError:
            raise argument_error(f"{self.text!r} in a schema is no expression", "use sizes, numbers, + - * // % and comparisons") from None
        for node in ast.walk(tree):
            if not isinstance(node, _ALLOWED):
                raise argument_error(f"{self.text!r} in a schema has {type(node).__name__}", "use sizes, numbers, + - * // % and comparisons")
        self.names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        self._code = compile(tree, "<schema>", "eval")

    def at(self, sizes: "Sizes") -> int:
        """Its value as an integer. Errors: ArgumentError for a size that nobody knows."""
        return int(self.number(sizes))

    def number(self, sizes: "Sizes") -> "Any":
        """Its value, which has a fraction where the text has one. Errors: ArgumentError for a size that nobody knows."""
        try:
            return eval(self._code, {"__builtins__": {}}, dict(sizes))  # noqa: S307  # of checked nodes alone
        except NameError as error:
            raise argument_error(f"{self.text!r} in a schema: {error}", "sizes are names in brackets, such as m in f32[m, n]") from None
        except ZeroDivisionError:
            raise argument_error(f"{self.text!r} in a schema divides by 0", "keep the size from being 0 by SIZES") from None

    def __repr__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True)
class ArrayInput:
    """An array: `dtype` as torch calls it, `shape`, `low` and `high` of its elements (None: as the type has), `words`; `library` "torch" or
    "numpy"."""

    name: str
    dtype: str
    shape: "Tuple[Formula, ...]"
    low: "Optional[Formula]" = None
    high: "Optional[Formula]" = None
    words: "frozenset[str]" = frozenset()
    other: "Optional[int]" = None
    library: str = "torch"

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS


@dataclasses.dataclass(frozen=True)
class ScalarInput:
    """A number: `kind` "int" or "float"; `value`: a formula, a number, or None where it is chosen between `low` and `high`."""

    name: str
    kind: str
    value: "Any" = None
    low: "Optional[Formula]" = None
    high: "Optional[Formula]" = None


@dataclasses.dataclass(frozen=True)
class FixedInput:
    """A value that stays as the example has it: a string, None, a module."""

    name: str
    value: "Any"


class Schema:
    """`inputs` in the order of the call, `sizes`: names of sizes, `free`: those that may be chosen, `rules`; `example`: sizes of the example call;
    `declared`: the task says it, so that all of it is promised to the answer; `keywords`: names of inputs that calls give by name."""

    def __init__(self, inputs: "Sequence[Any]", rules: "Sequence[Formula]", example: "Sizes", declared: bool,
                 keywords: "frozenset[str]" = frozenset()) -> None:
        self.inputs = tuple(inputs)
        self.rules = tuple(rules)
        self.example = dict(example)
        self.declared = declared
        self.keywords = keywords
        self.sizes: "List[str]" = []
        for item in inputs:
            parts = item.shape if isinstance(item, ArrayInput) else ()
            for part in parts:
                self.sizes += [name for name in sorted(part.names) if name not in self.sizes]
        for item in inputs:
            if isinstance(item, ScalarInput) and isinstance(item.value, Formula):
                self.sizes += [name for name in sorted(item.value.names) if name not in self.sizes]

    def allows(self, sizes: "Sizes") -> bool:
        lowest = {name: 1 for name in self.sizes}
        for rule in self.rules:
            match = re.fullmatch(r"(\w+) *>= *0", rule.text)
            if match:
                lowest[match[1]] = 0
        if any(sizes[name] < lowest[name] for name in self.sizes):
            return False
        shapes = [part.at(sizes) for item in self.inputs if isinstance(item, ArrayInput) for part in item.shape]
        return all(size >= 0 for size in shapes) and all(rule.at(sizes) for rule in self.rules)

    def elements(self, sizes: "Sizes") -> int:
        """Of all inputs together."""
        return sum(self._counts(sizes))

    def most_elements(self, sizes: "Sizes") -> int:
        """Of the largest input."""
        return max(self._counts(sizes), default=0)

    def _counts(self, sizes: "Sizes") -> "List[int]":
        return [math.prod(max(0, part.at(sizes)) for part in item.shape) for item in self.inputs if isinstance(item, ArrayInput)]

    def text(self) -> str:
        """As a task writes it."""
        return ", ".join(_said(item) for item in self.inputs) + (f"; {', '.join(map(repr, self.rules))}" if self.rules else "")


def _said(item: "Any") -> str:
    if isinstance(item, ArrayInput):
        bounds = f" in {item.low}..{item.high}" + ("" if item.other is None else f" or {item.other}") if item.low is not None else ""
        return f"{item.name}: {item.dtype}[{', '.join(map(repr, item.shape))}]{bounds}" + "".join(f" {w}" for w in sorted(item.words))
    if isinstance(item, ScalarInput):
        return f"{item.name}: {item.kind}" + (f" = {item.value}" if item.value is not None else f" in {item.low}..{item.high}")
    return f"{item.name} = {item.value!r}"


_ARRAY = re.compile(r"(?P<element>\w+) *\[(?P<shape>[^\]]*)\](?P<rest>.*)")
_SCALAR = re.compile(r"(?P<kind>int|float|bool) *(?:= *(?P<value>.+)|in +(?P<low>.+?)\.\.(?P<high>.+))")
_RANGE = re.compile(r"\bin +(?P<low>.+?)\.\.(?P<high>.+?)(?: +or +(?P<other>-?\d+))?(?= +(?:" + "|".join(WORDS) + r")\b|$)")


def parse(inputs: "Mapping[str, str]", rules: str, library: str, example: "Optional[Sizes]" = None) -> Schema:
    """What a task writes. Errors: ArgumentError with the part that is wrong."""
    found = [_parse_input(name, text.strip(), library) for name, text in inputs.items()]
    return Schema(found, [Formula(part) for part in rules.split(",") if part.strip()], example or {}, True)


def _parse_input(name: str, text: str, library: str) -> "Any":
    array = _ARRAY.fullmatch(text)
    if array:
        if array["element"] not in ELEMENTS:
            raise argument_error(f"input `{name}`: {array['element']!r} is no element type", f"there are {', '.join(ELEMENTS)}")
        rest = array["rest"]
        bounds = _RANGE.search(rest)
        words = (rest[:bounds.start()] + rest[bounds.end():] if bounds else rest).split()
        unknown = [word for word in words if word not in WORDS]
        if unknown:
            raise argument_error(f"input `{name}`: nobody knows {unknown[0]!r}", f"there are `in LOW..HIGH`, {', '.join(WORDS)}")
        shape = tuple(Formula(part) for part in array["shape"].split(",") if part.strip())
        return ArrayInput(name, ELEMENTS[array["element"]], shape, Formula(bounds["low"]) if bounds else None,
                          Formula(bounds["high"]) if bounds else None, frozenset(words),
                          int(bounds["other"]) if bounds and bounds["other"] else None, library)
    scalar = _SCALAR.fullmatch(text)
    if scalar is None:
        raise argument_error(f"input `{name}`: {text!r} is neither an array nor a number", 'write "f32[m, n]", "int = m", "float = 1e-5" or "int in 1..4"')
    if scalar["value"] is None:
        return ScalarInput(name, scalar["kind"], None, Formula(scalar["low"]), Formula(scalar["high"]))
    if scalar["kind"] == "int":
        return ScalarInput(name, "int", Formula(scalar["value"]))
    if scalar["kind"] == "bool":
        return FixedInput(name, scalar["value"] == "True")
    return ScalarInput(name, "float", float(scalar["value"]))


def infer(names: "Sequence[str]", values: "Sequence[Any]", keywords: "frozenset[str]" = frozenset()) -> Schema:
    """From the arguments of a call, some of which it gives by name: equal sizes are one size, integers that equal a size follow it, the rest stays as it is."""
    from . import _values

    sizes: "Dict[int, str]" = {}
    letters = iter([*"mnkpqrstuvwabcdefghij", *(f"d{i}" for i in range(100))])

    def size(number: int) -> Formula:
        if number == 1:
            return Formula("1")
        if number not in sizes:
            sizes[number] = next(letters)
        return Formula(sizes[number])

    found: "List[Any]" = []
    for name, value in zip(names, values):
        if _values.is_array(value):
            dtype = str(value.dtype).replace("torch.", "")
            low, high, words, other = _range_of(value, dtype)
            found.append(ArrayInput(name, dtype, tuple(map(size, value.shape)), low, high, words, other, "torch" if _values.is_tensor(value) else "numpy"))
        else:
            found.append((name, value))
    for i, item in enumerate(found):
        if isinstance(item, tuple):
            name, value = item
            known = type(value) is int and value > 2 and value in sizes
            found[i] = ScalarInput(name, "int", Formula(sizes[value])) if known else FixedInput(name, value)
        else:
            found[i] = _up_to_a_size(item, sizes)
    rules = [Formula(f"{' * '.join(map(repr, item.shape))} <= ({item.high}) - ({item.low}) + 1") for item in found
             if isinstance(item, ArrayInput) and "distinct" in item.words and item.low is not None]  # as many numbers as it has elements
    return Schema(found, rules, {name: number for number, name in sizes.items()}, False, keywords)


def _up_to_a_size(item: ArrayInput, sizes: "Dict[int, str]") -> ArrayInput:
    """Integers from 0 to a size of the example, or to the last place of one, are places in it: they go as far as it does."""
    most = int(item.high.text) if item.high is not None else 0
    if item.low is None or item.low.text != "0" or most <= 2:
        return item
    if most in sizes:
        return dataclasses.replace(item, high=Formula(sizes[most]))
    return dataclasses.replace(item, high=Formula(f"{sizes[most + 1]} - 1")) if most + 1 in sizes else item


def _range_of(value: "Any", dtype: str) -> "Tuple[Any, Any, frozenset[str], Optional[int]]":
    """Integers keep to what the example has: they may be indices, with one negative number for none. Floats keep their sign if all are above 0."""
    from . import _numbers

    flat = _numbers.exact(value).reshape(-1)
    if flat.size == 0:
        return None, None, frozenset(), None
    if dtype in FLOATS:
        return None, None, frozenset(["contiguous"] + (["positive"] if flat.size > 3 and flat.min() > 0 else [])), None
    if dtype == "bool":
        return None, None, frozenset(["contiguous"]), None
    words = ["contiguous"]
    negative, other = set(flat[flat < 0].tolist()), None
    if len(negative) == 1 and (flat < 0).sum() > 1 and (flat >= 0).any():
        other, flat = negative.pop(), flat[flat >= 0]
    if flat.size > 1 and len(set(flat.tolist())) == flat.size:
        words.append("distinct")
    if flat.size > 1 and other is None and (flat[1:] >= flat[:-1]).all():
        words.append("sorted")
    return Formula(str(int(flat.min()))), Formula(str(int(flat.max()))), frozenset(words), other
