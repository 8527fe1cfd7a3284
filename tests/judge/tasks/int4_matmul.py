"""The task of tests/judge/kernels/int4_matmul.py."""
import torch

INPUTS = {"x": "f16[m, 32*g] contiguous", "w": "u8[16*g, n] contiguous", "scales": "f32[g, n] contiguous"}


def expected(x, w, scales):
    nibbles = torch.stack([w & 15, w >> 4], 1).flatten(0, 1).to(scales.dtype) - 8
    return x.to(scales.dtype) @ (nibbles * scales.repeat_interleave(32, 0))
