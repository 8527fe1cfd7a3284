"""Shapes of outputs by the launch rule, over ints and the symbolic sizes of other libraries: what an operator gives before it runs.

    rule = Rule(kernel, Sizes())
    rule.shapes({"x": x}, {"n": 3})        # {"y": (x.shape[0] * 2, 3)}

The library evaluates the same rule when the kernel is launched (docs/text.md, Interface); this is the same for arrays
without memory. Addresses and the number of multiprocessors are unknown then, so shapes must not depend on them.
"""
from __future__ import annotations

import re

from ._errors import argument_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Mapping, Tuple

    from ._interface import Array
    from ._kernel import Kernel

    # ("constant", 3), ("shape", "x", 0), ("stride", "x", 0), ("scalar", "n"), or an operator and its operands.
    Node = Tuple[Any, ...]
    Size = Any  # an int, or what another library has for a size that it does not know yet

_TOKEN = re.compile(r"\s*(-?\d+|[A-Za-z_]\w*|==|[-+*/%<(),.\[\]])")
_FUNCTIONS = ("ceildiv", "min", "max", "select")


class Sizes:
    """What is done with sizes; a library with symbolic ones has its own."""

    def choose(self, condition: "Any", a: "Size", b: "Size") -> "Size":
        return a if condition else b

    def least(self, a: "Size", b: "Size") -> "Size":
        return min(a, b)

    def greatest(self, a: "Size", b: "Size") -> "Size":
        return max(a, b)

    def check(self, size: "Size", other: "Size", message: "Callable[[], str]") -> None:
        """That they are equal. Errors: ArgumentError, or what the library raises."""
        if size != other:
            raise argument_error(message())

    def stride(self, array: "Any", dimension: int) -> "Size":
        """In elements; None: the array is contiguous."""
        return None


