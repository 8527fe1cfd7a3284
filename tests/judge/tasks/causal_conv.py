"""The task of tests/judge/kernels/causal_conv.py."""
import torch

INPUTS = {"x": "f32[n, c, t] contiguous", "w": "f32[c, 4] contiguous", "bias": "f32[c] contiguous"}


def expected(x, w, bias):
    padded = torch.nn.functional.pad(x, (3, 0))
    y = sum(padded[:, :, k:k + x.shape[2]] * w[:, k, None] for k in range(4)) + bias[:, None]
    return torch.nn.functional.silu(y)
