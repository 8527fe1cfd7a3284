"""The task of tests/judge/kernels/ct_clamp_rows.py."""
import torch

INPUTS = {"x": "f32[m, n]", "limit": "f32[m] positive"}


def clamp_rows(x, limit):
    return torch.minimum(x, limit[:, None]).clamp(min=0)
