"""The task of tests/seeded/kernels/conv1d.py: Causal depthwise convolution: o[c, t] = sum of w[c, k] x[c, t - K + 1 + k]."""
import torch

INPUTS = {"x": "f32[c, t] contiguous", "w": "f32[c, k] contiguous"}
SIZES = "k <= 8"


def expected(x, w):
    K = w.shape[1]
    return torch.nn.functional.conv1d(torch.nn.functional.pad(x, (K - 1, 0))[None], w[:, None], groups=x.shape[0])[0]
