import torch

INPUTS = {"x": "f32[n, h, w] contiguous"}


def reference(x):
    return torch.nn.functional.max_pool2d(x, 3, 2, 1, return_indices=True)
