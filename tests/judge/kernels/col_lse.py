"""The log of the sum of exponentials of each column, by blocks of columns that walk down the rows."""
import torch
import triton
import triton.language as tl


@triton.jit
def col_lse_kernel(x_ptr, o_ptr, m, n, x0, x1, R: tl.constexpr, C: tl.constexpr):
    col = tl.program_id(0) * C + tl.arange(0, C)
    live = col < n
    top = tl.full((C,), float("-inf"), tl.float32)
    total = tl.zeros((C,), tl.float32)
    for start in range(0, m, R):
        row = start + tl.arange(0, R)
        inside = (row < m)[:, None] & live[None, :]
        v = tl.load(x_ptr + row[:, None] * x0 + col[None, :] * x1, mask=inside, other=float("-inf")).to(tl.float32)
        now = tl.maximum(top, tl.max(v, 0))
        safe = tl.where(now == float("-inf"), 0.0, now)
        total = total * tl.exp(top - safe) + tl.sum(tl.exp(v - safe[None, :]), 0)
        top = now
    tl.store(o_ptr + col, top + tl.log(total), mask=live)


def reference(x):
    m, n = x.shape
    o = torch.empty(n, device=x.device)
    col_lse_kernel[(triton.cdiv(n, 16),)](x, o, m, n, x.stride(0), x.stride(1), R=32, C=16)
    return o


BUGS = [
    ("online softmax", "total * tl.exp(top - safe) + ", "total + "),
    ("stride", "col[None, :] * x1", "col[None, :]"),
    ("loop", "range(0, m, R)", "range(0, m - R + 1, R)"),
    ("wrong other", "other=float(\"-inf\")).to", "other=0.0).to"),
    ("grid", "triton.cdiv(n, 16)", "max(1, n // 16)"),
    ("mask", "(row < m)[:, None] & live[None, :]", "live[None, :] & (row < m + 1)[:, None]"),
    ("numerics", "        now = tl.maximum(top, tl.max(v, 0))\n", "        now = tl.minimum(tl.maximum(top, tl.max(v, 0)), 50.0)\n"),
]
EQUIVALENT = [("R=32, C=16)", "R=16, C=16)"), ("tl.exp(v - safe[None, :])", "tl.exp2((v - safe[None, :]) * 1.4426950408889634)")]
