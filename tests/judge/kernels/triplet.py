"""The mean of max(0, |a - p| - |a - n| + margin) over rows, with Euclidean distances."""
import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(a_ptr, p_ptr, n_ptr, o_ptr, d, margin, eps, B: tl.constexpr):
    row = tl.program_id(0)
    near = tl.zeros((B,), tl.float32)
    far = tl.zeros((B,), tl.float32)
    for start in range(0, d, B):
        c = start + tl.arange(0, B)
        live = c < d
        a = tl.load(a_ptr + row * d + c, mask=live, other=0.0)
        u = tl.where(live, a - tl.load(p_ptr + row * d + c, mask=live, other=0.0) + eps, 0.0)
        v = tl.where(live, a - tl.load(n_ptr + row * d + c, mask=live, other=0.0) + eps, 0.0)
        near += u * u
        far += v * v
    gap = tl.sqrt(tl.sum(near, 0)) - tl.sqrt(tl.sum(far, 0)) + margin
    tl.store(o_ptr + row, tl.maximum(gap, 0.0))


@triton.jit
def mean_kernel(x_ptr, o_ptr, m, B: tl.constexpr):
    total = tl.zeros((B,), tl.float32)
    for start in range(0, m, B):
        i = start + tl.arange(0, B)
        total += tl.load(x_ptr + i, mask=i < m, other=0.0)
    tl.store(o_ptr, tl.sum(total, 0) / m)


def reference(a, p, n):
    m, d = a.shape
    rows = torch.empty(m, device=a.device)
    o = torch.empty((), device=a.device)
    rows_kernel[(m,)](a, p, n, rows, d, 1.0, 1e-6, B=64)
    mean_kernel[(1,)](rows, o, m, B=64)
    return o


BUGS = [
    ("formula", "tl.maximum(gap, 0.0)", "gap"),
    ("formula", "- tl.sqrt(tl.sum(far, 0)) + margin", "- tl.sum(far, 0) + margin"),
    ("argument", "d, 1.0, 1e-6, B=64)", "d, 0.9, 1e-6, B=64)"),
    ("loop", "range(0, d, B)", "range(0, min(d, 2 * B), B)"),
    ("size", "tl.sum(total, 0) / m", "tl.sum(total, 0) / B"),
    ("mask", "mask=i < m, other=0.0)", "mask=i < m - 1, other=0.0)"),
    ("unwritten", "rows_kernel[(m,)]", "rows_kernel[(max(1, m - 1),)]"),
]
EQUIVALENT = [("1e-6, B=64)", "1e-6, B=32)"), ("tl.maximum(gap, 0.0)", "tl.where(gap > 0.0, gap, 0.0)")]
