"""The task of tests/judge/kernels/ct_causal_conv.py."""
import torch

INPUTS = {"x": "f32[c, t] contiguous", "w": "f32[c, 4] contiguous"}


def expected(x, w):
    padded = torch.nn.functional.pad(x, (3, 0))
    return sum(padded[:, k:k + x.shape[1]] * w[:, k, None] for k in range(4))
