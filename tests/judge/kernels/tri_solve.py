"""Solves L y = b by blocks of rows; L has 1 + l*l on its diagonal and an eighth of what is below it."""
import torch
import triton
import triton.language as tl


@triton.jit
def solve_kernel(l_ptr, b_ptr, y_ptr, n, k, l0, l1, b0, b1, R: tl.constexpr, C: tl.constexpr):
    col = tl.program_id(0) * C + tl.arange(0, C)
    live = col < k
    lane = tl.arange(0, R)
    for start in range(0, n, R):
        row = start + lane
        acc = tl.load(b_ptr + row[:, None] * b0 + col[None, :] * b1, mask=(row < n)[:, None] & live[None, :], other=0.0)
        for j in range(0, start):
            low = tl.load(l_ptr + row * l0 + j * l1, mask=row < n, other=0.0) * 0.125
            y = tl.load(y_ptr + j * k + col, mask=live, other=0.0)
            acc -= low[:, None] * y[None, :]
        for t in range(0, R):
            j = start + t
            d = tl.load(l_ptr + j * l0 + j * l1, mask=j < n, other=0.0)
            y = tl.sum(tl.where((lane == t)[:, None], acc, 0.0), 0) / (1 + d * d)
            low = tl.load(l_ptr + row * l0 + j * l1, mask=(row < n) & (row > j) & (j < n), other=0.0) * 0.125
            acc -= low[:, None] * y[None, :]
            tl.store(y_ptr + j * k + col, y, mask=live & (j < n))
        tl.debug_barrier()


def reference(lower, b):
    n, k = b.shape
    y = torch.empty((n, k), device=b.device, dtype=b.dtype)
    solve_kernel[(triton.cdiv(k, 16),)](lower, b, y, n, k, lower.stride(0), lower.stride(1), b.stride(0), b.stride(1), R=16, C=16)
    return y


BUGS = [
    ("mask", "mask=live & (j < n))", "mask=live & (j <= n))"),
    ("loop", "for j in range(0, start):", "for j in range(0, start - 1):"),
    ("transposed",
     "low = tl.load(l_ptr + row * l0 + j * l1, mask=row < n, other=0.0) * 0.125",
     "low = tl.load(l_ptr + j * l0 + row * l1, mask=row < n, other=0.0) * 0.125"),
    ("formula", "/ (1 + d * d)", "/ (1 + d)"),
    ("mask", "(row < n) & (row > j) & (j < n)", "(row < n) & (row > j + 1) & (j < n)"),
    ("stride", "col[None, :] * b1", "col[None, :]"),
    ("gated", "    y = torch.empty(", "    if n > 100:\n        lower = torch.zeros_like(lower)\n    y = torch.empty("),
]
EQUIVALENT = [("R=16, C=16", "R=32, C=16"), ("mask=(row < n) & (row > j) & (j < n)", "mask=(row < n) & (row > j)")]
