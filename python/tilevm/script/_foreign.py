"""Names of other systems, and what takes their place here.

    script.relu      → script.name: script has no `relu`; fix: script.maximum(x, 0)

NumPy, torch, Triton, cuTile, CUDA and Python's own functions are the systems. Methods of tiles and arrays, functions of NumPy and torch that are
called on tiles, and names that are asked of the module all go through `instead`. The names are those of ir/foreign_names.def, the table of
all forms.
"""
from __future__ import annotations

import functools

from ..builder import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, NoReturn


def _rows(*kinds: str) -> "Dict[str, str]":
    """What to write for the names of these kinds: rows of ir/foreign_names.def, which the table of operations carries."""
    return {row["name"]: row["script"] for row in table()["foreign_names"] if row["kind"] in kinds and row["script"]}


@functools.lru_cache(None)
def names_instead() -> "Dict[str, str]":
    """What a name of another system is written as."""
    types = {name: f"script.{type}; x.astype(script.{type}) converts a tile" for name, type in _rows("element").items()}
    return {**types, **_rows("op", "script")}


@functools.lru_cache(None)
def arguments_instead() -> "Dict[str, str]":
    """What a named argument of another system is called here."""
    return _rows("argument")


def element_instead(name: str) -> str:
    """The type of script, as `float32`, that another system's type is; "" if none is known. Any case counts."""
    return _rows("element").get(name.lower(), "")


def call_hint(name: str, args: "Any", named: "Any") -> str:
    """What a call with wrong arguments meant in another system; "" if nothing is known."""
    from ._dtypes import PointerType

    if args and isinstance(getattr(args[0], "dtype", None), PointerType) and name in ("load", "store", "gather", "scatter"):
        name = {"gather": "load", "scatter": "store"}.get(name, name)
        return f"pointers go to script.pointer.{name}(pointers, …) and script.pointer.{name}_masked; "
    if name == "arange" and len(args) > 1:
        return "the numbers begin at 0: start + script.arange(size); "
    here = arguments_instead()
    return next((f"in place of {n}= there is {here[n]}; " for n in named if n in here), "")


def instead(name: str) -> str:
    """What takes the place of a name of another system, as code or in words; "" if nothing is known."""
    from . import __all__ as names
    from ._dtypes import BY_NAME
    from ._tile import Tile

    others = names_instead()
    if name in names:
        return f"script.{name}"
    if name in others:
        return others[name]
    if hasattr(Tile, name) and not name.startswith("_"):
        return f"x.{name}(…)"
    if name in BY_NAME:
        return "script.bool_" if BY_NAME[name].kind == "bool" else f"script.{BY_NAME[name].numpy}"
    import difflib

    near = difflib.get_close_matches(name, [*names, *others], 1, 0.8) if len(name) > 3 else []
    return "" if not near else f"script.{near[0]}" if near[0] in names else others[near[0]]


def refuse(what: str, name: str) -> "NoReturn":
    """Errors: script.foreign, always: a function of another library was called on a tile."""
    from ._trace import fail

    fail("script.foreign", what, instead(name) or "docs/script.md lists the functions of tiles")


def no_attribute(what: str, name: str, fix: str = "") -> AttributeError:
    """The error of `what`, which lacks an attribute. Names with an underscore in front are protocols of Python, which just look."""
    if name.startswith("_"):
        return AttributeError(f"{what} has no `{name}`")
    from ._errors import ScriptAttributeError, message_of

    return ScriptAttributeError(message_of("script.foreign", f"{what} has no `{name}`", fix or instead(name) or "docs/script.md lists what there is"))


def _plain(value: "Any", what: str) -> "Any":
    """A tile, or a number as Python's. Errors: script.type."""
    from ._tile import Tile, as_tile, number_of

    if isinstance(value, Tile):
        return value
    number = number_of(value)
    if number is None:
        return as_tile(value, None, what)
    return number.item() if hasattr(number, "item") else number  # a float64 of NumPy is a float, and asks NumPy for its operators


def _operate(name: str, left: "Any", right: "Any") -> "Any":
    import operator

    what = operator_text(name)
    return getattr(operator, name)(_plain(left, what), _plain(right, what))


def operator_text(name: str) -> str:
    """The sign of a function of Python's module operator."""
    return _SIGNS.get(name, name)


class Foreign:
    """What tiles and arrays of a kernel say to functions of other libraries. A number of NumPy or torch beside a tile is a number."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: "Any", method: str, *inputs: "Any", **named: "Any") -> "Any":
        name = ufunc.__name__
        if method == "__call__" and name in _OPERATORS and len(inputs) == 2 and not named:
            return _operate(_OPERATORS[name], *inputs)
        if method == "__call__":
            refuse(f"numpy.{name} of {self!r}", name)
        refuse(f"numpy.{name}.{method} of {self!r}", _REDUCTIONS.get(name, name) if method == "reduce" else method)

    def __array_function__(self, function: "Any", types: "Any", args: "Any", named: "Any") -> "NoReturn":
        refuse(f"numpy.{function.__name__} of {self!r}", function.__name__)

    @classmethod
    def __torch_function__(cls, function: "Any", types: "Any", args: "Any" = (), named: "Any" = None) -> "Any":
        name = getattr(function, "__name__", str(function))
        operator = _OPERATORS.get(name.strip("_"))
        if operator is not None and len(args) == 2 and not named:
            return _operate(operator, *args)
        refuse(f"torch.{name} of {next((repr(a) for a in args if isinstance(a, cls)), 'a tile')}", name)

    def __array__(self, *_: "Any", **__: "Any") -> "NoReturn":
        from ._trace import fail

        fail("script.value", f"{self!r} as an array of NumPy", "what it holds is known when the kernel runs: use functions of script")


# Functions of two arguments in NumPy and torch, as those of Python's module operator.
_OPERATORS = {"add": "add", "subtract": "sub", "sub": "sub", "multiply": "mul", "mul": "mul", "divide": "truediv", "div": "truediv",
              "true_divide": "truediv", "floor_divide": "floordiv", "remainder": "mod", "power": "pow", "pow": "pow", "greater": "gt", "gt": "gt",
              "greater_equal": "ge", "ge": "ge", "less": "lt", "lt": "lt", "less_equal": "le", "le": "le", "equal": "eq", "eq": "eq", "not_equal": "ne",
              "ne": "ne", "bitwise_and": "and_", "and": "and_", "bitwise_or": "or_", "or": "or_", "bitwise_xor": "xor", "xor": "xor",
              "left_shift": "lshift", "right_shift": "rshift", "matmul": "matmul"}
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "gt": ">", "ge": ">=", "lt": "<", "le": "<=",
          "eq": "==", "ne": "!=", "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "matmul": "@"}
_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any"}
