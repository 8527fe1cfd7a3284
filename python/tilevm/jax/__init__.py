"""Kernels in programs of JAX: jit, vmap, grad and export take them, and no Python runs when the program does.

    import jax.numpy as jnp, tilevm, tilevm.jax

    softmax = tilevm.jax.function(tilevm.load("softmax.tile"))
    y = jax.jit(softmax)(jnp.ones((3, 1000)))
    y = tilevm.jax.call(tilevm.load("softmax.tile"), jnp.ones((3, 1000)))       # the same in one line

Shapes of results follow from the launch rule of the kernel. The program carries the kernel (its .tbc); a handler of XLA's foreign function
interface launches it, on the CPU by the VM, on a GPU by the machine code of the module.

    _call.py      what a call becomes: operands, shapes, gradients
    _handler.py   the library that XLA calls, registered
"""
from __future__ import annotations

from .._formula import Gradient
from ._call import call, function

__all__ = ["Gradient", "call", "function"]
