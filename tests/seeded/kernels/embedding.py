"""Rows of a table by index; an index of -1 gives zeros."""
import torch
import triton
import triton.language as tl


@triton.jit
def embedding(table, index, o, n, width, BI: tl.constexpr, BW: tl.constexpr):
    i = tl.program_id(0) * BI + tl.arange(0, BI)
    at = tl.load(index + i, mask=i < n, other=-1)
    for start in range(0, width, BW):
        c = start + tl.arange(0, BW)
        there = (at[:, None] >= 0) & (c[None, :] < width)
        v = tl.load(table + at[:, None] * width + c[None, :], mask=there, other=0.0)
        tl.store(o + i[:, None] * width + c[None, :], v, mask=(i[:, None] < n) & (c[None, :] < width))


def call(table, index):
    n, width = index.numel(), table.shape[1]
    o = torch.empty(n, width, device="cuda")
    embedding[(triton.cdiv(n, 8),)](table, index, o, n, width, BI=8, BW=16)
    return o


CASES = {"friendly": [(20, 32, 16, False)], "odd": [(1, 1, 1, True), (10, 17, 9, True), (5, 40, 20, True), (7, 15, 8, False)]}
BOUND = 0


def inputs(rows, width, n, missing):
    index = torch.randint(0, rows, (n,), device="cuda")
    if missing:
        index[n // 2] = -1
    return torch.randn(rows, width, device="cuda"), index


def expected(table, index):
    return torch.where(index[:, None] >= 0, table[index.clamp(min=0)], 0.0)


BUGS = [
    ("mask missing", "there = (at[:, None] >= 0) & (c[None, :] < width)", "there = c[None, :] < width"),
    ("mask missing", "there = (at[:, None] >= 0) & (c[None, :] < width)", "there = at[:, None] >= 0"),
    ("wrong other", "mask=there, other=0.0)", "mask=there)"),
    ("wrong other", "mask=i < n, other=-1)", "mask=i < n)"),
    ("mask missing", "mask=(i[:, None] < n) & (c[None, :] < width))", "mask=i[:, None] < n)"),
    ("mask missing", "mask=(i[:, None] < n) & (c[None, :] < width))", "mask=c[None, :] < width)"),
    ("size no multiple", "range(0, width, BW)", "range(0, width // BW * BW, BW)"),
    ("stride", "table + at[:, None] * width", "table + at[:, None] * n"),
]
