"""Functions that expressions of Tilus call, such as cuda_f32_exp: one row for each name behind the type."""
from __future__ import annotations

import re

from ._expr import Expressions, compare, in_wider
from ._refuse import Refusal
from ._types import is_float, is_small, sign
from ._writer import Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict

# Functions of one float that are one operation.
_UNARY = {"sin": "sin", "cos": "cos", "tan": "tan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "exp": "exp", "exp2": "exp2",
          "log": "log", "log2": "log2", "sqrt": "sqrt", "rsqrt": "rsqrt", "ceil": "ceil", "floor": "floor", "erf": "erf"}
_BINARY = {"pow": "fpowf", "mod": "remf", "atan2": "atan2"}


def call(self: Expressions, e: "Any") -> Tile:
    """The value of a call. Errors: Refusal for a function that tile code does not have."""
    name = str(e.func_var.name)
    args = [self.computable(v) if is_small(v.dtype) else v for v in map(self.value, e.args)]
    found = re.fullmatch(r"(?:cuda|generic)_(?:(f16|f32|f64|bf16|i\d+|u\d+|f8\w+?)_)?(\w+?)(?:_sm80)?(?:_rn)?", name)
    short = found[2] if found else name
    if short in _SPECIAL:
        return _SPECIAL[short](self, *args)
    if args and is_float(args[0].dtype):
        if short in _UNARY and len(args) == 1:
            return in_wider(self, _UNARY[short], *args)
        if short in _BINARY and len(args) == 2:
            return in_wider(self, _BINARY[short], *args)
    raise Refusal(f"the function {name}", "use the functions of tilus.Script; those of threads and PTX have no meaning in tile code")


def minimum(self: Expressions, a: Tile, b: Tile, which: str = "min") -> Tile:
    """The smaller one of two numbers, or the larger one (which="max"). A NaN loses, as in C's fmin."""
    a, b = self.promoted(a, b)
    if is_float(a.dtype):
        return in_wider(self, f"{which}f", a, b)
    return self.op(f"{which}i", a, b, dtype=a.dtype, words=f" {sign(a.dtype)}")


def _fma(self: Expressions, a: Tile, b: Tile, c: Tile) -> Tile:
    if is_float(a.dtype):
        return in_wider(self, "fma", a, b, c)
    return self.op("addi", self.op("muli", a, b, dtype=a.dtype), c, dtype=a.dtype)


def _abs(self: Expressions, a: Tile) -> Tile:
    if is_float(a.dtype):
        return in_wider(self, "absf", a)
    return self.op("absi", a, dtype=a.dtype) if sign(a.dtype) == "signed" else a


def _trunc(self: Expressions, a: Tile) -> Tile:
    """Rounds towards zero."""
    zero = self.number(0.0, a.dtype)
    up, down = in_wider(self, "ceil", a), in_wider(self, "floor", a)
    return self.op("select", compare(self, "less_than", a, zero), up, down, dtype=a.dtype)


def _round(self: Expressions, a: Tile) -> Tile:
    """Rounds as C's round: halves go away from zero. The part after the point decides, so that large numbers stay as they are."""
    size = _abs(self, a)
    whole = in_wider(self, "floor", size)
    rest = in_wider(self, "subf", size, whole)
    up = compare(self, "greater_than_or_equal", rest, self.number(0.5, a.dtype))
    more = in_wider(self, "addf", whole, self.number(1.0, a.dtype))
    rounded = self.op("select", up, more, whole, dtype=a.dtype)
    negative = compare(self, "less_than", a, self.number(0.0, a.dtype))
    return self.op("select", negative, in_wider(self, "negf", rounded), rounded, dtype=a.dtype)


def _log1p(self: Expressions, a: Tile) -> Tile:
    return in_wider(self, "log", in_wider(self, "addf", a, self.number(1.0, a.dtype)))


def _expm1(self: Expressions, a: Tile) -> Tile:
    return in_wider(self, "subf", in_wider(self, "exp", a), self.number(1.0, a.dtype))


def _log10(self: Expressions, a: Tile) -> Tile:
    return in_wider(self, "mulf", in_wider(self, "log2", a), self.number(0.30102999566398119, a.dtype))


def _isnan(self: Expressions, a: Tile) -> Tile:
    return compare(self, "not_equal", a, a)


def _isinf(self: Expressions, a: Tile) -> Tile:
    return compare(self, "equal", _abs(self, a), self.number(float("inf"), a.dtype))


def _isfinite(self: Expressions, a: Tile) -> Tile:
    return compare(self, "less_than", _abs(self, a), self.number(float("inf"), a.dtype))


_SPECIAL: "Dict[str, Callable[..., Tile]]" = {
    "min": minimum, "max": lambda self, a, b: minimum(self, a, b, "max"), "fma": _fma, "abs": _abs, "trunc": _trunc, "round": _round,
    "log1p": _log1p, "expm1": _expm1, "log10": _log10, "isnan": _isnan, "isinf": _isinf, "isfinite": _isfinite,
}
