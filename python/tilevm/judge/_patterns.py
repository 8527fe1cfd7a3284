"""Values of arrays: each pattern shows a kind of mistake.

    normal        whatever is wrong for most values
    negative      a maximum that begins with 0, padding with 0
    ties          few different values: which of equals is taken
    zeros         rows of 0 and of one value: division by a variance of 0, padding
    offset        far from 0: variances by squares, sums that cancel
    below         far below 0, all of them: exp without the maximum, or with one that began with 0, loses every term
    large, tiny   overflow of 16 bits and of exp; what is lost below the normal numbers
    extreme       the largest numbers of the type
    hot           one large element in each row, at its end
    spread        elements of many magnitudes: a small constant that is added in another place
    signs         zeros of both signs
    inf, ninf, nan   where the task has such values
    at:37.5       around numbers that the answer compares with: there, one last digit beside it, somewhat away, twice as far
    low, high, equal, rising, falling   for integers: the bounds of indices, one index often, orders
"""
from __future__ import annotations


from ._np import numpy
from ._numbers import FORMATS, ulp
from ._schema import ArrayInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Mapping, Tuple

    from ._schema import Schema

    Numbers = Any

_FLOATS = ("negative", "zeros", "offset", "ties", "large", "hot", "below", "spread", "tiny", "signs", "extreme")
_INTEGERS = ("low", "high", "equal", "rising", "falling")


def wanted(schema: "Schema") -> "List[str]":
    """Patterns that make a difference for these inputs."""
    arrays = [item for item in schema.inputs if isinstance(item, ArrayInput)]
    found: "List[str]" = []
    if any(a.is_float for a in arrays):
        found += [name for name in _FLOATS if name not in ("negative", "below") or not all("positive" in a.words for a in arrays if a.is_float)]
        found += [name for name, word in (("ninf", "inf"), ("inf", "inf"), ("nan", "nan")) if any(word in a.words for a in arrays)]
    if any(not a.is_float and a.dtype != "bool" for a in arrays):
        found[2:2] = [name for name in _INTEGERS[:3]]
        found += _INTEGERS[3:]
    if any(a.dtype == "bool" for a in arrays):
        found += [name for name in ("low", "high") if name not in found]
    return found


def fill(item: ArrayInput, sizes: "Mapping[str, int]", pattern: str, shape: "Tuple[int, ...]", generator: "Any") -> "Numbers":
    """As float64, or integers."""
    if item.dtype == "bool":
        if pattern in ("low", "high"):
            return numpy.full(shape, pattern == "high")
        return generator.random(shape) < 0.5
    if not item.is_float:
        return _integers(item, sizes, pattern, shape, generator)
    values = _FILLS.get(pattern, _normal)(item, shape, generator)
    if item.low is not None and item.high is not None:
        low, high = item.low.number(sizes), item.high.number(sizes)
        values = low + (high - low) * generator.random(shape)
        if pattern.startswith("at:"):
            values = numpy.clip(_around(pattern, item.dtype, values, generator), low, high)
    elif pattern.startswith("at:"):
        values = _around(pattern, item.dtype, values, generator)
    if "positive" in item.words:
        values = numpy.where(values == 0, 1.0, numpy.abs(values))
    return values


def _integers(item: ArrayInput, sizes: "Mapping[str, int]", pattern: str, shape: "Tuple[int, ...]", generator: "Any") -> "Numbers":
    info = numpy.iinfo(item.dtype)
    low, high = max(info.min, -1000), min(info.max, 1000)
    if item.low is not None and item.high is not None:
        low, high = item.low.at(sizes), item.high.at(sizes)
    count = int(numpy.prod(shape, dtype=numpy.int64))
    high = max(low, high)
    if "distinct" in item.words and high - low + 1 >= count:
        values = low + generator.permutation(high - low + 1)[:count]
        for place, bound in ((0, high), (-1, low)):  # both bounds come, once
            if count > 2 and bound not in values:
                values[place] = bound
    elif pattern in ("low", "high"):
        values = numpy.full(count, low if pattern == "low" else high)
        if pattern == "high" and "sorted" in item.words and count > 1:
            values[0] = low  # of offsets: the first part has everything
    elif pattern == "equal":
        values = numpy.full(count, int(generator.integers(low, high + 1)))
    else:
        values = generator.integers(low, high + 1, count)
    if pattern == "normal" and "distinct" not in item.words and (count > 2 or count == 2 and "sorted" in item.words):
        values[0], values[-1] = high, low  # both bounds come
    near = [int(number) + more for number in numbers_of(pattern) for more in (0, 1, -1) if low <= int(number) + more <= high]
    if near and "distinct" not in item.words:
        values = numpy.where(generator.random(count) < 0.25, numpy.asarray(near)[generator.integers(len(near), size=count)], values)
    if pattern == "rising" or "sorted" in item.words:
        values = numpy.sort(values)
    elif pattern == "falling":
        values = numpy.sort(values)[::-1].copy()
    if item.other is not None:
        values = numpy.where(generator.random(count) < 0.25, item.other, values)
    return values.reshape(shape)


def _around(pattern: str, dtype: str, values: "Numbers", generator: "Any") -> "Numbers":
    """A quarter of the values, and every third row as a whole, are near the numbers in the pattern's name."""
    most = min(FORMATS[dtype].largest ** 0.5, 1e30) * (4 if dtype == "float16" else 1)
    near = []
    for number in numbers_of(pattern):
        last = float(ulp(numpy.float64(number), dtype))
        near += [number, number, number, number + last, number - last, number * 1.125, number * 0.875, number + 1, number - 1, 2 * number, -number]
    choices = numpy.clip(near, -most, most)
    values = numpy.where(generator.random(values.shape) < 0.25, choices[generator.integers(len(choices), size=values.shape)], values)
    if values.ndim and values.size:
        rows = values.reshape(-1, values.shape[-1])
        chosen = rows[int(generator.integers(3))::3]
        chosen[:] = choices[generator.integers(len(choices), size=(len(chosen), 1))]
        values = rows.reshape(values.shape)
    return values


