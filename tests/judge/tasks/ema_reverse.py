import torch

INPUTS = {"x": "f32[m, n] contiguous", "done": "i32[m, n] in 0..1 contiguous", "gamma": "float in 0..1"}
SIZES = "n <= 80"


def reference(x, done, gamma: float):
    r, found = torch.zeros_like(x[:, 0]), []
    for i in range(x.shape[1] - 1, -1, -1):
        r = x[:, i] + torch.where(done[:, i] != 0, 0.0, gamma * r)
        found.append(r)
    return torch.stack(found[::-1], 1)
