"""Running sums of a long vector in one launch: a block waits for the sum of the blocks before it."""
import torch
import triton
import triton.language as tl


@triton.jit
def running(x, o, sums, flags, n, B: tl.constexpr):
    b = tl.program_id(0)
    i = b * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    before = 0.0
    if b > 0:
        while tl.atomic_add(flags + b - 1, 0, sem="acquire") == 0:
            pass
        before = tl.load(sums + b - 1)
    tl.store(sums + b, before + tl.sum(v, 0))
    tl.debug_barrier()
    tl.atomic_xchg(flags + b, 1, sem="release")
    tl.store(o + i, before + tl.cumsum(v, 0), mask=i < n)


def call(x):
    n = x.numel()
    blocks = triton.cdiv(n, 64)
    o = torch.empty(n, device="cuda")
    sums = torch.empty(blocks, device="cuda")
    flags = torch.zeros(blocks, device="cuda", dtype=torch.int32)
    running[(blocks,)](x, o, sums, flags, n, B=64)
    return o


CASES = {"friendly": [(256,)], "odd": [(1,), (65,), (300,), (127,)]}
BOUND = 1e-4


def inputs(n):
    return torch.randn(n, device="cuda"),


def expected(x):
    return x.cumsum(0)


BUGS = [
    ("memory order", 'flags + b - 1, 0, sem="acquire"', 'flags + b - 1, 0, sem="relaxed"'),
    ("memory order", 'flags + b, 1, sem="release"', 'flags + b, 1, sem="relaxed"'),
    ("memory order", 'tl.atomic_xchg(flags + b, 1, sem="release")', "tl.store(flags + b, 1)"),
    ("memory order", "        while tl.atomic_add(flags + b - 1, 0, sem=\"acquire\") == 0:\n            pass\n", ""),
    ("empty", "flags = torch.zeros(blocks", "flags = torch.empty(blocks"),
    ("missing atomic", '    tl.atomic_xchg(flags + b, 1, sem="release")\n', ""),
    ("wrong other", "mask=i < n, other=0.0)", "mask=i < n)"),
    ("race", "tl.store(sums + b, before", "tl.store(sums + b // 2 * 2, before"),
    ("unwritten", "tl.cumsum(v, 0), mask=i < n)", "tl.cumsum(v, 0), mask=(i < n) & (b > 0))"),
    ("off by one", "before = tl.load(sums + b - 1)", "before = tl.load(sums + b)"),
    ("wrong formula", "tl.store(o + i, before + tl.cumsum(v, 0)", "tl.store(o + i, before + tl.cumsum(v, 0) - v"),
]
