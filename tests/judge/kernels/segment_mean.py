"""The mean of the rows of each segment by atomic sums; 0 for a segment without rows."""
import torch
import triton
import triton.language as tl


@triton.jit
def add_up(x, ids, total, count, n, w, B: tl.constexpr, W: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.arange(0, W)
    inside = i < n
    both = inside[:, None] & (c < w)[None, :]
    s = tl.load(ids + i, mask=inside, other=0)
    v = tl.load(x + i[:, None] * w + c[None, :], mask=both, other=0.0)
    tl.atomic_add(total + s[:, None] * w + c[None, :], v, mask=both)
    tl.atomic_add(count + s, tl.full([B], 1.0, tl.float32), mask=inside)


@triton.jit
def divide(total, count, o, w, W: tl.constexpr):
    s = tl.program_id(0)
    c = tl.arange(0, W)
    k = tl.maximum(tl.load(count + s), 1.0)
    tl.store(o + s * w + c, tl.load(total + s * w + c, mask=c < w, other=0.0) / k, mask=c < w)


def call(x, ids, segments):
    n, w = x.shape
    total = torch.zeros(segments, w, device="cuda")
    count = torch.zeros(segments, device="cuda")
    o = torch.empty(segments, w, device="cuda")
    add_up[(triton.cdiv(n, 16),)](x, ids, total, count, n, w, B=16, W=64)
    divide[(segments,)](total, count, o, w, W=64)
    return o


BUGS = [
    ("mask missing", "tl.full([B], 1.0, tl.float32), mask=inside)", "tl.full([B], 1.0, tl.float32))"),
    ("empty", "total = torch.zeros(", "total = torch.empty("),
    ("numerics", "tl.maximum(tl.load(count + s), 1.0)", "tl.load(count + s)"),
    ("grid", "triton.cdiv(n, 16)", "triton.cdiv(n, 32)"),
    ("missing atomic", "tl.atomic_add(count + s, tl.full([B], 1.0, tl.float32), mask=inside)",
     "tl.store(count + s, tl.load(count + s, mask=inside, other=0.0) + 1.0, mask=inside)"),
    ("wrong formula", "tl.maximum(tl.load(count + s), 1.0)", "tl.maximum(tl.load(count + s), 2.0)"),
    ("grid", "divide[(segments,)]", "divide[(max(1, segments - 1),)]"),
]
EQUIVALENT = [("o = torch.empty(segments", "o = torch.zeros(segments")]
