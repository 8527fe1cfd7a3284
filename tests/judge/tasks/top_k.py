"""The task of tests/judge/kernels/top_k.py."""
import torch

INPUTS = {"x": "f32[m, n] contiguous"}
SIZES = "n >= 4, n <= 128"


def expected(x):
    values, places = torch.sort(x, dim=1, descending=True, stable=True)
    return values[:, :4], places[:, :4].to(torch.int32)
