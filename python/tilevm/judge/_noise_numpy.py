"""How exactly a function of NumPy is defined, as _noise.py says it of torch: arrays of float64 that err at each operation as their types allow.

    x = noisy(array, generator)        # of float32: each operation errs by half of a last digit of float32, sums by more
    with following():
        result = function(x)           # kind_of(result) is None if the function lost track, by single elements

Ufuncs, reductions, products of matrices and conversions are followed, numpy.asarray and its like within following(). What a function computes by
single elements is not.
"""
from __future__ import annotations

import contextlib
import math

from ._np import numpy
from ._numbers import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator, Optional

_SINGLE = FORMATS["float32"].unit  # functions and sums are computed in float32 at least
# Nothing is rounded: values are moved, compared or chosen.
_EXACT = frozenset("""maximum minimum fmax fmin negative positive absolute fabs sign floor ceil rint trunc clip copysign isnan isinf isfinite
signbit conjugate heaviside nextafter fmod remainder floor_divide ldexp""".split())
_RELATIVE = frozenset(("exp", "exp2", "expm1", "sinh", "cosh"))  # they err by more, the larger their argument is
_ABSOLUTE = frozenset("tanh log log2 log10 log1p arctan arcsin arccos sin cos tan logaddexp logaddexp2".split())  # … by a last digit of 1
_PRODUCTS = frozenset(("dot", "einsum", "tensordot", "inner", "vdot", "convolve"))  # functions that are no ufuncs


class _Noisy(numpy.ndarray):  # type: ignore[misc]
    """`kind`: the type that the elements stand for; `noise`: where errors come from."""

    kind: str = "float32"
    noise: "Any" = None

    def __array_finalize__(self, of: "Any") -> None:
        self.kind = getattr(of, "kind", "float32")
        self.noise = getattr(of, "noise", None)

    def __array_ufunc__(self, ufunc: "Any", method: str, *inputs: "Any", out: "Any" = None, **named: "Any") -> "Any":
        if named.get("dtype") is not None and numpy.dtype(named["dtype"]).kind == "f":
            named["dtype"] = numpy.float64
        plain = [_plain(each) for each in inputs]
        given = None if out is None else tuple(map(_plain, out))
        result = getattr(ufunc, method)(*plain, **({} if given is None else {"out": given}), **named)
        if isinstance(result, tuple):
            return tuple(_like(inputs, each) for each in result)
        made = _like(inputs, result)
        if isinstance(made, _Noisy):
            made.err(_more(ufunc, method, plain, result, named), ufunc.__name__ in _EXACT)
        if out is not None and isinstance(made, _Noisy):
            _plain(out[0])[...] = _plain(made)
            return out[0]
        return made

    def __array_function__(self, function: "Any", types: "Any", arguments: "Any", named: "Any") -> "Any":
        result = super().__array_function__(function, types, arguments, named)
        made = _like([self], result)
        if isinstance(made, _Noisy) and function.__name__ in _PRODUCTS:
            terms = [numpy.abs(_plain(each)) if isinstance(each, numpy.ndarray) else each for each in arguments]
            count = max(_plain(each).size for each in arguments if isinstance(each, numpy.ndarray))
            made.err(function(*terms, **named) * (1 + math.sqrt(count)), False)
        return made

    def astype(self, dtype: "Any", *more: "Any", **named: "Any") -> "Any":
        """A conversion to another float keeps float64, and rounds if the type is narrower."""
        wanted = numpy.dtype(dtype)
        if wanted.kind != "f":
            return _plain(self).astype(wanted)
        made = self.copy()
        made.kind = str(wanted) if str(wanted) in FORMATS and wanted != numpy.float64 else _wider(self.kind, "float32")
        if FORMATS[made.kind].unit > FORMATS[self.kind].unit:
            made.err(None, False)
        return made

    def err(self, more: "Any", exact: bool) -> None:
        """Adds a rounding error to each element, and `more`: units of the last digit of 1."""
        if exact or self.noise is None:
            return
        values, form = _plain(self), FORMATS[self.kind]
        with numpy.errstate(all="ignore"):
            relative = numpy.abs(values) * form.unit + (0 if more is None else more * min(_SINGLE, form.unit))
            amplitude = relative + numpy.where(values == 0, 0.0, form.unit * 2.0 ** form.least)  # as _noise.py says
            amplitude = numpy.where(numpy.isfinite(amplitude) & numpy.isfinite(values), amplitude, 0.0)
            random = self.noise.random(values.shape)
            made = values + amplitude * numpy.where(random < 0.5, -0.5 - random, random)  # 0.5 to 1 of it, to either side
            values[...] = numpy.where((made * numpy.sign(values) < 0) & (relative < numpy.abs(values)), 0.0, made)
            values[...] = numpy.where(numpy.abs(values) > form.largest, numpy.sign(values) * numpy.inf, values)  # as an answer's would overflow