def numbers_of(pattern: str) -> "List[float]":
    """Of values that are around numbers; none of other patterns."""
    return [float(number) for number in pattern[3:].split(",")] if pattern.startswith("at:") else []


def _normal(item: ArrayInput, shape: "Tuple[int, ...]", generator: "Any") -> "Numbers":
    made: "Numbers" = generator.standard_normal(shape)
    return made


def _negative(item: ArrayInput, shape: "Tuple[int, ...]", generator: "Any") -> "Numbers":
    return -1.0 - numpy.abs(_normal(item, shape, generator)) * 3


def _ties(item: ArrayInput, shape: "Tuple[int, ...]", generator: "Any") -> "Numbers":
    made: "Numbers" = generator.integers(-1, 2, shape).astype(numpy.float64)
    return made


def _zeros(item: ArrayInput, shape: "Tuple[int, ...]", generator: "Any") -> "Numbers":
    """Every other row is 0, or holds one value."""
    values = _normal(item, shape, generator)
    if values.ndim == 0:
        return values * 0
    rows = values.reshape(-1, shape[-1]) if values.size else values.reshape(0, 1)
    rows[0::2] = 0.0
    rows[1::4] = 1.0
    return values


def _offset(item: ArrayInput, shape: "Tuple[int, ...]", generator: "Any") -> "Numbers":
    return _normal(item, shape, generator) + {"float16": 30.0, "bfloat16": 8.0}.get(item.dtype, 1000.0)


def _below(item: ArrayInput, shape: "Tuple[int, ...]", generator: "Any") -> "Numbers":
    return -150.0 - numpy.abs(_normal(item, shape, generator)) * 10


def _large(item: ArrayInput, shape: "Tuple[int, ...]", generator: "Any") -> "Numbers":
    return _normal(item, shape, generator) * {"float16": 30.0, "float8_e4m3fn": 8.0, "float8_e5m2": 8.0}.get(item.dtype, 100.0)


def _hot(item: ArrayInput, shape: "Tuple[int, ...]", generator: "Any") -> "Numbers":
    values = _normal(item, shape, generator) * 0.1
    if values.size and values.ndim:
        values[..., -1] = 20.0
    return values


def _spread(item: ArrayInput, shape: "Tuple[int, ...]", generator: "Any") -> "Numbers":
    return _normal(item, shape, generator) * 2.0 ** generator.uniform(max(-24, FORMATS[item.dtype].least), 2, shape)


def _tiny(item: ArrayInput, shape: "Tuple[int, ...]", generator: "Any") -> "Numbers":
    """Of float32 and bfloat16 normal numbers alone: a GPU's own functions take smaller ones for 0, so that floor(-1e-39) may be 0 there."""
    values, least = _normal(item, shape, generator), FORMATS[item.dtype].least
    return numpy.sign(values) * (1 + numpy.abs(values)) * 2.0 ** (least + 1) if least == -126 else values * 2.0 ** (least + 1)


def _signs(item: ArrayInput, shape: "Tuple[int, ...]", generator: "Any") -> "Numbers":
    return numpy.where(generator.random(shape) < 0.5, 0.0, -0.0)


def _extreme(item: ArrayInput, shape: "Tuple[int, ...]", generator: "Any") -> "Numbers":
    values = _normal(item, shape, generator)
    return numpy.where(generator.random(shape) < 0.3, numpy.sign(values) * FORMATS[item.dtype].largest, values)


def _with(special: float, whole_rows: bool) -> "Callable[..., Numbers]":
    def make(item: ArrayInput, shape: "Tuple[int, ...]", generator: "Any") -> "Numbers":
        values = _normal(item, shape, generator)
        word = "nan" if special != special else "inf"
        if word in item.words and values.size:
            values[generator.random(shape) < 0.25] = special
            if whole_rows and values.ndim >= 1:
                values.reshape(-1, shape[-1])[0] = special
        return values

    return make


_FILLS: "Dict[str, Callable[..., Numbers]]" = {
    "negative": _negative, "ties": _ties, "zeros": _zeros, "offset": _offset, "below": _below, "large": _large, "hot": _hot, "spread": _spread, "tiny": _tiny,
    "signs": _signs, "extreme": _extreme, "inf": _with(float("inf"), False), "ninf": _with(float("-inf"), False), "nan": _with(float("nan"), False),
}


def gap(item: ArrayInput, shape: "Tuple[int, ...]") -> "Numbers":
    """What stands between the elements of an array: values whose use is seen."""
    if item.is_float:
        return numpy.full(shape, numpy.nan)
    return numpy.ones(shape, bool) if item.dtype == "bool" else numpy.full(shape, numpy.iinfo(item.dtype).max // 2)


def as_array(item: ArrayInput, values: "Numbers") -> "Any":
    """Of the library and type of the input; floats are rounded to nearest."""
    if item.library == "numpy":
        with numpy.errstate(all="ignore"):
            return values.astype(item.dtype)
    import torch

    made = torch.from_numpy(numpy.ascontiguousarray(values)).reshape(values.shape)
    return made.to(getattr(torch, item.dtype))
