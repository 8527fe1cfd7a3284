import torch

INPUTS = {"a": "f32[m, 4] positive", "b": "f32[n, 4] positive"}


def reference(a, b):
    a, b = a[:, None], b[None, :]
    low = torch.maximum(a[..., :2], b[..., :2])
    high = torch.minimum(a[..., :2] + a[..., 2:], b[..., :2] + b[..., 2:])
    both = (high - low).clamp(min=0).prod(-1)
    return both / (a[..., 2] * a[..., 3] + b[..., 2] * b[..., 3] - both + 1)
