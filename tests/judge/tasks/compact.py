import torch

INPUTS = {"x": "f32[n]"}


def reference(x):
    keep = x > 0
    place = torch.cumsum(keep.to(torch.int64), 0) - 1
    out = torch.zeros_like(x)
    out[place[keep]] = x[keep]
    return out, keep.sum().to(torch.int32)
