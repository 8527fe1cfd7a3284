"""cupy.ndarray: an array of NumPy with CuPy's methods. Functions give arrays, also of no dimension, where NumPy gives numbers."""
from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any, Callable

from ... import _tilevm
from . import cuda

if TYPE_CHECKING:  # NumPy need not be installed where hints are checked
    numpy: Any
else:
    import numpy


class ndarray(numpy.ndarray):  # type: ignore[misc]
    """Memory of this machine that says that it is a GPU's. numpy.ndarray's methods; `get`, `set`, `device` and `data` are CuPy's."""

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> "ndarray":
        made: ndarray = numpy.asarray(array).view(ndarray)
        return made

    def __getitem__(self, index: Any) -> Any:
        return as_arrays(super().__getitem__(index))

    def __repr__(self) -> str:
        return repr(self.view(numpy.ndarray))

    def __str__(self) -> str:
        return str(self.view(numpy.ndarray))

    def __format__(self, how: str) -> str:
        return format(self.view(numpy.ndarray)[()], how)

    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> Any:
        """A copy as a numpy.ndarray, or in `out`."""
        if out is not None:
            out[...] = self
            return out
        return numpy.array(self, order=order if order in ("C", "F") else "K", subok=False)

    def set(self, arr: Any, stream: Any = None) -> None:
        """Copies an array of NumPy of the same shape and type into this one."""
        if not isinstance(arr, numpy.ndarray) or arr.dtype != self.dtype or arr.shape != self.shape:
            raise TypeError(f"set() takes a numpy.ndarray of {self.dtype} {self.shape}")
        self[...] = arr

    @property
    def device(self) -> "cuda.Device":
        return cuda.Device(0)

    @property
    def data(self) -> "cuda.MemoryPointer":
        return cuda.MemoryPointer(self.ctypes.data, self.nbytes)

    @property
    def __cuda_array_interface__(self) -> "dict[str, Any]":
        return {**self.__array_interface__, "version": 3, "stream": None}

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> Any:
        return _tilevm.as_cuda_dlpack(numpy.ndarray.__dlpack__, self)

    def __dlpack_device__(self) -> "tuple[int, int]":
        return 2, 0  # kDLCUDA

    @property
    def _tilevm_host(self) -> Any:
        """The same memory as torch may take it."""
        return self.view(numpy.ndarray)

    def toDlpack(self) -> Any:
        """A DLPack capsule of the memory, as that of a GPU."""
        return self.__dlpack__()


def _numbers_as_arrays(name: str) -> "Callable[..., Any]":
    method = getattr(numpy.ndarray, name)

    @functools.wraps(method)
    def call(self: ndarray, *args: Any, **named: Any) -> Any:
        return as_arrays(method(self, *args, **named))

    return call


for _name in ("all", "any", "argmax", "argmin", "dot", "max", "mean", "min", "prod", "std", "sum", "take", "trace", "var"):
    setattr(ndarray, _name, _numbers_as_arrays(_name))


def as_arrays(made: Any) -> Any:
    """What a function of NumPy gave, with arrays and numbers as arrays of CuPy, also within tuples and lists."""
    if isinstance(made, ndarray):
        return made
    if isinstance(made, (numpy.ndarray, numpy.generic)):
        return numpy.asarray(made).view(ndarray)
    if isinstance(made, tuple) and hasattr(made, "_fields"):
        return type(made)(*map(as_arrays, made))
    if isinstance(made, (tuple, list)):
        return type(made)(map(as_arrays, made))
    return made


_WITHOUT_ARRAYS = ("dtype", "finfo", "iinfo", "result_type", "promote_types", "can_cast", "min_scalar_type", "broadcast_shapes", "ndim", "shape", "size",
                   "isscalar", "issubdtype", "set_printoptions", "errstate", "typename")


def wrapped(found: Any) -> Any:
    """A name of NumPy: functions give arrays of CuPy; types, constants and questions about them are as they are."""
    name = getattr(found, "__name__", "")
    if isinstance(found, (type, types.ModuleType)) or not callable(found) or name in _WITHOUT_ARRAYS:
        return found

    @functools.wraps(found, updated=())
    def call(*args: Any, **named: Any) -> Any:
        named.pop("stream", None)
        return as_arrays(found(*args, **named))

    return call


def namespace(name: str, of: types.ModuleType) -> types.ModuleType:
    """A module whose functions are those of one of NumPy, with arrays of CuPy."""
    made = types.ModuleType(name, of.__doc__)
    for key in dir(of):
        if not key.startswith("_"):
            setattr(made, key, wrapped(getattr(of, key)))
    return made
