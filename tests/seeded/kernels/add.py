"""z = x + y, a block for each 128 elements."""
import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, z, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    a = tl.load(x + i, mask=inside)
    b = tl.load(y + i, mask=inside)
    tl.store(z + i, a + b, mask=inside)


def call(x, y):
    z = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 128),)](x, y, z, x.numel(), B=128)
    return z


CASES = {"friendly": [(1024,)], "odd": [(1,), (127,), (129,), (1000,)]}
BOUND = 1e-6


def inputs(n):
    return torch.randn(n, device="cuda"), torch.randn(n, device="cuda")


def expected(x, y):
    return x + y


BUGS = [
    ("mask missing", "a = tl.load(x + i, mask=inside)", "a = tl.load(x + i)"),
    ("mask missing", "b = tl.load(y + i, mask=inside)", "b = tl.load(y + i)"),
    ("mask missing", "a + b, mask=inside", "a + b"),
    ("mask off by one", "inside = i < n", "inside = i <= n"),
    ("unwritten", "inside = i < n", "inside = i < n - 1"),
    ("grid", "triton.cdiv(x.numel(), 128)", "x.numel() // 128"),
    ("race", "tl.program_id(0) * B +", "tl.program_id(0) * (B // 2) +"),
    ("hard-coded size", "x.numel(), B=128", "1024, B=128"),
]