_OPERATORS: "Dict[str, Callable[..., Size]]" = {
    "+": lambda sizes, a, b: a + b,
    "-": lambda sizes, a, b: a - b,
    "*": lambda sizes, a, b: a * b,
    "/": lambda sizes, a, b: a // b,
    "%": lambda sizes, a, b: a % b,
    "<": lambda sizes, a, b: sizes.choose(a < b, 1, 0),
    "==": lambda sizes, a, b: sizes.choose(a == b, 1, 0),
    "ceildiv": lambda sizes, a, b: -(-a // b),
    "min": lambda sizes, a, b: sizes.least(a, b),
    "max": lambda sizes, a, b: sizes.greatest(a, b),
    "select": lambda sizes, c, a, b: sizes.choose(c != 0, a, b),
}


class _Parser:
    """Of an expression as the module's description writes it: every operation of two operands stands in parentheses."""

    def __init__(self, text: str, where: str) -> None:
        self.text, self.where = text, where
        self.tokens: "List[str]" = []
        at = 0
        while at < len(text.rstrip()):
            match = _TOKEN.match(text, at)
            if match is None:
                raise self.error("is not understood")
            self.tokens.append(match[1])
            at = match.end()
        self.at = 0

    def error(self, what: str) -> "Exception":
        return argument_error(f"{self.where}: the expression `{self.text}` {what}")

    def next(self, wanted: str = "") -> str:
        token = self.tokens[self.at] if self.at < len(self.tokens) else ""
        if token == "" or (wanted and token != wanted):
            raise self.error("is not understood")
        self.at += 1
        return token

    def whole(self) -> "Node":
        node = self.node()
        if self.at != len(self.tokens):
            raise self.error("is not understood")
        return node

    def node(self) -> "Node":
        token = self.next()
        if token == "(":
            left = self.node()
            operator = self.next()
            right = self.node()
            self.next(")")
            if operator not in _OPERATORS:
                raise self.error("is not understood")
            return (operator, left, right)
        if token.lstrip("-").isdigit():
            return ("constant", int(token))
        following = self.tokens[self.at] if self.at < len(self.tokens) else ""
        if following == "(" and token in _FUNCTIONS:
            self.at += 1
            operands = [self.node()]
            while self.next() == ",":
                operands.append(self.node())
            return (token, *operands)
        if following == ".":
            self.at += 1
            what = self.next()
            if what == "align":
                raise self.error("depends on an address, which tensors have only when the operator runs")
            self.next("[")
            dimension = int(self.next())
            self.next("]")
            return (what, token, dimension)
        if token == "num_sms":
            raise self.error("depends on the machine that the operator runs on")
        return ("scalar", token)


def _parse(text: str, where: str) -> "Node":
    return _Parser(text, where).whole()


class Rule:
    """The launch rule of a kernel. Errors of making one: ArgumentError for shapes that do not follow from arguments alone."""

    def __init__(self, kernel: "Kernel", sizes: "Sizes") -> None:
        self.arithmetic = sizes
        self.arrays: "Dict[str, Array]" = {a.name: a for a in kernel.arrays}
        self.taken = [a for a in kernel.arrays if a.direction != "out"]
        self.given = [a for a in kernel.arrays if a.direction == "out"]
        self.values = {s.name: _parse(s.value, f"scalar `{s.name}`") for s in kernel.scalars if s.value is not None and s.default is None}
        self.defaults: "Dict[str, Any]" = {s.name: s.default for s in kernel.scalars if s.default is not None}
        known = {d["parameter"] for a in self.taken for d in a.sizes if "parameter" in d}
        self.sizes: "Dict[Tuple[str, int], Node]" = {}
        for a in self.given:
            for i, d in enumerate(a.sizes):
                if "size" in d:
                    self.sizes[a.name, i] = _parse(d["size"], f"dimension {i} of `{a.name}`")
                elif "constant" not in d and d.get("parameter") not in known:
                    raise argument_error(f"nothing in the interface of `{kernel.readable}` gives dimension {i} of its output `{a.name}`",
                                         f"give its size there, as in `out {a.name}: {a.element}[x.shape[0]]`")

    def _same(self, size: "Size", place: str, other: "Size", other_place: str) -> None:
        self.arithmetic.check(size, other, lambda: f"{place} is {size}, but {other_place} is {other}; they must be equal")

    def check(self, tensors: "Mapping[str, Any]") -> "Dict[int, Size]":
        """Sizes against the interface; those that parameters receive. Errors: ArgumentError; for sizes what Sizes.check raises."""
        known: "Dict[int, Tuple[Size, str]]" = {}
        for a in self.taken:
            shape = tensors[a.name].shape
            if len(shape) != a.rank:
                raise argument_error(f"argument `{a.name}` has rank {len(shape)}, but the kernel takes rank {a.rank}")
            for i, (d, size) in enumerate(zip(a.sizes, shape)):
                place = f"dimension {i} of `{a.name}`"
                if "constant" in d:
                    self._same(size, place, d["constant"], "the interface's size")
                if "parameter" in d:
                    other = known.setdefault(d["parameter"], (size, place))
                    if other[1] != place:
                        self._same(size, place, *other)
        return {parameter: size for parameter, (size, _) in known.items()}

    def shapes(self, tensors: "Mapping[str, Any]", scalars: "Mapping[str, Any]") -> "Dict[str, Tuple[Size, ...]]":
        """Of the outputs, from the arrays that the kernel takes and the scalars that are given. Errors: those of check."""
        parameters = self.check(tensors)
        found: "Dict[str, Tuple[Size, ...]]" = {}

        def shape_of(name: str) -> "Tuple[Size, ...]":
            if name in tensors:
                return tuple(tensors[name].shape)
            if name not in found:
                a = self.arrays[name]
                found[name] = tuple(value(self.sizes[name, i]) if (name, i) in self.sizes else
                                    d["constant"] if "constant" in d else parameters[d["parameter"]] for i, d in enumerate(a.sizes))
            return found[name]

        def stride_of(name: str, dimension: int) -> "Size":
            known = self.arithmetic.stride(tensors[name], dimension) if name in tensors else None
            if known is not None:
                return known
            step: "Size" = 1
            for size in shape_of(name)[dimension + 1:]:
                step = step * self.arithmetic.greatest(size, 1)
            return step

        def value(node: "Node") -> "Size":
            kind = node[0]
            if kind == "constant":
                number: int = node[1]
                return number
            if kind == "shape":
                return shape_of(node[1])[node[2]]
            if kind == "stride":
                return stride_of(node[1], node[2])
            if kind == "scalar":
                name = node[1]
                if scalars.get(name) is None and name in self.values:
                    return value(self.values[name])
                size: "Size" = self.defaults[name] if scalars.get(name) is None else scalars[name]
                return size
            return _OPERATORS[kind](self.arithmetic, *map(value, node[1:]))

        return {a.name: shape_of(a.name) for a in self.given}
