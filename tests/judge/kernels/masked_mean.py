"""The mean of the elements of each row that a mask selects; 0 where it selects none."""
import torch
import triton
import triton.language as tl


@triton.jit
def masked_mean(x, keep, o, n, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([B], tl.float32)
    count = tl.zeros([B], tl.float32)
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        k = tl.load(keep + row * n + c, mask=c < n, other=0).to(tl.float32)
        total += tl.load(x + row * n + c, mask=c < n, other=0.0) * k
        count += k
    tl.store(o + row, tl.sum(total, 0) / tl.maximum(tl.sum(count, 0), 1.0))


def call(x, keep):
    m, n = x.shape
    o = torch.empty(m, device="cuda")
    masked_mean[(m,)](x, keep, o, n, B=32)
    return o


BUGS = [
    ("numerics", "tl.maximum(tl.sum(count, 0), 1.0)", "tl.sum(count, 0)"),
    ("wrong formula", "tl.maximum(tl.sum(count, 0), 1.0)", "n"),
    ("wrong other", "mask=c < n, other=0).to", "mask=c < n, other=1).to"),
    ("mask missing", "keep + row * n + c, mask=c < n, other=0)", "keep + row * n + c)"),
    ("size no multiple", "for start in range(0, n, B):", "for start in range(0, n - B + 1, B):"),
    ("wrong formula", "        total += tl", "        total = tl"),
    ("unwritten", "tl.store(o + row,", "tl.store(o + row, mask=row > 0, value="),
    ("aliasing", "o = torch.empty(m, device=\"cuda\")", "o = x[:, 0]"),
]
EQUIVALENT = [("n, B=32)", "n, B=64)")]
