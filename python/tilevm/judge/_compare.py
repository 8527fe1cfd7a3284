"""An answer's results beside the expected ones: the first element that rounding does not explain, and what it looks like.

    found = compare(results, expected)         # None, or Difference("judge.differs", …)

Special values follow rules. NaN is asked for where float64 gives NaN, and infinity where it gives infinity, or a number that the type does not
have. Where the reference itself overflows in its own types, either is right. Integers and bools are compared exactly, but where rounding decides
them.
"""
from __future__ import annotations

import dataclasses


from . import _numbers, _values
from ._np import numpy
from ._numbers import FORMATS, ulp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional, Sequence, Tuple

    from ._reference import Expected, Result

    Numbers = Any

_BIAS_FROM = 200  # elements, for a statement about the mean error
_BIAS = 0.2  # of a last digit; to nearest it is 0, toward zero a half
_BIAS_NOISE = 6.7  # most noise of an element, in last digits: that of one rounding is 5.8 in the median (_reference.py)


@dataclasses.dataclass
class Difference:
    """`code` (stable), `result`: which array, `index`: the first wrong element, `expected` and `got` there, `bound`; `wrong` of `elements`; `text`."""

    code: str
    text: str
    result: int = 0
    index: "Tuple[int, ...]" = ()
    expected: "Any" = None
    got: "Any" = None
    bound: "Optional[float]" = None
    wrong: int = 0
    elements: int = 0
    special: bool = False  # at NaN or infinity alone


def compare(got: "Sequence[Any]", expected: "Sequence[Result]") -> "Optional[Difference]":
    """Of results in order."""
    if len(got) != len(expected):
        return Difference("judge.shape", f"{len(got)} arrays are returned, the task has {len(expected)}")
    for number, (one, want) in enumerate(zip(got, expected)):
        found = compare_one(number, one, want)
        if found is not None:
            return found
    return None


def overflows(expected: "Sequence[Result]") -> bool:
    """Whether the reference overflows in its own types, where float64 does not: then what an answer makes of its infinity is its own."""
    return any(want.want.dtype.kind == "f" and bool(_overflow(want).any()) for want in expected)


def _overflow(want: "Result") -> "Numbers":
    """Elements at which the reference has no number in its own types, and float64 has one, or at least an infinity."""
    return ~numpy.isfinite(want.native) & numpy.isfinite(want.want) | numpy.isnan(want.native) & numpy.isinf(want.want)


def compare_one(number: int, got: "Any", want: "Result") -> "Optional[Difference]":
    what = f"result {number}"
    values = _numbers.exact(got) if _values.is_array(got) else numpy.asarray(got)
    if values.shape != want.want.shape:
        return Difference("judge.shape", f"{what} has shape {list(values.shape)}, expected {list(want.want.shape)}", number)
    dtype = _numbers.dtype_of(got) if _values.is_array(got) else want.dtype
    if dtype != want.dtype and not _may_stand_for(dtype, want.dtype) and not (want.may_be_float64 and dtype == "float64"):
        return Difference("judge.dtype", f"{what} is of {dtype}, expected {want.dtype}", number, expected=want.dtype, got=dtype)
    if values.size == 0:
        return None
    if want.dtype not in FORMATS or want.want.dtype.kind != "f":
        return _exactly(number, values, want)
    bad, special = _wrong(values.astype(numpy.float64), want)
    if bad.any():
        return _first(number, values, want, bad, special)
    return _bias(number, values.astype(numpy.float64), want)


def _may_stand_for(dtype: str, wanted: str) -> bool:
    """Integers of another width hold the same indices; so do counts."""
    return dtype in ("int32", "int64", "uint32", "uint64") and wanted in ("int32", "int64")


def _exactly(number: int, values: "Numbers", want: "Result") -> "Optional[Difference]":
    bad = values != want.want
    if want.open is not None:
        bad &= ~want.open | ((values != want.native) & (values != want.want) & _impossible(values, want))
    if not bad.any():
        return None
    return _first(number, values, want, bad, numpy.zeros(bad.shape, bool))


def _impossible(values: "Numbers", want: "Result") -> "Numbers":
    """Integers that are not even near any that was seen."""
    if want.want.dtype.kind == "b":
        return numpy.zeros(values.shape, bool)
    low, high = min(want.want.min(), want.native.min()), max(want.want.max(), want.native.max())
    return (values < low) | (values > high)


