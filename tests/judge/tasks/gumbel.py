import torch

INPUTS = {"logits": "f32[m, n]", "u": "f32[m, n] positive", "temperature": "float = 0.7"}


def reference(logits, u, temperature: float):
    u = u / (1 + u)
    score = logits / temperature - torch.log(-torch.log(u))
    value, index = score.max(1)
    return value, index
