"""A sparse matrix by rows times a vector, plus beta times another vector: a block for some rows, lanes go along a row."""
import torch
import triton
import triton.language as tl


@triton.jit
def csr_kernel(ptr, index, value, x_ptr, y_ptr, o_ptr, beta, m, R: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0) * R + tl.arange(0, R)
    live = row < m
    begin = tl.load(ptr + row, mask=live, other=0)
    end = tl.load(ptr + row + 1, mask=live, other=0)
    longest = tl.max(end - begin, 0)
    total = tl.zeros((R, B), tl.float32)
    for step in range(0, longest, B):
        at = begin[:, None] + step + tl.arange(0, B)[None, :]
        inside = at < end[:, None]
        column = tl.load(index + at, mask=inside, other=0)
        total += tl.load(value + at, mask=inside, other=0.0) * tl.load(x_ptr + column, mask=inside, other=0.0)
    y = tl.load(y_ptr + row, mask=live, other=0.0)
    tl.store(o_ptr + row, tl.sum(total, 1) + beta * y, mask=live)


def reference(ptr, index, value, x, y, beta):
    m = y.shape[0]
    o = torch.empty(m, device=x.device, dtype=x.dtype)
    csr_kernel[(triton.cdiv(m, 8),)](ptr, index, value, x, y, o, beta, m, R=8, B=16)
    return o


BUGS = [
    ("off by one", "inside = at < end[:, None]", "inside = at < end[:, None] - 1"),
    ("loop", "range(0, longest, B)", "range(0, tl.minimum(longest, B), B)"),
    ("mask", "end = tl.load(ptr + row + 1, mask=live, other=0)", "end = tl.load(ptr + row + 1)"),
    ("wrong formula", "longest = tl.max(end - begin, 0)", "longest = tl.sum(tl.where(tl.arange(0, R) == 0, end - begin, 0), 0)"),
    ("argument", "tl.sum(total, 1) + beta * y", "tl.sum(total, 1) + 0.5 * y"),
]
EQUIVALENT = [("R=8, B=16", "R=8, B=32"), ("longest = tl.max(end - begin, 0)", "longest = tl.max(end, 0) - tl.min(begin, 0)")]
