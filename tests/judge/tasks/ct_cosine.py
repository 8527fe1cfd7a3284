import torch

INPUTS = {"x": "f32[m, n]", "y": "f32[m, n]", "eps": "float = 1e-3"}


def reference(x, y, eps: float):
    nx, ny = torch.sqrt((x * x).sum(1)), torch.sqrt((y * y).sum(1))
    return (x * y).sum(1) / (nx.clamp(min=eps) * ny.clamp(min=eps))
