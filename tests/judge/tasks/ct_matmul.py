"""The task of tests/seeded/kernels/ct_matmul.py: cuTile: c = a b, 16-bit, ragged edges."""
import torch  # noqa: F401  # its tensors are given

INPUTS = {"a": "f16[m, k]", "b": "f16[k, n]"}


def expected(a, b):
    return a @ b
