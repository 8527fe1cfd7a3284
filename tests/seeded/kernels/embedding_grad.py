"""The gradient of an embedding: rows of g are added to the rows of a table, several to one row."""
import torch
import triton
import triton.language as tl


@triton.jit
def add_rows(g, rows, table, n, width, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    row = tl.load(rows + r, mask=r < n, other=0)
    inside = (r < n)[:, None] & (c < width)[None, :]
    v = tl.load(g + r[:, None] * width + c[None, :], mask=inside, other=0.0)
    tl.atomic_add(table + row[:, None] * width + c[None, :], v, mask=inside, sem="relaxed")


def call(g, rows, size):
    n, width = g.shape
    table = torch.zeros(size, width, device="cuda")
    add_rows[(triton.cdiv(n, 16), triton.cdiv(width, 16))](g, rows, table, n, width, BM=16, BN=16)
    return table


CASES = {"friendly": [(32, 32, 8)], "odd": [(1, 1, 1), (7, 33, 19), (50, 5, 4)]}
BOUND = 1e-4


def inputs(n, width, size):
    return torch.randn(n, width, device="cuda"), torch.randint(0, size, (n,), device="cuda"), size


def expected(g, rows, size):
    return torch.zeros(size, g.shape[1], device="cuda", dtype=g.dtype).index_add_(0, rows, g)


BUGS = [
    ("missing atomic", "tl.atomic_add(table + row[:, None] * width + c[None, :], v, mask=inside, sem=\"relaxed\")",
     "tl.store(table + row[:, None] * width + c[None, :], v, mask=inside)"),
    ("missing atomic", "    tl.atomic_add(table + row[:, None] * width + c[None, :], v, mask=inside, sem=\"relaxed\")",
     "    at = table + row[:, None] * width + c[None, :]\n    tl.store(at, tl.load(at, mask=inside, other=0.0) + v, mask=inside)"),
    ("empty", "torch.zeros(size, width, device", "torch.empty(size, width, device"),
    ("mask missing", "v, mask=inside, sem", "v, mask=(r < n)[:, None], sem"),
    ("mask missing", "row = tl.load(rows + r, mask=r < n, other=0)", "row = tl.load(rows + r)"),
    ("stride", "table + row[:, None] * width", "table + row[:, None] * BN"),
    ("past the end", "table + row[:, None] * width", "table + (row + 1)[:, None] * width"),
    ("grid", "triton.cdiv(width, 16))]", "width // 16)]"),
    ("dimensions exchanged", "table + row[:, None] * width + c[None, :]", "table + row[:, None] + c[None, :] * width"),
]
