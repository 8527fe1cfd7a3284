import torch

INPUTS = {"dy": "f32[m, n]", "x": "f32[m, n]", "w": "f32[n]", "eps": "float in 1e-6..1e-2"}


def rms_norm_grad(dy, x, w, eps):
    r = torch.rsqrt((x * x).mean(1, keepdim=True) + eps)
    hat = x * r
    wg = dy * w
    return (wg - hat * (wg * hat).mean(1, keepdim=True)) * r, (dy * hat).sum(0)
