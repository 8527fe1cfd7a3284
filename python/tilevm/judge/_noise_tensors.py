"""Functions of tensors that compute in NumPy: their arrays err as _noise_numpy.py says.

    with as_arrays(generator):
        result = function(doubled(x))        # x.numpy() errs at each operation; torch.from_numpy(y) knows the type that y stands for
"""
from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Callable, Iterator

if TYPE_CHECKING:  # torch need not be installed where hints are checked
    torch: Any
else:
    import torch

from . import _noise, _noise_numpy
from ._numbers import FORMATS


@contextlib.contextmanager
def as_arrays(generator: Any) -> "Iterator[None]":
    """For one thread."""
    kept = {"numpy": torch.Tensor.numpy, "__array__": torch.Tensor.__array__}
    makers = {name: getattr(torch, name) for name in ("from_numpy", "as_tensor", "tensor")}

    def to_array(original: "Callable[..., Any]") -> "Callable[..., Any]":
        def make(tensor: Any, *more: Any, **named: Any) -> Any:
            kind = str(_noise.kind_of(tensor)).replace("torch.", "")
            array = original(tensor, *more, **named)
            return _noise_numpy.seen_as(array, kind, generator) if array.dtype == "float64" and kind in FORMATS else array

        return make

    def to_tensor(original: "Callable[..., Any]") -> "Callable[..., Any]":
        def make(data: Any, *more: Any, **named: Any) -> Any:
            made, kind = original(data, *more, **named), _noise_numpy.kind_of(data)
            if kind is not None:
                setattr(made, _noise._KIND, getattr(torch, kind))
            return made

        return make

    try:
        for name, method in kept.items():
            setattr(torch.Tensor, name, to_array(method))
        for name, function in makers.items():
            setattr(torch, name, to_tensor(function))
        yield
    finally:
        for name, method in kept.items():
            setattr(torch.Tensor, name, method)
        for name, function in makers.items():
            setattr(torch, name, function)
