"""The signature of a kernel: arrays and scalars, as `tilevm.Kernel.signature` prints them, and the launch rule.

    "a: f32[m, k], b: f32[k, n], inout total: f32[1], scale: f32 = 1.0 -> c: f32[m, n]"

Arrays before the arrow are inputs (`inout`: changed, too), those behind it outputs, which a call allocates; `= number` behind an output
fills it. A size is a name (arrays that share one must agree), a number, `?`, or, of outputs, an expression: "ceildiv(n, 4)". A strided array
says so: "x: f32[m, n] strides [s, 1]"; others are row-major. Parameters of the function that are not named here are constants:
known while tracing, usable as sizes and, if they hold an element type, as one ("x: T[n]").

Expressions (sizes of outputs, grid) have numbers, names of sizes, scalars and constants, x.shape[0], x.stride[0], x.align, num_sms,
+ - * // % == <, ceildiv, min, max, select(c, a, b).
"""
from __future__ import annotations

import ast
import re

from ._dtypes import BY_NAME, DType, dtype
from ._errors import script_error
from ._foreign import element_instead

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, NoReturn, Optional, Sequence, Union

    from .._places import Place

_ITEM = re.compile(r"(?:(in|inout|out)\s+)?(\w+)\s*:\s*(\w+)\s*(?:\[(.*?)\])?\s*(?:strides\s*\[(.*?)\])?\s*(?:=\s*(\S+))?$")
# What means something else in an interface stands in quotes there.
_WORDS = frozenset("in out inout scalar workspace grid strides at init zero default value num_sms ceildiv min max select shape stride align inf nan".split())
_FUNCTIONS = {"ceildiv": 2, "cdiv": 2, "min": 2, "max": 2, "select": 3}
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%", ast.Lt: "<", ast.Eq: "=="}


def _quoted(name: str) -> str:
    return f'"{name}"' if name in _WORDS else name


class Item:
    """An argument: `direction` ("in", "out", "inout", "scalar"), `element` (a word), `dims` and `strides` (words), `default`."""

    def __init__(self, direction: str, name: str, element: str, dims: "List[str]", strides: "Optional[List[str]]", default: "Optional[str]") -> None:
        self.direction = direction
        self.name = name
        self.element = element
        self.dims = dims
        self.strides = strides
        self.default = default


def element_fix(element: str) -> str:
    """For an element type that there is none of."""
    own = BY_NAME.get(element_instead(element).rstrip("_"))
    meant = own.name if own else next((d for d in BY_NAME if d.lower() == element.lower()), "")
    known = f"types are {', '.join(d for d in BY_NAME if d == BY_NAME[d].name)}, and constants that hold one"
    return f"write {meant}; {known}" if meant else known


def _item_fix(item: str) -> str:
    """For an argument that cannot be read."""
    if re.match(r"\w+\s*\[", item):
        return f"give it a name: x: {item}"
    if "*" in item or "ptr" in item:
        return "an array is written with its sizes: x: f32[n]; x.ptr is its pointer"
    if re.search(r":\s*\w+\s*\(", item):
        return "sizes stand in square brackets: x: f32[m, n]"
    if re.search(r":\s*\w+\.", item):
        return f"leave the module's name out: {re.sub(r'(:[ ]*)[a-z.]+[.]', lambda m: m[1], item)}"
    return 'as in "x: f32[n], scale: f32 = 1.0 -> y: f32[n]"'


def split(text: str, at: str = ",") -> "List[str]":
    """The parts between commas that are in no brackets."""
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c in "[(") - (c in "])")
        if c == at and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return [p for p in [*parts, part.strip()] if p]


def parse(text: str, names: "Sequence[str]", at: "Place") -> "List[Item]":
    """The arguments, inputs first. Errors: script.signature."""
    def wrong(message: str, fix: str = "") -> "NoReturn":
        raise script_error("script.signature", message, fix or 'as in "x: f32[n], scale: f32 = 1.0 -> y: f32[n]"', at)

    for other in ("=>", "→", "-->"):
        if other in text:
            wrong(f"`{other}` in the signature", "outputs stand behind ->")
    before, arrow, behind = text.partition("->")
    items: "List[Item]" = []
    for part, output in ((before, False), (behind, True)):
        for item in split(part):
            match = _ITEM.match(item)
            if match is None:
                wrong(f"`{item}` is no argument of a kernel", _item_fix(item))
            word, name, element, dims, strides, default = match.groups()
            if dims is None and (word or output or strides is not None):
                wrong(f"`{item}` is no array", "give it sizes: name: f32[n]")
            direction = "scalar" if dims is None else word or ("out" if output else "in")
            if output and direction != "out":
                wrong(f"`{item}` stands behind the arrow", "what is read stands before it")
            if name not in names:
                wrong(f"the function has no parameter `{name}`", f"it has {', '.join(names) or 'none'}")
            if any(i.name == name for i in items):
                wrong(f"`{name}` stands twice in the signature")
            sizes = split(dims or "")
            if dims is not None and not sizes:
                wrong(f"the array `{name}` has no dimensions", f"a single number is {name}: {element}[1]")
            steps = split(strides) if strides is not None else None
            if steps is not None and (len(steps) != len(sizes) or not all(re.fullmatch(r"\w+", s) for s in steps)):
                wrong(f"`{item}` has {len(steps)} strides", "one name or number per size")
            if default is not None and direction in ("in", "inout"):
                wrong(f"the array `{name}` has a default", "scalars and outputs may have one")
            items.append(Item(direction, name, element, sizes, steps, default))
    items.sort(key=lambda i: ("in inout out scalar".split().index(i.direction) > 1) + (i.direction == "scalar"))
    return items


