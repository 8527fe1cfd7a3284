"""Gradient of a bias: each group of rows stores its part, a second kernel adds the parts."""
import torch
import triton
import triton.language as tl


@triton.jit
def part(dy, parts, m, n, rows, B: tl.constexpr):
    g, c = tl.program_id(0), tl.program_id(1) * B + tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for r in range(g * rows, min((g + 1) * rows, m)):
        total += tl.load(dy + r * n + c, mask=c < n, other=0.0)
    tl.store(parts + g * n + c, total, mask=c < n)


@triton.jit
def finish(parts, o, groups, n, G: tl.constexpr, B: tl.constexpr):
    g, c = tl.arange(0, G), tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(parts + g[:, None] * n + c[None, :], mask=(g[:, None] < groups) & (c[None, :] < n), other=0.0)
    tl.store(o + c, tl.sum(v, 0), mask=c < n)


def call(dy):
    m, n = dy.shape
    groups = triton.cdiv(m, 5)
    parts = torch.empty(groups, n, device="cuda")
    o = torch.empty(n, device="cuda")
    part[(groups, triton.cdiv(n, 32))](dy, parts, m, n, 5, B=32)
    finish[(triton.cdiv(n, 32),)](parts, o, groups, n, G=triton.next_power_of_2(groups), B=32)
    return o


CASES = {"friendly": [(40, 64)], "odd": [(1, 1), (13, 33), (27, 65), (6, 100)]}
BOUND = 1e-4


def inputs(m, n):
    return torch.randn(m, n, device="cuda"),


def expected(dy):
    return dy.sum(0)


BUGS = [
    ("mask missing", "mask=(g[:, None] < groups) & (c[None, :] < n)", "mask=c[None, :] < n"),
    ("wrong other", "(c[None, :] < n), other=0.0)", "(c[None, :] < n))"),
    ("past the end", "range(g * rows, min((g + 1) * rows, m))", "range(g * rows, (g + 1) * rows)"),
    ("grid", "part[(groups, triton.cdiv(n, 32))]", "part[(groups - 1, triton.cdiv(n, 32))]"),
    ("grid", "part[(groups, triton.cdiv(n, 32))]", "part[(groups, n // 32)]"),
    ("grid", "finish[(triton.cdiv(n, 32),)]", "finish[(n // 32,)]"),
    ("race", "tl.store(parts + g * n + c, total, mask=c < n)", "tl.store(parts + c, total, mask=c < n)"),
    ("size no multiple", "groups = triton.cdiv(m, 5)", "groups = max(1, m // 5)"),
    ("unwritten", "tl.store(parts + g * n + c, total, mask=c < n)", "tl.store(parts + g * n + c, total, mask=c < n - 1)"),
    ("dtype too low", "parts = torch.empty(groups, n, device=\"cuda\")", "parts = torch.empty(groups, n, device=\"cuda\", dtype=torch.bfloat16)"),
]
