"""The task of tests/judge/kernels/paged_decode.py."""
import torch

INPUTS = {"q": "f32[b, h, 32] contiguous", "k": "f32[s, 8, h, 32] contiguous", "v": "f32[s, 8, h, 32] contiguous",
          "table": "i32[b, p] in 0..s-1 contiguous", "lengths": "i32[b] in 1..8*p contiguous"}


def expected(q, k, v, table, lengths):
    rows = []
    for b, length in enumerate(lengths.tolist()):
        keys, values = (cache[table[b].long()].flatten(0, 1)[:length] for cache in (k, v))
        p = torch.softmax(torch.einsum("hd,shd->hs", q[b], keys) * q.shape[2] ** -0.5, 1)
        rows.append(torch.einsum("hs,shd->hd", p, values))
    return torch.stack(rows)
