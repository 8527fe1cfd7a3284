import torch

INPUTS = {"x": "f32[m, n]"}


def reference(x):
    return (torch.cummax(x, 1).values - x).amax(1)
