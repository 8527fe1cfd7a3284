"""Rows to int8 with a scale for each row: q = round(x / scale), where the largest |x| becomes 127."""
import torch
import triton
import triton.language as tl


@triton.jit
def quantize(x, q, scales, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(v), 0), 1e-6) / 127
    tl.store(scales + row, scale)
    r = v / scale
    r = tl.where(r < 0, r - 0.5, r + 0.5)
    tl.store(q + row * n + c, r.to(tl.int32).to(tl.int8), mask=c < n)


def call(x):
    m, n = x.shape
    q = torch.empty(m, n, device="cuda", dtype=torch.int8)
    scales = torch.empty(m, device="cuda")
    quantize[(m,)](x, q, scales, n, B=triton.next_power_of_2(n))
    return q, scales


BUGS = [
    ("wrong formula", "/ 127", "/ 128"),
    ("rounding", "r = tl.where(r < 0, r - 0.5, r + 0.5)", "r = r + 0.0"),
    ("wrong formula", "tl.max(tl.abs(v), 0)", "tl.max(v, 0)"),
    ("numerics", "tl.maximum(tl.max(tl.abs(v), 0), 1e-6)", "tl.max(tl.abs(v), 0)"),
    ("mask missing", "x + row * n + c, mask=c < n, other=0.0)", "x + row * n + c)"),
    ("wrong other", "mask=c < n, other=0.0)", "mask=c < n, other=100.0)"),
    ("unwritten", "    tl.store(scales + row, scale)\n", ""),
    ("race", "tl.store(scales + row, scale)", "tl.store(scales, scale)"),
    ("hard-coded size", "B=triton.next_power_of_2(n)", "B=32"),
]
EQUIVALENT = [("v / scale", "v * (1 / scale)")]
