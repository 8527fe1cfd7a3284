"""The task of tests/judge/kernels/scale_bf16.py."""
import torch

INPUTS = {"x": "bf16[n] contiguous", "y": "bf16[n] contiguous", "a": "float in -2..2"}


def expected(x, y, a):
    return (a * x.float() + y.float()).to(torch.bfloat16)
