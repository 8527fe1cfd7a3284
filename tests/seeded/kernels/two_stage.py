"""The sum of a vector: each block writes its part, the last block to arrive adds the parts."""
import torch
import triton
import triton.language as tl


@triton.jit
def reduce(x, parts, count, o, n, blocks, B: tl.constexpr, P: tl.constexpr):
    b = tl.program_id(0)
    i = b * B + tl.arange(0, B)
    tl.store(parts + b, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))
    tl.debug_barrier()
    arrived = tl.atomic_add(count, 1, sem="acq_rel")
    if arrived == blocks - 1:
        p = tl.arange(0, P)
        tl.store(o, tl.sum(tl.load(parts + p, mask=p < blocks, other=0.0), 0))


def call(x):
    blocks = triton.cdiv(x.numel(), 64)
    parts = torch.empty(blocks, device="cuda")
    count = torch.zeros(1, device="cuda", dtype=torch.int32)
    o = torch.empty(1, device="cuda")
    reduce[(blocks,)](x, parts, count, o, x.numel(), blocks, B=64, P=triton.next_power_of_2(blocks))
    return o


CASES = {"friendly": [(256,)], "odd": [(1,), (65,), (300,), (1000,)]}
BOUND = 1e-3


def inputs(n):
    return torch.randn(n, device="cuda"),


def expected(x):
    return x.sum()[None]


BUGS = [
    ("memory order", 'sem="acq_rel"', 'sem="relaxed"'),
    ("memory order", 'sem="acq_rel"', 'sem="acquire"'),
    ("memory order", 'sem="acq_rel"', 'sem="release"'),
    ("empty", "count = torch.zeros(1", "count = torch.empty(1"),
    ("off by one", "if arrived == blocks - 1:", "if arrived == blocks:"),
    ("off by one", "if arrived == blocks - 1:", "if b == blocks - 1:"),
    ("wrong other", "mask=p < blocks, other=0.0)", "mask=p < blocks)"),
    ("mask missing", "tl.load(parts + p, mask=p < blocks, other=0.0)", "tl.load(parts + p)"),
    ("race", "tl.store(parts + b,", "tl.store(parts + b // 2,"),
    ("wrong formula", "tl.sum(tl.load(parts + p, mask=p < blocks, other=0.0), 0))",
     "tl.sum(tl.load(parts + p, mask=p < blocks - 1, other=0.0), 0) + tl.load(parts + b))"),
]
