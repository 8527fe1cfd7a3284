import torch

INPUTS = {"x": "i32[m, n]"}


def reference(x):
    values, places = torch.sort(x, dim=1, stable=True)
    return values, places.to(torch.int32)
