import torch

INPUTS = {"x": "f32[c, h, w]", "oh": "int = 2 * h + 1", "ow": "int = w + 3"}


def reference(x, oh: int, ow: int):
    return torch.nn.functional.interpolate(x[None], size=(oh, ow), mode="bilinear", align_corners=False)[0]
