"""Integers: eight bits of x from bit s on, and x itself where it is below 0."""
import torch
import triton
import triton.language as tl


@triton.jit
def shift(x, o, n, s, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(o + i, tl.where(v < 0, v, (v >> s) & 255), mask=i < n)


def call(x, s):
    o = torch.empty_like(x)
    shift[(triton.cdiv(x.numel(), 64),)](x, o, x.numel(), s, B=64)
    return o


BUGS = [
    ("wrong formula", "& 255", "& 127"),
    ("wrong formula", "v < 0", "v <= 255"),
    ("off by one", "v >> s", "v >> (s + 1)"),
    ("mask off by one", "other=0)\n", "other=0)\n    n = n - 1\n"),
    ("hard-coded size", "x.numel(), s, B=64)", "x.numel(), 1, B=64)"),
    ("grid", "triton.cdiv(x.numel(), 64)", "max(1, x.numel() // 64)"),
]
EQUIVALENT = [("(v >> s) & 255", "(v // (1 << s)) % 256")]
