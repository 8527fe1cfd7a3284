"""The task of tests/judge/kernels/layer_norm_grad.py."""
import torch

INPUTS = {"x": "f32[m, n] contiguous", "w": "f32[n] contiguous", "g": "f32[m, n] contiguous"}
SIZES = "n <= 128"


def expected(x, w, g):
    d = x - x.mean(1, keepdim=True)
    rstd = torch.rsqrt((d * d).mean(1, keepdim=True) + 1e-5)
    hat, wg = d * rstd, w * g
    dx = (wg - hat * (hat * wg).mean(1, keepdim=True) - wg.mean(1, keepdim=True)) * rstd
    return dx, (g * hat).sum(0), g.sum(0)
