import torch

INPUTS = {"q": "f16[h, n, d]", "k": "f16[h, n, d]", "v": "f16[h, n, d]", "scale": "float = 0.2"}
SIZES = "d == 32"


def reference(q, k, v, scale: float):
    n = q.shape[1]
    score = (q @ k.transpose(1, 2)) * scale
    score = torch.where(torch.tril(torch.ones(n, n, dtype=torch.bool)), score, torch.tensor(-float("inf"), dtype=score.dtype))
    return torch.softmax(score, 2) @ v
