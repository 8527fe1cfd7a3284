"""One new token attends to its sequence, whose keys and values lie in pages that a table names."""
import torch
import triton
import triton.language as tl


@triton.jit
def decode(q, k, v, table, lengths, o, scale, H, P, D: tl.constexpr, S: tl.constexpr):
    b = tl.program_id(0)
    h = tl.program_id(1)
    d = tl.arange(0, D)
    s = tl.arange(0, S)
    length = tl.load(lengths + b)
    query = tl.load(q + (b * H + h) * D + d) * scale
    top = float("-inf")
    total = 0.0
    acc = tl.zeros([D], tl.float32)
    for page in range(0, tl.cdiv(length, S)):
        slot = tl.load(table + b * P + page)
        inside = page * S + s < length
        at = ((slot * S + s[:, None]) * H + h) * D + d[None, :]
        key = tl.load(k + at, mask=inside[:, None], other=0.0)
        score = tl.sum(key * query[None, :], 1)
        score = tl.where(inside, score, float("-inf"))
        now = tl.maximum(top, tl.max(score, 0))
        p = tl.exp(score - now)
        old = tl.exp(top - now)
        value = tl.load(v + at, mask=inside[:, None], other=0.0)
        acc = acc * old + tl.sum(p[:, None] * value, 0)
        total = total * old + tl.sum(p, 0)
        top = now
    tl.store(o + (b * H + h) * D + d, acc / total)


def call(q, k, v, table, lengths):
    B, H, D = q.shape
    o = torch.empty(B, H, D, device="cuda")
    decode[(B, H)](q, k, v, table, lengths, o, D ** -0.5, H, table.shape[1], D=D, S=8)
    return o


BUGS = [
    ("numerics", "        score = tl.where(inside, score, float(\"-inf\"))\n", ""),
    ("stride", "table + b * P + page", "table + page"),
    ("numerics", "acc = acc * old + ", "acc = acc + "),
    ("size no multiple", "tl.cdiv(length, S)", "length // S"),
    ("mask off by one", "page * S + s < length", "page * S + s <= length"),
    ("stride", "* H + h) * D + d[None, :]", "* H) * D + d[None, :]"),
    ("wrong formula", "D ** -0.5, H", "1.0, H"),
    ("wrong index", "slot * S + s[:, None]", "page * S + s[:, None]"),
]
EQUIVALENT = [("old = tl.exp(top - now)", "old = tl.exp2((top - now) * 1.4426950408889634)")]
