"""The task of tests/seeded/kernels/rope.py: Rotary positions, in place: halves of each head are turned by an angle for each position."""
import torch

INPUTS = {"x": "f32[h, t, 2*d] contiguous", "cos": "f32[t, d] contiguous", "sin": "f32[t, d] contiguous"}


def expected(x, cos, sin):
    a, b = x.chunk(2, 2)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], 2)
