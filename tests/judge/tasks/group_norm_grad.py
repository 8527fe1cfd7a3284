import torch

INPUTS = {"dy": "f32[n, p, c]", "x": "f32[n, p, c]", "weight": "f32[c] contiguous", "groups": "int = 2", "eps": "float = 1e-5"}
SIZES = "c % 2 == 0"


def reference(dy, x, weight, groups: int, eps: float):
    n, p, c = x.shape
    each = c // groups
    xs = x.reshape(n, p, groups, each)
    mean = xs.mean((1, 3), keepdim=True)
    var = ((xs - mean) ** 2).mean((1, 3), keepdim=True)
    rstd = 1 / torch.sqrt(var + eps)
    hat = (xs - mean) * rstd
    g = (dy * weight).reshape(n, p, groups, each)
    dx = rstd * (g - g.mean((1, 3), keepdim=True) - hat * (g * hat).mean((1, 3), keepdim=True))
    return dx.reshape(n, p, c)
