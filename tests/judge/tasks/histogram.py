"""The task of tests/seeded/kernels/histogram.py: Counts of values below `bins`; values beyond count in the last bin."""
import torch

INPUTS = {"x": "i32[n] in 0..2*b contiguous", "bins": "int = b"}


def expected(x, bins):
    return torch.bincount(x.clamp(max=bins - 1).long(), minlength=bins)
