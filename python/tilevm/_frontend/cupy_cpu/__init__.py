"""CuPy for a machine without a GPU: `import cupy` of a program that runs on the CPU gives this module. Its arrays are NumPy's.

    import cupy as cp
    x = cp.random.rand(1024, dtype=cp.float32)     # in this machine's memory
    ct.launch(cp.cuda.get_current_stream(), (8, 1, 1), kernel, (x,))
    x.get()                                        # a numpy.ndarray, a copy

    array.py     cupy.ndarray; what functions of NumPy give, as such arrays
    random.py    cupy.random: NumPy's generators, with CuPy's `dtype`
    cuda.py      cupy.cuda: one device, streams and events that are done when a call returns
    install.py   puts this module in the place of CuPy

A name that is not here is NumPy's of that name. Kernels in CUDA C++ (RawKernel and others) are an UnsupportedError. Random numbers are those of
NumPy, not those of a GPU. What CuPy refuses, such as an operation of an array with one of NumPy, is not refused.
"""
from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from ..._errors import UnsupportedError
from . import cuda, random
from .array import as_arrays, namespace, ndarray, wrapped

if TYPE_CHECKING:  # NumPy need not be installed where hints are checked
    numpy: Any
else:
    import numpy

__version__ = "14.2.0"  # of the CuPy whose names these are
_C_KERNELS = ("RawKernel", "RawModule", "ElementwiseKernel", "ReductionKernel", "fuse")


def array(object: Any, dtype: Any = None, copy: bool = True, order: str = "K", subok: bool = False, ndmin: int = 0, **unused: Any) -> ndarray:
    """A new array of what NumPy makes one of; with copy=False an array of CuPy is taken as it is, if `dtype` and `order` fit."""
    if not copy and isinstance(object, ndarray):
        taken: ndarray = as_arrays(numpy.asarray(object, dtype, order))
        return taken
    made: ndarray = as_arrays(numpy.array(object, dtype, copy=True, order=order, ndmin=ndmin))
    return made


def asarray(a: Any, dtype: Any = None, order: str = "K", **unused: Any) -> ndarray:
    """An array of CuPy as it is; a copy of any other, because a GPU has memory of its own."""
    return array(a, dtype, copy=not isinstance(a, ndarray), order=order)


asanyarray = asarray


def ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    """A row-major array of at least one dimension; see asarray."""
    return array(a, dtype, copy=not isinstance(a, ndarray), order="C", ndmin=1)


def asfortranarray(a: Any, dtype: Any = None) -> ndarray:
    """A column-major array; see asarray."""
    return array(a, dtype, copy=not isinstance(a, ndarray), order="F")


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> Any:
    """A copy as a numpy.ndarray, or in `out`; anything else than an array of CuPy as NumPy takes it."""
    if isinstance(a, ndarray):
        return a.get(stream, order, out)
    return numpy.asarray(a, order=order)


def get_array_module(*args: Any) -> types.ModuleType:
    """This module if one of the arguments is an array of CuPy, otherwise NumPy."""
    import sys

    found: types.ModuleType = sys.modules[__name__] if any(isinstance(a, ndarray) for a in args) else numpy
    return found


get_default_memory_pool, get_default_pinned_memory_pool = cuda.get_default_memory_pool, cuda.get_default_memory_pool


def is_available() -> bool:
    """Whether there is a device: this one."""
    return True


def from_dlpack(x: Any) -> ndarray:
    """An array over the memory of a tensor of torch, or of what has __dlpack__ for the CPU."""
    if hasattr(x, "data_ptr"):
        x = x.detach().numpy()
    made: ndarray = as_arrays(numpy.from_dlpack(x) if not isinstance(x, numpy.ndarray) else x)
    return made


fromDlpack = from_dlpack


def __getattr__(name: str) -> Any:
    if name in _C_KERNELS:
        raise UnsupportedError(f"error[cupy.kernel]: cupy.{name} compiles CUDA C++, which no CPU runs\n"
                               "  fix: write it as a tile kernel, or with functions of cupy")
    if name.startswith("__"):
        raise AttributeError(f"module 'cupy' has no attribute {name!r}")
    if name in ("linalg", "fft", "testing"):
        found: Any = namespace(f"cupy.{name}", getattr(numpy, name))
    else:
        try:
            found = getattr(numpy, name)
        except AttributeError:
            raise AttributeError(f"module 'cupy' has no attribute {name!r}: on a machine without a GPU it has what NumPy {numpy.__version__} has") from None
        found = wrapped(found)
    globals()[name] = found
    return found


__all__ = ["array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "asnumpy", "cuda", "from_dlpack", "fromDlpack",
           "get_array_module", "get_default_memory_pool", "get_default_pinned_memory_pool", "is_available", "ndarray", "random"]
