"""Numbers of any element type as NumPy's float64 or int64, and how far apart the numbers of a type are.

    exact(tensor)                 # float64 of every float, int64 (or uint64) of every integer: nothing is rounded
    ulp(values, "float16")        # the distance to the next number of the type
"""
from __future__ import annotations

import dataclasses


from . import _values
from ._np import numpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclasses.dataclass(frozen=True)
class Format:
    """A floating-point type: `digits` of the significand with the hidden one, least exponent of a normal number, largest number."""

    digits: int
    least: int
    largest: float

    @property
    def unit(self) -> float:
        """Half the distance between 1 and the next number: the largest relative error of rounding to nearest."""
        return 2.0 ** -self.digits


FORMATS = {"float64": Format(53, -1022, float(numpy.finfo("float64").max)), "float32": Format(24, -126, float(numpy.finfo("float32").max)),
           "float16": Format(11, -14, 65504.0), "bfloat16": Format(8, -126, 3.3895313892515355e38), "float8_e4m3fn": Format(4, -6, 448.0),
           "float8_e5m2": Format(3, -14, 57344.0)}


def dtype_of(array: "Any") -> str:
    return str(array.dtype).replace("torch.", "")


def exact(array: "Any") -> "Any":
    """A NumPy array of the same values and shape."""
    if _values.is_tensor(array):
        import torch

        with torch._C.DisableTorchFunction(), torch.no_grad():
            array = array.detach()
            wide = array.double() if array.is_floating_point() else array
            array = wide.resolve_conj().resolve_neg().numpy() if hasattr(wide, "resolve_neg") else wide.numpy()
    found = numpy.asarray(array)  # a subclass as its base
    if found.dtype.kind == "f":
        with numpy.errstate(invalid="ignore"):  # signalling NaN
            return found.astype(numpy.float64)
    return found


def ulp(values: "Any", dtype: str) -> "Any":
    """Of each value (float64), in this type; that of the smallest normal number below it, and for 0."""
    form = FORMATS[dtype]
    with numpy.errstate(all="ignore"):
        exponents = numpy.frexp(numpy.where(numpy.isfinite(values), values, 1.0))[1] - 1
    exponents = numpy.where(values == 0, form.least, exponents)  # frexp gives 0 the exponent of 1/2
    return numpy.ldexp(1.0, numpy.maximum(exponents, form.least) - (form.digits - 1))


def digits_used(values: "Any") -> int:
    """The most digits of a significand that a finite value other than 0 has; 0 if there is none."""
    kept = values[numpy.isfinite(values) & (values != 0)]
    if kept.size == 0:
        return 0
    whole = numpy.abs(numpy.ldexp(numpy.frexp(kept)[0], 53)).astype(numpy.int64)
    lowest = whole & -whole
    return int(53 - numpy.log2(lowest.astype(numpy.float64)).min())
