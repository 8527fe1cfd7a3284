"""Elementwise functions of floats, and the larger and smaller of two.

Integers are taken as f32 (64 bits: f64). How exact each is stands in docs/semantics/arithmetic.md.
"""
from __future__ import annotations

from . import _arith
from ._api import api
from ._dtypes import F32, F64, DType
from ._tile import Tile, as_tile, emit, pair, together
from ._trace import fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._tile import TileLike


def _float(x: "TileLike", what: str) -> Tile:
    tile = as_tile(x, None, what)
    if isinstance(tile.dtype, DType) and (tile.dtype.is_integer or tile.dtype.kind == "bool"):
        return _arith.convert(tile, F64 if tile.dtype.bits == 64 else F32)
    if not tile.dtype.is_float:
        fail("script.dtype", f"{what} of {tile.dtype}", "convert with astype(script.float32)")
    return tile


@api
def exp(x: "TileLike") -> Tile:
    """e to the power of x."""
    return emit("exp", _float(x, "exp"))


@api
def exp2(x: "TileLike") -> Tile:
    """2 to the power of x."""
    return emit("exp2", _float(x, "exp2"))


@api
def log(x: "TileLike") -> Tile:
    """The natural logarithm."""
    return emit("log", _float(x, "log"))


@api
def log2(x: "TileLike") -> Tile:
    """The logarithm to base 2."""
    return emit("log2", _float(x, "log2"))


@api
def sqrt(x: "TileLike") -> Tile:
    """The square root, correctly rounded."""
    return emit("sqrt", _float(x, "sqrt"), rounding="nearest_even")


@api
def rsqrt(x: "TileLike") -> Tile:
    """1 / sqrt(x)."""
    return emit("rsqrt", _float(x, "rsqrt"))


@api
def sin(x: "TileLike") -> Tile:
    """Sine, in radians."""
    return emit("sin", _float(x, "sin"))


@api
def cos(x: "TileLike") -> Tile:
    """Cosine, in radians."""
    return emit("cos", _float(x, "cos"))


@api
def tan(x: "TileLike") -> Tile:
    """Tangent, in radians."""
    return emit("tan", _float(x, "tan"))


@api
def sinh(x: "TileLike") -> Tile:
    """Hyperbolic sine."""
    return emit("sinh", _float(x, "sinh"))


@api
def cosh(x: "TileLike") -> Tile:
    """Hyperbolic cosine."""
    return emit("cosh", _float(x, "cosh"))


@api
def tanh(x: "TileLike") -> Tile:
    """Hyperbolic tangent."""
    return emit("tanh", _float(x, "tanh"))


@api
def erf(x: "TileLike") -> Tile:
    """The error function."""
    return emit("erf", _float(x, "erf"))


@api
def floor(x: "TileLike") -> Tile:
    """The largest whole number that is not above x, as a float."""
    return emit("floor", _float(x, "floor"))


@api
def ceil(x: "TileLike") -> Tile:
    """The smallest whole number that is not below x, as a float."""
    return emit("ceil", _float(x, "ceil"))


@api
def abs(x: "TileLike") -> Tile:
    """The absolute value, of x's type."""
    return _arith.absolute(as_tile(x, None, "abs"))


@api
def atan2(y: "TileLike", x: "TileLike") -> Tile:
    """The angle of the point (x, y)."""
    left, right, _ = pair(_float(y, "atan2"), _float(x, "atan2"), "atan2")
    return emit("atan2", left, right)


@api
def pow(x: "TileLike", exponent: "TileLike") -> Tile:
    """x ** exponent."""
    return _arith.power(x, exponent)


@api
def fma(x: "TileLike", y: "TileLike", z: "TileLike") -> Tile:
    """x * y + z with one rounding."""
    a, b, c = together((x, y, z), "fma")
    if not a.dtype.is_float:
        fail("script.dtype", f"fma of {a.dtype}", "it takes floats")
    return emit("fma", a, b, c, rounding="nearest_even")


def _extreme(x: "Any", y: "Any", what: str, integer: str, float_: str, propagate_nan: bool) -> Tile:
    left, right, type = pair(x, y, what)
    if type.is_float:
        return emit(float_, left, right, propagate_nan=propagate_nan)
    if not (type.is_integer or type.kind == "bool"):
        fail("script.dtype", f"{what} of {type}", "convert with astype(script.float32)")
    return emit(integer, left, right, signedness=type.signedness)


@api
def maximum(x: "TileLike", y: "TileLike", *, propagate_nan: bool = False) -> Tile:
    """The larger of two; with a NaN the other one, or NaN if `propagate_nan`."""
    return _extreme(x, y, "maximum", "maxi", "maxf", propagate_nan)


@api
def minimum(x: "TileLike", y: "TileLike", *, propagate_nan: bool = False) -> Tile:
    """The smaller of two; with a NaN the other one, or NaN if `propagate_nan`."""
    return _extreme(x, y, "minimum", "mini", "minf", propagate_nan)


__all__ = ["exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "erf", "floor", "ceil", "abs",
           "atan2", "pow", "fma", "maximum", "minimum"]
