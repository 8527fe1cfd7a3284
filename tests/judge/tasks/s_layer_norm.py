"""The task of tests/judge/kernels/s_layer_norm.py."""
import torch

INPUTS = {"x": "f32[m, n] contiguous", "w": "f32[n] contiguous"}


def expected(x, w):
    return torch.nn.functional.layer_norm(x, (x.shape[1],), w)
