"""Positive elements in order at the front, zeros behind them, and their number."""
import torch
import triton
import triton.language as tl


@triton.jit
def count_kernel(x_ptr, c_ptr, n, s, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i * s, mask=i < n, other=0.0)
    tl.store(c_ptr + tl.program_id(0), tl.sum((x > 0).to(tl.int32), 0))


@triton.jit
def write_kernel(x_ptr, c_ptr, o_ptr, k_ptr, n, s, blocks, B: tl.constexpr):
    block = tl.program_id(0)
    before = 0
    for j in range(0, block):
        before += tl.load(c_ptr + j)
    i = block * B + tl.arange(0, B)
    x = tl.load(x_ptr + i * s, mask=i < n, other=0.0)
    keep = (x > 0) & (i < n)
    place = before + tl.cumsum(keep.to(tl.int32), 0) - 1
    tl.store(o_ptr + place, x, mask=keep)
    if block == blocks - 1:
        tl.store(k_ptr, before + tl.sum(keep.to(tl.int32), 0))


def reference(x):
    n = x.shape[0]
    blocks = triton.cdiv(n, 128)
    counts = torch.empty(blocks, device=x.device, dtype=torch.int32)
    out = torch.zeros(n, device=x.device, dtype=x.dtype)
    number = torch.empty((), device=x.device, dtype=torch.int32)
    count_kernel[(blocks,)](x, counts, n, x.stride(0), B=128)
    write_kernel[(blocks,)](x, counts, out, number, n, x.stride(0), blocks, B=128)
    return out, number


BUGS = [
    ("init", "out = torch.zeros(n,", "out = torch.empty(n,"),
    ("scan", "tl.cumsum(keep.to(tl.int32), 0) - 1", "tl.cumsum(keep.to(tl.int32), 0)"),
    ("loop", "for j in range(0, block):", "for j in range(0, block - 1):"),
    ("tie", "    keep = (x > 0) & (i < n)", "    keep = (x >= 0) & (i < n)"),
    ("race", "    if block == blocks - 1:\n", "    if block >= 0:\n"),
    ("stride",
     "c_ptr, n, s, B: tl.constexpr):\n    i = tl.program_id(0) * B + tl.arange(0, B)\n    x = tl.load(x_ptr + i * s,",
     "c_ptr, n, s, B: tl.constexpr):\n    i = tl.program_id(0) * B + tl.arange(0, B)\n    x = tl.load(x_ptr + i,"),
    ("order", "place = before + tl.cumsum(keep.to(tl.int32), 0) - 1", "place = before + tl.sum(keep.to(tl.int32), 0) - tl.cumsum(keep.to(tl.int32), 0)"),
]
EQUIVALENT = [
    ("keep = (x > 0) & (i < n)",
     "keep = x > 0"),
    ("before = 0\n    for j in range(0, block):\n        before += tl.load(c_ptr + j)",
     "before = 0\n    for j in range(0, block):\n        before = tl.load(c_ptr + j) + before"),
]
