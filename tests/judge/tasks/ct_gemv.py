import torch

INPUTS = {"a": "f16[m, k]", "x": "f16[k]", "b": "f16[m]"}


def reference(a, x, b):
    return torch.relu(a.float() @ x.float() + b.float()).to(a.dtype)
