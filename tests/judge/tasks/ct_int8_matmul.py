"""The task of tests/judge/kernels/ct_int8_matmul.py."""
import torch  # noqa: F401  # its tensors are given

INPUTS = {"x": "f16[m, 32*g] contiguous", "w": "i8[32*g, n] contiguous", "scales": "f32[g, n] contiguous"}


def expected(x, w, scales):
    return x.to(scales.dtype) @ (w.to(scales.dtype) * scales.repeat_interleave(32, 0))
