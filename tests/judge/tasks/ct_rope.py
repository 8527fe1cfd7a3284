"""The task of tests/judge/kernels/ct_rope.py."""
import torch

INPUTS = {"x": "f32[t, h, 64] contiguous", "cos": "f32[t, 32] contiguous", "sin": "f32[t, 32] contiguous"}


def expected(x, cos, sin):
    a, b = x.chunk(2, 2)
    c, s = cos[:, None], sin[:, None]
    return torch.cat([a * c - b * s, b * c + a * s], 2)
