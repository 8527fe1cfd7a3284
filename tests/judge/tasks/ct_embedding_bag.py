import torch

INPUTS = {"table": "f32[r, d] contiguous", "index": "i32[n] in 0..r-1 contiguous",
          "weight": "f32[n] contiguous", "offsets": "i32[b + 1] in 0..n sorted contiguous"}


def embedding_bag(table, index, weight, offsets):
    rows = table[index.long()] * weight[:, None]
    bounds = offsets.tolist()
    return torch.stack([rows[a:b].sum(0) / max(b - a, 1) for a, b in zip(bounds[:-1], bounds[1:])])
