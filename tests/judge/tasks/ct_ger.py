import torch

INPUTS = {"a": "f32[m, n] inout", "x": "f32[m]", "y": "f32[n]", "alpha": "float = 0.7"}


def reference(a, x, y, alpha: float):
    a.add_(alpha * torch.outer(x, y))
