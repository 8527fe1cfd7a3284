"""Sums of columns: blocks of rows add their part to the result."""
import torch
import triton
import triton.language as tl


@triton.jit
def column_sums(x, o, m, n, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    v = tl.load(x + i[:, None] * n + j[None, :], mask=(i[:, None] < m) & (j[None, :] < n), other=0.0)
    tl.atomic_add(o + j, tl.sum(v, 0), mask=j < n)


def call(x):
    m, n = x.shape
    o = torch.zeros(n, device="cuda")
    column_sums[(triton.cdiv(m, 16), triton.cdiv(n, 32))](x, o, m, n, BM=16, BN=32)
    return o


CASES = {"friendly": [(64, 64)], "odd": [(1, 1), (17, 33), (50, 100), (31, 31)]}
BOUND = 1e-4


def inputs(m, n):
    return torch.randn(m, n, device="cuda"),


def expected(x):
    return x.sum(0)


BUGS = [
    ("missing atomic", "tl.atomic_add(o + j, tl.sum(v, 0), mask=j < n)",
     "tl.store(o + j, tl.load(o + j, mask=j < n, other=0.0) + tl.sum(v, 0), mask=j < n)"),
    ("missing atomic", "tl.atomic_add(o + j, tl.sum(v, 0), mask=j < n)", "tl.store(o + j, tl.sum(v, 0), mask=j < n)"),
    ("empty", "o = torch.zeros(n", "o = torch.empty(n"),
    ("mask missing", "tl.sum(v, 0), mask=j < n)", "tl.sum(v, 0))"),
    ("mask missing", "mask=(i[:, None] < m) & (j[None, :] < n)", "mask=i[:, None] < m"),
    ("mask missing", "mask=(i[:, None] < m) & (j[None, :] < n)", "mask=j[None, :] < n"),
    ("wrong other", "(j[None, :] < n), other=0.0)", "(j[None, :] < n))"),
    ("grid", "triton.cdiv(m, 16), triton.cdiv(n, 32)", "triton.cdiv(m, 16), n // 32"),
    ("stride", "i[:, None] * n +", "i[:, None] * BN +"),
    ("dtype too low", "o = torch.zeros(n, device=\"cuda\")", "o = torch.zeros(n, device=\"cuda\", dtype=torch.float16)"),
]
