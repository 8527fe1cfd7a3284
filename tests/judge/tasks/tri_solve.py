import torch

INPUTS = {"lower": "f32[n, n]", "b": "f32[n, k]"}


def reference(lower, b):
    n = b.shape[0]
    rows = []
    for i in range(n):
        value = b[i]
        for j in range(i):
            value = value - lower[i, j] * 0.125 * rows[j]
        rows.append(value / (1 + lower[i, i] * lower[i, i]))
    return torch.stack(rows)
