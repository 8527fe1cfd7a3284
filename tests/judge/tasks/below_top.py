"""The task of tests/judge/kernels/below_top.py."""
import torch  # noqa: F401  # its tensors are given

INPUTS = {"x": "f32[m, n] contiguous", "w": "f32[n] contiguous"}


def expected(x, w):
    return (x - x.amax(1, keepdim=True)) * w
