"""Counts of values below `bins`; values beyond count in the last bin."""
import torch
import triton
import triton.language as tl


@triton.jit
def histogram(x, o, n, bins, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    v = tl.load(x + i, mask=inside, other=0)
    v = tl.minimum(v, bins - 1)
    tl.atomic_add(o + v, tl.full([B], 1, tl.int32), mask=inside)


def call(x, bins):
    o = torch.zeros(bins, device="cuda", dtype=torch.int32)
    histogram[(triton.cdiv(x.numel(), 64),)](x, o, x.numel(), bins, B=64)
    return o


CASES = {"friendly": [(256, 32, 32)], "odd": [(1, 1, 1), (65, 10, 12), (1000, 33, 40), (63, 7, 7)]}
BOUND = 0


def inputs(n, bins, below):
    return torch.randint(0, below, (n,), device="cuda", dtype=torch.int32), bins


def expected(x, bins):
    return torch.bincount(x.clamp(max=bins - 1).long(), minlength=bins)


BUGS = [
    ("past the end", "    v = tl.minimum(v, bins - 1)\n", ""),
    ("off by one", "tl.minimum(v, bins - 1)", "tl.minimum(v, bins)"),
    ("mask missing", "tl.int32), mask=inside)", "tl.int32))"),
    ("mask missing", "v = tl.load(x + i, mask=inside, other=0)", "v = tl.load(x + i)"),
    ("missing atomic", "tl.atomic_add(o + v, tl.full([B], 1, tl.int32), mask=inside)",
     "tl.store(o + v, tl.load(o + v, mask=inside, other=0) + 1, mask=inside)"),
    ("empty", "o = torch.zeros(bins", "o = torch.empty(bins"),
    ("grid", "triton.cdiv(x.numel(), 64)", "max(1, x.numel() // 64)"),
    ("grid", "triton.cdiv(x.numel(), 64)", "triton.cdiv(x.numel(), 128)"),
]
