import torch

INPUTS = {"x": "f32[m, n]", "reset": "bool[m, n]"}


def reference(x, reset):
    out = torch.empty_like(x)
    run = torch.ones(x.shape[0], dtype=x.dtype)
    for i in range(x.shape[1]):
        run = torch.where(reset[:, i], x[:, i], run * x[:, i])
        out[:, i] = run
    return out
