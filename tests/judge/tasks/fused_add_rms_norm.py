import torch

INPUTS = {"x": "bf16[m, n] rows inout", "residual": "bf16[m, n] rows inout", "weight": "bf16[n] contiguous", "eps": "float in 1e-6..1e-3"}


def fused_add_rms_norm(x, residual, weight, eps):
    residual.copy_(residual + x)
    h = residual.float()
    x.copy_(h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps) * weight.float())
