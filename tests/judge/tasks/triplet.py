import torch

INPUTS = {"a": "f32[m, d] contiguous", "p": "f32[m, d] contiguous", "n": "f32[m, d] contiguous"}


def reference(a, p, n):
    return torch.nn.functional.triplet_margin_loss(a, p, n)