def noisy(array: "Any", generator: "Any") -> "Any":
    """A float array as one that errs; others: a copy."""
    if array.dtype.kind != "f":
        return array.copy()
    return seen_as(array.astype(numpy.float64), str(array.dtype), generator)


def seen_as(array: "Any", kind: str, generator: "Any") -> "Any":
    """An array of float64, in the same memory, as one of this type that errs."""
    made = array.view(_Noisy)
    made.kind, made.noise = kind, generator
    return made


@contextlib.contextmanager
def following() -> "Iterator[None]":
    """Functions that make a plain array of any other leave one that errs as it is. For one thread."""
    kept = {name: getattr(numpy, name) for name in ("asarray", "array", "ascontiguousarray", "asfortranarray")}

    def followed(original: "Callable[..., Any]") -> "Callable[..., Any]":
        def make(value: "Any", dtype: "Any" = None, *more: "Any", **named: "Any") -> "Any":
            if not isinstance(value, _Noisy) or more or set(named) - {"copy", "order"}:
                return original(value, dtype, *more, **named)
            return value.copy() if dtype is None else value.astype(dtype)

        return make

    try:
        for name, original in kept.items():
            setattr(numpy, name, followed(original))
        yield
    finally:
        for name, original in kept.items():
            setattr(numpy, name, original)


def kind_of(value: "Any") -> "Optional[str]":
    """The type that an array stands for; None for one that does not err."""
    return value.kind if isinstance(value, _Noisy) else None


def _plain(value: "Any") -> "Any":
    return value.view(numpy.ndarray) if isinstance(value, _Noisy) else value


def _wider(one: str, other: str) -> str:
    return one if FORMATS[one].digits >= FORMATS[other].digits else other


def _like(inputs: "Any", result: "Any") -> "Any":
    """A float result as one that errs, of the widest type of the inputs; others as they are."""
    if not isinstance(result, (numpy.ndarray, numpy.floating)) or result.dtype.kind != "f":
        return result
    sources = [each for each in inputs if isinstance(each, _Noisy)]
    made = numpy.array(_plain(result), numpy.float64).view(_Noisy)
    made.noise, made.kind = sources[0].noise, sources[0].kind
    for each in sources[1:]:
        made.kind = _wider(made.kind, each.kind)
    return made


def _more(ufunc: "Any", method: str, inputs: "Any", result: "Any", named: "Any") -> "Any":
    """What an operation errs by beyond its last digit, in units of the last digit of 1; None: nothing."""
    name = ufunc.__name__
    with numpy.errstate(all="ignore"):
        if name == "matmul" or method in ("reduce", "accumulate") and name in ("add", "subtract"):
            terms = [numpy.abs(each) if isinstance(each, numpy.ndarray) else each for each in inputs]
            magnitude = getattr(ufunc, method)(*terms, **{key: value for key, value in named.items() if key in ("axis", "keepdims")})
            count = inputs[0].shape[-1] if name == "matmul" else max(1, numpy.size(inputs[0]) // max(1, numpy.size(result)))
            return magnitude * (1 + math.sqrt(count if method != "accumulate" else numpy.size(inputs[0])))
        if method != "__call__" or not inputs:
            return None
        x = inputs[0]
        if name in _RELATIVE:
            return numpy.abs(result) * (2 + numpy.abs(x))
        if name in _ABSOLUTE:
            return 1 + numpy.abs(result) * 2 + (numpy.abs(x) if name in ("sin", "cos", "tan") else 0)
        if name in ("power", "float_power"):
            return numpy.abs(result) * (1 + numpy.abs(inputs[1] * numpy.log(numpy.maximum(numpy.abs(x), 1e-300))))
    return None
