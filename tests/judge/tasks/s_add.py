"""The task of tests/judge/kernels/s_add.py."""
import torch  # noqa: F401  # its tensors are given

INPUTS = {"a": "f32[n] contiguous inf nan", "b": "f32[n] contiguous inf nan"}


def expected(a, b):
    return a + 2.0 * b
