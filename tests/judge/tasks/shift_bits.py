"""The task of tests/judge/kernels/shift_bits.py."""
import torch

INPUTS = {"x": "i32[n] in -1000000..1000000 contiguous", "s": "int in 0..9"}


def expected(x, s):
    return torch.where(x < 0, x, (x >> s) & 255)
