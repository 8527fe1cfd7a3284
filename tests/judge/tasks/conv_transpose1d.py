import torch

INPUTS = {"x": "f32[n, c, l] contiguous", "w": "f32[c, o, k] contiguous", "b": "f32[o] contiguous", "stride": "int in 1..3", "padding": "int in 0..1"}
SIZES = "k <= 5, k >= 2, l >= 2"


def conv_transpose1d(x, w, b, stride, padding):
    return torch.nn.functional.conv_transpose1d(x, w, b, stride=stride, padding=padding)
