"""The task of tests/judge/kernels/s_row_sum.py."""
import torch  # noqa: F401  # its tensors are given

INPUTS = {"x": "f16[m, n] contiguous"}


def expected(x):
    return x.float().sum(1)