class Bound:
    """A signature with its constants: parameters of the program, its interface, sizes of the arrays as parameters or numbers."""

    def __init__(self, items: "Sequence[Item]", constants: "Dict[str, Any]", grid: "Any", sizes: str, at: "Place") -> None:
        self.items = items
        self.constants = constants
        self.at = at
        self.parameters: "Dict[str, str]" = {}
        self.interface: "List[str]" = []
        self.shapes: "Dict[str, List[Union[int, str]]]" = {}
        self.strides: "Dict[str, List[Union[int, str]]]" = {}
        self.types: "Dict[str, DType]" = {}
        self._where: "Dict[str, str]" = {}  # sizes: "x.shape[0]"
        for item in items:
            self.types[item.name] = self._type(item)
            if item.direction != "scalar":
                self.parameters[item.name] = f"tile<ptr<{self.types[item.name].element}>>"
        for item in items:
            for d, word in enumerate(item.dims):
                if self._is_size(word) and (word not in self._where or item.direction != "out" and self._where[word].startswith("!")):
                    self._where[word] = ("!" if item.direction == "out" else "") + f"{_quoted(item.name)}.shape[{d}]"
        self._where = {k: v.lstrip("!") for k, v in self._where.items()}
        for item in items:
            self._add(item, f"tile<{sizes}>")
        rule = self._grid(grid)
        if rule:
            self.interface.append("grid " + ", ".join(rule))

    def wrong(self, message: str, fix: str = "") -> "NoReturn":
        raise script_error("script.signature", message, fix, self.at)

    def _type(self, item: "Item") -> "DType":
        found = self.constants.get(item.element, BY_NAME.get(item.element))
        if found is None or item.element not in self.constants and item.element not in BY_NAME:
            self.wrong(f"`{item.name}`: {item.element} is no element type",
                       element_fix(item.element))
        return dtype(found)

    def _is_size(self, word: str) -> bool:
        return word.isidentifier() and word not in self.constants

    def _add(self, item: "Item", size_type: str) -> None:
        name, type = item.name, self.types[item.name]
        if item.direction == "scalar":
            self.parameters[name] = f"tile<{type.element}>"
            default = f" default {self._number(item.default, type)}" if item.default is not None else ""
            self.interface.append(f"scalar {_quoted(name)} = %{name}{default}")
            return
        dims: "List[str]" = []
        shape: "List[Union[int, str]]" = []
        for d, word in enumerate(item.dims):
            size = self._known(word)
            if size is not None:
                if size < 1:
                    self.wrong(f"`{name}`: size {word} is {size}", "sizes are positive")
                dims.append(str(size))
                shape.append(size)
                continue
            parameter = word if self._is_size(word) else f"{name}.{d}"
            if parameter in self.types:
                self.wrong(f"`{word}` is a size of `{name}` and an argument", "give one of them another name")
            self.parameters[parameter] = size_type
            shape.append(parameter)
            if self._is_size(word) or word == "?":
                dims.append(f"%{parameter}")
            elif item.direction == "out":
                dims.append(f"%{parameter} = {self.expression(word)}")
            else:
                self.wrong(f"`{name}`: size `{word}` of an input", "sizes of inputs are names, numbers and constants; expressions give sizes of outputs")
        self.shapes[name] = shape
        text = f"{item.direction} {_quoted(name)}: {type.element}[{', '.join(dims)}]"
        if item.strides is not None:
            steps: "List[Union[int, str]]" = [int(s) if s.isdigit() else s for s in item.strides]
            for s in steps:
                if isinstance(s, str):
                    self.parameters.setdefault(s, size_type)
            self.strides[name] = steps
            text += f" strides [{', '.join(str(s) if isinstance(s, int) else f'%{s}' for s in steps)}]"
        text += f" at %{name}"
        if item.direction == "out" and item.default is not None:
            text += f" init {self._number(item.default, type)}"
        self.interface.append(text)

    def _known(self, text: str) -> "Optional[int]":
        """The value of an expression of numbers and constants."""
        if self._is_size(text) or text == "?":
            return None
        try:
            code = compile(ast.parse(text, mode="eval"), "<size>", "eval")
        except SyntaxError:
            self.wrong(f"`{text}` is no size", "write ? for any size" if text == ":" else "a name, a number, `?`, or of outputs an expression")
        numbers = {n: v for n, v in self.constants.items() if isinstance(v, int)}
        if not set(code.co_names) <= {*numbers, *_FUNCTIONS}:
            return None
        self._expression(ast.parse(text, mode="eval").body, text)  # it has nothing else in it
        functions = {"ceildiv": lambda a, b: -(-a // b), "cdiv": lambda a, b: -(-a // b), "min": min, "max": max, "select": lambda c, a, b: a if c else b}
        return int(eval(code, {"__builtins__": {}}, {**functions, **numbers}))

    def _number(self, text: "Optional[str]", type: "DType") -> str:
        from ._dtypes import check_number, number_text

        value = self.constants.get(text or "", None)
        if value is None:
            try:
                value = ast.literal_eval(text or "")
            except (ValueError, SyntaxError):
                value = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}.get(text or "")
        if not isinstance(value, (bool, int, float)):
            self.wrong(f"`{text}` is no number")
        check_number(value, type, f"`{text}`")
        return number_text(value, type)

    # --- expressions

    def _grid(self, grid: "Any") -> "List[str]":
        if grid is None:
            return []
        parts = grid if isinstance(grid, (tuple, list)) else split(grid) if isinstance(grid, str) else [grid]
        if not 1 <= len(parts) <= 3:
            self.wrong(f"grid={grid!r} has {len(parts)} sizes", "one to three")
        rule = 'write the rule as text, of sizes and constants: grid="ceildiv(n, 128)"; or leave it out, and pass grid=… in each call'
        return [self.expression(str(p)) if isinstance(p, (str, int)) else self.wrong(f"grid={grid!r}", rule) for p in parts]

    def expression(self, text: str) -> str:
        """In the words of the interface. Errors: script.signature."""
        try:
            tree = ast.parse(text, mode="eval").body
        except SyntaxError:
            self.wrong(f"`{text}` is no expression", 'as in "ceildiv(n, 128)"')
        return self._expression(tree, text)

    def _expression(self, node: "ast.AST", text: str) -> str:
        def go(inner: "ast.AST") -> str:
            return self._expression(inner, text)

        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return str(int(node.value))
        if isinstance(node, ast.Name):
            if node.id in self.constants:
                value = self.constants[node.id]
                return str(int(value)) if isinstance(value, int) else self.wrong(f"`{node.id}` in `{text}` is {value!r}, no integer")
            if node.id in self._where:
                return self._where[node.id]
            if any(i.name == node.id and i.direction == "scalar" for i in self.items):
                return _quoted(node.id)
            if node.id == "num_sms":
                return node.id
            self.wrong(f"`{node.id}` in `{text}` is no size, scalar or constant", f"sizes are {', '.join(self._where) or 'none'}")
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return f"({go(node.left)} {_OPERATORS[type(node.op)]} {go(node.right)})"
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPERATORS:
            return f"({go(node.left)} {_OPERATORS[type(node.ops[0])]} {go(node.comparators[0])})"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and _FUNCTIONS.get(node.func.id) == len(node.args) and not node.keywords:
            return f"{'ceildiv' if node.func.id == 'cdiv' else node.func.id}({', '.join(map(go, node.args))})"
        plain = ast.unparse(node)
        if re.fullmatch(r"\w+\.(shape\[\d+\]|stride\[\d+\]|align)", plain) and any(i.name == plain.split(".")[0] and i.dims for i in self.items):
            name, _, rest = plain.partition(".")
            return f"{_quoted(name)}.{rest}"
        self.wrong(f"`{plain}` in `{text}` is no part of a launch rule", self._expression_fix(node))

    @staticmethod
    def _expression_fix(node: "ast.AST") -> str:
        parts = "use + - * // %, ceildiv, min, max, select, x.shape[0], num_sms"
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return f"sizes are integers: ceildiv({ast.unparse(node.left)}, {ast.unparse(node.right)}) rounds up, // down; {parts}"
        name = ast.unparse(node.func) if isinstance(node, ast.Call) else node.attr if isinstance(node, ast.Attribute) else ""
        meant = {"len": "x.shape[0] is a size of the array", "size": "x.shape[0] is a size of the array", "numel": "x.shape[0] is a size of the array"}
        if name.rpartition(".")[2] in ("ceil", "ceil_div", "div_ceil", "cdiv", "round_up"):
            return f"ceildiv(n, 128) rounds up; {parts}"
        found = meant.get(name.rpartition(".")[2], "")
        return f"{found}; {parts}" if found else parts

