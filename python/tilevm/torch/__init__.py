"""Kernels as operators of PyTorch: torch.compile, torch.export and autograd take them.

    import tilevm, tilevm.torch

    module = tilevm.load("layer_norm.tile")
    layer_norm = tilevm.torch.op("mylib::layer_norm", module, "layer_norm",
                                 backward=["layer_norm_backward_x", "layer_norm_backward_weight"])
    y, mean, rstd = layer_norm(x, weight, bias)

What torch has to know follows from the kernel's interface: the operator's arguments, which of them it changes, dtypes and, by the
launch rule, shapes of results. On the CPU kernels run on the VM, on a GPU on the stream that torch uses, without waiting.
"""
from __future__ import annotations

from .._formula import Gradient
from ._op import op

__all__ = ["Gradient", "op"]
