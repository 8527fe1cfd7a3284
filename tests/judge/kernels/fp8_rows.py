"""Rows to 8-bit floats with a scale for each row, by which the largest magnitude becomes 448; a row of zeros has a scale of 1."""
import torch
import triton
import triton.language as tl


@triton.jit
def fp8_kernel(x_ptr, q_ptr, scale_ptr, n, x0, B: tl.constexpr):
    row = tl.program_id(0)
    top = tl.zeros((B,), tl.float32)
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        top = tl.maximum(top, tl.abs(tl.load(x_ptr + row * x0 + c, mask=c < n, other=0.0).to(tl.float32)))
    highest = tl.max(top, 0)
    scale = tl.where(highest == 0.0, 1.0, highest / 448.0)
    tl.store(scale_ptr + row, scale)
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        v = tl.load(x_ptr + row * x0 + c, mask=c < n, other=0.0).to(tl.float32) / scale
        v = tl.minimum(tl.maximum(v, -448.0), 448.0)
        tl.store(q_ptr + row * n + c, v.to(tl.float8e4nv).to(tl.float32), mask=c < n)


def reference(x):
    m, n = x.shape
    q = torch.empty((m, n), device=x.device)
    scale = torch.empty(m, device=x.device)
    fp8_kernel[(m,)](x, q, scale, n, x.stride(0), B=64)
    return q, scale


BUGS = [
    ("formula", "highest / 448.0", "highest / 240.0"),
    ("numerics", "tl.where(highest == 0.0, 1.0, highest / 448.0)", "highest / 448.0"),
    ("formula", "tl.abs(tl.load(x_ptr + row * x0 + c, mask=c < n, other=0.0).to(tl.float32))",
     "tl.load(x_ptr + row * x0 + c, mask=c < n, other=0.0).to(tl.float32)"),
    ("stride", "v = tl.load(x_ptr + row * x0 + c", "v = tl.load(x_ptr + row * n + c"),
    ("loop", "    top = tl.zeros((B,), tl.float32)\n    for start in range(0, n, B):\n",
     "    top = tl.zeros((B,), tl.float32)\n    for start in range(0, min(n, B), B):\n"),
    ("type", "v.to(tl.float8e4nv)", "v.to(tl.float8e5)"),
    ("wrong other", "top, tl.abs(tl.load(x_ptr + row * x0 + c, mask=c < n, other=0.0)", "top, tl.abs(tl.load(x_ptr + row * x0 + c, mask=c < n, other=1.0)"),
]
EQUIVALENT = [("x.stride(0), B=64)", "x.stride(0), B=32)"), ("tl.minimum(tl.maximum(v, -448.0), 448.0)", "tl.maximum(tl.minimum(v, 448.0), -448.0)")]
