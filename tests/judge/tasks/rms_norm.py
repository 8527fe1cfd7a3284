"""The task of tests/seeded/kernels/rms_norm.py: RMS norm with a weight, in place of nothing; rows may be apart."""
import torch

INPUTS = {"x": "f32[m, n] rows", "w": "f32[n] contiguous"}


def expected(x, w):
    return x * torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-6) * w
