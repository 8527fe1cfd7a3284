"""Sizes that the host computes at a launch: expressions of parameters, stored in a file beside the kernel and evaluated in Python.

    stored = store(expr, {var: number of the parameter}, lets)      # lists, numbers and texts, for JSON
    evaluate(stored, arguments)                                     # an int
"""
from __future__ import annotations

import math

from ._refuse import Refusal
from ._scan import kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Sequence


def _quotient(a: int, b: int) -> int:
    return int(math.copysign(abs(a) // abs(b), a * b)) if b else 0


_OPERATIONS: "Dict[str, Callable[..., Any]]" = {
    "Add": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Multiply": lambda a, b: a * b, "Div": _quotient,
    "Mod": lambda a, b: a - b * _quotient(a, b), "min": min, "max": max, "Equal": lambda a, b: int(a == b), "NotEqual": lambda a, b: int(a != b),
    "LessThan": lambda a, b: int(a < b), "LessEqual": lambda a, b: int(a <= b), "IfThenElse": lambda c, a, b: a if c else b,
    "LogicalAnd": lambda a, b: int(bool(a and b)), "LogicalOr": lambda a, b: int(bool(a or b)),
}


def store(expr: "Any", parameters: "Dict[Any, int]", lets: "Dict[Any, Any]") -> "Any":
    """An expression as lists, numbers and texts. Errors: Refusal for one that only the kernel can evaluate."""
    if isinstance(expr, int):
        return expr
    name = kind(expr)
    if name == "Var":
        if expr in parameters:
            return ["parameter", parameters[expr]]
        if expr in lets:
            return store(lets[expr], parameters, lets)
        raise Refusal(f"a number of blocks or a size of memory that depends on {expr.name or expr.hint}", "compute it from the parameters")
    if name == "Constant":
        return int(expr.value)
    if name == "Cast":
        return store(expr.expr, parameters, lets)
    if name == "Call":
        short = expr.func_var.name.rsplit("_", 1)[-1]
        if short in ("min", "max"):
            return [short, *(store(a, parameters, lets) for a in expr.args)]
    if name == "IfThenElse":
        return [name, *(store(e, parameters, lets) for e in (expr.cond, expr.then_expr, expr.else_expr))]
    if name in _OPERATIONS:
        return [name, store(expr.a, parameters, lets), store(expr.b, parameters, lets)]
    raise Refusal(f"a number of blocks or a size of memory with {name}", "use arithmetic of the parameters")


def evaluate(stored: "Any", arguments: "Sequence[Any]") -> int:
    """The value of a stored expression, given the arguments of the launch."""
    if isinstance(stored, int):
        return stored
    if stored[0] == "parameter":
        return int(arguments[stored[1]])
    return int(_OPERATIONS[stored[0]](*(evaluate(e, arguments) for e in stored[1:])))
