import torch

INPUTS = {"w": "f32[m, n]", "u": "f32[m] contiguous"}
SIZES = "m >= 2, n >= 2"


def reference(w, u):
    v = w.T @ u
    v = v / (torch.sqrt((v * v).sum()) + 1e-6)
    t = w @ v
    sigma = torch.sqrt((t * t).sum()) + 1e-6
    return t / sigma, sigma
