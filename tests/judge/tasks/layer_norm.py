"""The task of tests/seeded/kernels/layer_norm.py: Layer norm of rows with weight and bias; mean and 1/deviation are returned, too."""
import torch

INPUTS = {"x": "f32[m, n] contiguous", "w": "f32[n] contiguous", "b": "f32[n] contiguous"}


def expected(x, w, b):
    mean = x.mean(1)
    rstd = 1 / torch.sqrt(x.var(1, correction=0) + 1e-5)
    return (x - mean[:, None]) * rstd[:, None] * w + b, mean, rstd
