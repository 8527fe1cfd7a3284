"""A linear recurrence along rows: h = sigmoid(gate) h + x, by an associative scan of blocks."""
import torch
import triton
import triton.language as tl


@triton.jit
def both(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@triton.jit
def gated_scan(x, gate, o, n, B: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, B)
    carry = 0.0
    for start in range(0, n, B):
        c = start + lane
        a = tl.sigmoid(tl.load(gate + row * n + c, mask=c < n, other=0.0))
        b = tl.load(x + row * n + c, mask=c < n, other=0.0)
        a, b = tl.associative_scan((a, b), 0, both)
        h = b + a * carry
        tl.store(o + row * n + c, h, mask=c < n)
        carry = tl.sum(tl.where(lane == B - 1, h, 0.0), 0)


def call(x, gate):
    m, n = x.shape
    o = torch.empty(m, n, device="cuda")
    gated_scan[(m,)](x, gate, o, n, B=32)
    return o


BUGS = [
    ("wrong formula", "b0 * a1 + b1", "b0 * a0 + b1"),
    ("wrong formula", "h = b + a * carry", "h = b + carry"),
    ("wrong formula", "h = b + a * carry", "h = b"),
    ("off by one", "lane == B - 1", "lane == B - 2"),
    ("mask missing", "tl.store(o + row * n + c, h, mask=c < n)", "tl.store(o + row * n + c, h)"),
    ("wrong formula", "tl.sum(tl.where(lane == B - 1, h, 0.0), 0)", "tl.sum(tl.where(lane == B - 1, b, 0.0), 0)"),
    ("grid", "[(m,)]", "[(max(1, m // 2),)]"),
    ("size no multiple", "for start in range(0, n, B):", "for start in range(0, n - B + 1, B):"),
]
EQUIVALENT = [("o, n, B=32)", "o, n, B=64)")]
