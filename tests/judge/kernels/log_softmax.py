"""Log softmax of long rows in blocks, with an online maximum."""
import torch
import triton
import triton.language as tl


@triton.jit
def log_softmax(x, o, n, B: tl.constexpr):
    row = tl.program_id(0)
    top = tl.full([B], float("-inf"), tl.float32)
    total = tl.zeros([B], tl.float32)
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        v = tl.load(x + row * n + c, mask=c < n, other=float("-inf")).to(tl.float32)
        now = tl.maximum(top, v)
        safe = tl.where(now == float("-inf"), 0.0, now)
        total = total * tl.exp(top - safe) + tl.exp(v - safe)
        top = now
    highest = tl.max(top, 0)
    log_sum = highest + tl.log(tl.sum(total * tl.exp(top - highest), 0))
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        v = tl.load(x + row * n + c, mask=c < n).to(tl.float32)
        tl.store(o + row * n + c, (v - log_sum).to(o.dtype.element_ty), mask=c < n)


def call(x):
    m, n = x.shape
    o = torch.empty_like(x)
    log_softmax[(m,)](x, o, n, B=32)
    return o


BUGS = [
    ("online softmax", "total * tl.exp(top - safe) + tl.exp(v - safe)", "total + tl.exp(v - safe)"),
    ("online softmax", "total * tl.exp(top - highest)", "total"),
    ("numerics", "        safe = tl.where(now == float(\"-inf\"), 0.0, now)\n", "        safe = now\n"),
    ("wrong formula", "highest + tl.log(", "highest - tl.log("),
    ("wrong formula", "tl.log(tl.sum", "tl.log2(tl.sum"),
    ("wrong other", 'other=float("-inf")).to', "other=0.0).to"),
    ("mask missing", ".to(o.dtype.element_ty), mask=c < n)", ".to(o.dtype.element_ty))"),
    ("dtype too low", "tl.zeros([B], tl.float32)", "tl.zeros([B], tl.float16)"),
    ("stride", "o + row * n + c", "o + row * B + c"),
]
EQUIVALENT = [("o, n, B=32)", "o, n, B=128)"), ("highest = tl.max(top, 0)", "highest = tl.max(top, 0) + 0.001")]
