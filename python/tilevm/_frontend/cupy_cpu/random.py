"""cupy.random: NumPy's generators, and CuPy's `dtype` where NumPy has none.

    cupy.random.seed(0)
    x = cupy.random.uniform(-1, 1, (64, 64), dtype=cupy.float32)
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .array import as_arrays, wrapped

if TYPE_CHECKING:  # NumPy need not be installed where hints are checked
    numpy: Any
else:
    import numpy

_WITH_DTYPE = ("rand", "randn", "random", "random_sample", "ranf", "sample", "standard_normal", "uniform", "normal", "standard_cauchy",
               "standard_exponential", "standard_gamma", "exponential", "gumbel", "laplace", "lognormal")


class Generator:
    """cupy.random.Generator, of numpy.random.default_rng."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def __getattr__(self, name: str) -> Any:
        return wrapped(getattr(self._generator, name))


def default_rng(seed: Any = None) -> Generator:
    """A generator of its own; the same numbers for the same seed."""
    return Generator(numpy.random.default_rng(seed))


def _with_dtype(name: str) -> Any:
    function = getattr(numpy.random, name)

    def call(*args: Any, **named: Any) -> Any:
        dtype = named.pop("dtype", None)
        made = as_arrays(function(*args, **named))
        made = made if hasattr(made, "dtype") else as_arrays(numpy.float64(made))
        return made if dtype is None else made.astype(dtype)

    call.__name__ = name
    return call


def __getattr__(name: str) -> Any:
    if name.startswith("__") or not hasattr(numpy.random, name):
        raise AttributeError(f"module 'cupy.random' has no attribute {name!r}: on a machine without a GPU it has what numpy.random has")
    found = _with_dtype(name) if name in _WITH_DTYPE else wrapped(getattr(numpy.random, name))
    globals()[name] = found
    return found
