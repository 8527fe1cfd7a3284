"""The task of tests/seeded/kernels/add.py: z = x + y, a block for each 128 elements."""
import torch  # noqa: F401  # its tensors are given

INPUTS = {"x": "f32[n] contiguous inf nan", "y": "f32[n] contiguous inf nan"}


def expected(x, y):
    return x + y
