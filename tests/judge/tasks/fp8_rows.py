import torch

INPUTS = {"x": "f32[m, n] rows"}


def reference(x):
    highest = x.abs().amax(1)
    scale = torch.where(highest == 0, 1.0, highest / 448.0)
    return (x / scale[:, None]).clamp(-448, 448).to(torch.float8_e4m3fn).to(torch.float32), scale
