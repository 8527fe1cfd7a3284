import torch

INPUTS = {"values": "f32[t, d] contiguous", "offsets": "i32[b + 1] in 0..t sorted contiguous", "max_len": "int in 1..20", "pad": "float in -2..2"}


def jagged_to_dense(values, offsets, max_len, pad):
    rows = []
    for a, b in zip(offsets.tolist()[:-1], offsets.tolist()[1:]):
        part = values[a:b][:max_len]
        rows.append(torch.cat([part, torch.full((max_len - part.shape[0], values.shape[1]), pad, dtype=values.dtype)]))
    return torch.stack(rows)
