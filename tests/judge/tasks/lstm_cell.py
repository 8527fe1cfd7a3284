import torch

INPUTS = {"a": "f32[m, 4*n] rows", "b": "f32[m, 4*n] rows", "c": "f32[m, n] rows"}


def reference(a, b, c):
    i, f, g, o = (a + b).chunk(4, 1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
