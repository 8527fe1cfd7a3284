import torch

INPUTS = {"x": "f32[m, n]", "threshold": "float = 0.25"}


def reference(x, threshold: float):
    m, n = x.shape
    bits = (x > threshold).to(torch.int64)
    bytes_ = (n + 7) // 8
    padded = torch.zeros((m, bytes_ * 8), dtype=torch.int64)
    padded[:, :n] = bits
    weights = torch.tensor([1, 2, 4, 8, 16, 32, 64, 128])
    return (padded.reshape(m, bytes_, 8) * weights).sum(2).to(torch.uint8)
