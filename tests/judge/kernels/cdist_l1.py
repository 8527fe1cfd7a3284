"""Sums of absolute differences of all pairs of rows, in bfloat16 with float32 sums."""
import torch
import triton
import triton.language as tl


@triton.jit
def l1_kernel(x_ptr, y_ptr, o_ptr, m, n, d, x0, y0, M: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    acc = tl.zeros((M, N), tl.float32)
    for k in range(d):
        a = tl.load(x_ptr + i * x0 + k, mask=i < m, other=0.0).to(tl.float32)
        b = tl.load(y_ptr + j * y0 + k, mask=j < n, other=0.0).to(tl.float32)
        acc += tl.abs(a[:, None] - b[None, :])
    tl.store(o_ptr + i[:, None] * n + j[None, :], acc.to(o_ptr.dtype.element_ty), mask=(i < m)[:, None] & (j < n)[None, :])


def reference(x, y):
    m, d = x.shape
    n = y.shape[0]
    o = torch.empty((m, n), device=x.device, dtype=x.dtype)
    l1_kernel[(triton.cdiv(m, 8), triton.cdiv(n, 16))](x, y, o, m, n, d, x.stride(0), y.stride(0), M=8, N=16)
    return o


BUGS = [
    ("accumulator", "acc += tl.abs(a[:, None] - b[None, :])", "acc = (acc + tl.abs(a[:, None] - b[None, :])).to(tl.bfloat16).to(tl.float32)"),
    ("formula", "tl.abs(a[:, None] - b[None, :])", "tl.abs(tl.abs(a[:, None]) - tl.abs(b[None, :]))"),
    ("stride", "y_ptr + j * y0 + k", "y_ptr + j * x0 + k"),
    ("grid", "(triton.cdiv(m, 8), triton.cdiv(n, 16))", "(triton.cdiv(m, 8), triton.cdiv(m, 16))"),
    ("mask", "(i < m)[:, None] & (j < n)[None, :]", "(i < m)[:, None] & (j <= n)[None, :]"),
    ("rounding", "acc.to(o_ptr.dtype.element_ty)", "(acc * 0.998).to(o_ptr.dtype.element_ty)"),
]
EQUIVALENT = [("M=8, N=16)", "M=8, N=16, num_warps=1)"), ("tl.abs(a[:, None] - b[None, :])", "tl.abs(b[None, :] - a[:, None])")]
