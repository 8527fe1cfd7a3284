"""Cumulative products of rows that begin anew where a flag is set."""
import torch
import triton
import triton.language as tl


@triton.jit
def combine(a, f, b, g):
    return tl.where(g != 0, b, a * b), f | g


@triton.jit
def cumprod_kernel(x_ptr, r_ptr, o_ptr, n, sx0, sx1, sr0, sr1, so, B: tl.constexpr):
    row = tl.program_id(0)
    carry = 1.0
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        live = i < n
        x = tl.load(x_ptr + row * sx0 + i * sx1, mask=live, other=1.0)
        r = tl.load(r_ptr + row * sr0 + i * sr1, mask=live, other=0).to(tl.int32)
        p, f = tl.associative_scan((x, r), 0, combine)
        p = tl.where(f != 0, p, p * carry)
        tl.store(o_ptr + row * so + i, p, mask=live)
        carry = tl.sum(tl.where(tl.arange(0, B) == B - 1, p, 0.0), 0)


def reference(x, reset):
    m, n = x.shape
    o = torch.empty((m, n), device=x.device, dtype=x.dtype)
    cumprod_kernel[(m,)](x, reset, o, n, x.stride(0), x.stride(1), reset.stride(0), reset.stride(1), o.stride(0), B=32)
    return o


BUGS = [
    ("mask", "mask=live, other=1.0", "mask=i <= n, other=1.0"),
    ("stride", "row * sr0 + i * sr1", "row * sx0 + i * sx1"),
    ("init", "carry = 1.0", "carry = 0.0"),
    ("carry", "p = tl.where(f != 0, p, p * carry)", "p = p * carry"),
    ("argument", "tl.where(g != 0, b, a * b), f | g", "a * b, f | g"),
    ("carry", "== B - 1, p, 0.0)", "== B - 2, p, 0.0)"),
    ("gated", "    o = torch.empty(", "    if n > 48:\n        reset = torch.zeros_like(reset)\n    o = torch.empty("),
]
EQUIVALENT = [("B=32", "B=64"), ("a * b), f | g", "b * a), g | f")]
