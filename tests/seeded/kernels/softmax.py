"""Softmax of rows of a matrix whose rows may be apart by more than their length."""
import torch
import triton
import triton.language as tl


@triton.jit
def softmax(x, o, n, stride_x, stride_o, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * stride_x + c, mask=c < n, other=float("-inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * stride_o + c, e / tl.sum(e, 0), mask=c < n)


def call(x):
    o = torch.empty(x.shape, device="cuda")
    m, n = x.shape
    softmax[(m,)](x, o, n, x.stride(0), o.stride(0), B=triton.next_power_of_2(n))
    return o


CASES = {"friendly": [(8, 128, 128)], "odd": [(1, 1, 1), (3, 100, 100), (5, 129, 140), (2, 77, 80)]}
BOUND = 1e-5


def inputs(m, n, stride):
    return (torch.randn(m, stride, device="cuda") * 3)[:, :n],


def expected(x):
    return torch.softmax(x, 1)


BUGS = [
    ("wrong other", 'other=float("-inf")', "other=0.0"),
    ("wrong other", ', other=float("-inf")', ""),
    ("mask missing", 'c, mask=c < n, other=float("-inf"))', "c)"),
    ("mask missing", "tl.sum(e, 0), mask=c < n)", "tl.sum(e, 0))"),
    ("stride", "x + row * stride_x", "x + row * n"),
    ("stride", "x.stride(0), o.stride(0)", "x.stride(0), x.stride(0)"),
    ("wrong formula", "tl.max(v, 0)", "tl.min(v, 0)"),
    ("grid", "softmax[(m,)]", "softmax[(m - 1,)]"),
    ("hard-coded size", "B=triton.next_power_of_2(n)", "B=128"),
    ("wrong formula", "tl.exp(v - tl.max(v, 0))", "tl.exp2(v - tl.max(v, 0))"),
    ("numerics", "tl.exp(v - tl.max(v, 0))", "tl.exp(v)"),
]