def _wrong(got: "Numbers", want: "Result") -> "Tuple[Numbers, Numbers]":
    """(elements that are wrong, those of them where a special value is or is wanted)."""
    form = FORMATS[want.dtype]
    limit = form.largest * (1 + form.unit)
    with numpy.errstate(all="ignore"):
        near = numpy.abs(got - want.want) <= want.bound
        beyond = numpy.abs(want.want) + want.bound >= limit  # may be infinite in this type
        infinite = numpy.isinf(got) & beyond & (numpy.sign(got) == numpy.sign(want.want))
        nan = numpy.isnan(got) & numpy.isnan(want.want)
        overflow = _overflow(want)  # no answer must do better
        equal = got == want.want
        same_sign = numpy.sign(got) == numpy.sign(want.want)
        near_limit = beyond & numpy.isfinite(got) & numpy.isfinite(want.want) & same_sign & (numpy.abs(got) >= form.largest * 0.99)
    right = near & numpy.isfinite(got) & numpy.isfinite(want.want) | infinite | nan | equal | overflow | near_limit
    special = ~numpy.isfinite(got) | ~numpy.isfinite(want.want)
    return ~right, special


def _first(number: int, values: "Numbers", want: "Result", bad: "Numbers", special: "Numbers") -> Difference:
    index = tuple(int(i) for i in numpy.argwhere(bad)[0])
    expected, got = want.want[index].item(), values[index].item()
    bound = float(want.bound[index])
    only = bool(special[bad].all()) and want.want.dtype.kind == "f"
    place = f"result {number}" + (f"[{', '.join(map(str, index))}]" if index else "")
    off = f", off by {abs(got - expected):.3g} where rounding explains {bound:.3g}" if isinstance(got, float) and not only else ""
    count = int(bad.sum())
    many = f"; {count} of {bad.size} elements are wrong" if bad.size > 1 else ""
    text = f"{place} is {_shown(got)}, expected {_shown(expected)}{off}{many}"
    return Difference("judge.special" if only else "judge.differs", text, number, index, expected, got, bound, count, int(bad.size), only)


def _shown(value: "Any") -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _bias(number: int, got: "Numbers", want: "Result") -> "Optional[Difference]":
    """Errors that go to one side: rounding toward zero, or sums that lose digits."""
    if want.dtype not in ("float16", "bfloat16"):
        return None
    unit = ulp(want.want, want.dtype)
    normal = numpy.isfinite(got) & numpy.isfinite(want.want) & (numpy.abs(want.want) >= 2.0 ** FORMATS[want.dtype].least)
    usable = normal & (want.noise < _BIAS_NOISE * unit)
    if usable.sum() < _BIAS_FROM:
        return None
    sign = numpy.sign(want.want[usable])
    error = (got[usable] - want.want[usable]) * sign / unit[usable]
    own = (want.native[usable] - want.want[usable]) * sign / unit[usable]
    nearest = (numpy.rint(want.want[usable] / unit[usable]) - want.want[usable] / unit[usable]) * sign
    mean, mean_own, mean_nearest = float(error.mean()), float(own.mean()), float(nearest.mean())
    # Values that share a place between two numbers of the type, as those of a softmax of nearly equal ones, go to one side when rounded to nearest, too.
    if min(abs(mean), abs(mean - mean_nearest)) < _BIAS or abs(mean_own) > _BIAS / 2:
        return None
    count = int(usable.sum())
    return Difference("judge.rounding", f"errors of result {number} go to one side: {mean:+.2f} last digits of {want.dtype} in the mean of {count} elements, "
                      f"where the reference has {mean_own:+.2f}: values are not rounded to the nearest", number, expected=mean_own, got=mean,
                      wrong=count, elements=int(got.size))


def of_lower_precision(got: "Sequence[Any]", expected: "Sequence[Result]") -> "Optional[Difference]":
    """Results of float32 whose values all are values of a narrower type, where the right ones are not."""
    for number, (one, want) in enumerate(zip(got, expected)):
        if want.dtype != "float32" or not _values.is_array(one) or want.want.size < 16:
            continue
        values = _numbers.exact(one)
        if values.shape != want.want.shape:
            continue
        with numpy.errstate(all="ignore"):
            right = _numbers.digits_used(want.want.astype(numpy.float32).astype(numpy.float64))
        used = _numbers.digits_used(values) if numpy.unique(values).size >= 8 else 0
        if 0 < used <= 11 < right:
            kind = "bfloat16" if used <= 8 else "float16 or tf32"
            text = f"result {number} is of float32, and its values have no more than {used} binary digits, as those of {kind}"
            return Difference("judge.precision", text, number, expected=24, got=used, elements=int(values.size), wrong=int(values.size))
    return None


def changed_inputs(after: "Sequence[Any]", expected: "Expected", names: "Sequence[str]") -> "Optional[Difference]":
    """What arrays among the arguments hold afterwards, where the task changes them."""
    for number, (got, want) in enumerate(zip(after, expected.after)):
        if want is None:
            continue
        found = compare_one(number, got, want)
        if found is not None:
            found.text = found.text.replace(f"result {number}", f"`{names[number] if number < len(names) else number}` after the call", 1)
            return found
    return None
