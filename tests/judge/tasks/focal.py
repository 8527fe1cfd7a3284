import torch

INPUTS = {"x": "f32[m, n] rows", "target": "i32[m, n] in 0..1 rows", "alpha": "float = 0.3"}


def reference(x, target, alpha: float):
    t = target.to(x.dtype)
    p = torch.sigmoid(x)
    ce = torch.nn.functional.softplus(x) - x * t
    pt = p * t + (1 - p) * (1 - t)
    return ((alpha * t + (1 - alpha) * (1 - t)) * (1 - pt) ** 2 * ce).sum(1)
