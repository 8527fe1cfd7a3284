"""Sorts each row and gives the old places, by counting what comes before each element; equal elements keep their order."""
import torch
import triton
import triton.language as tl


@triton.jit
def sort_kernel(x_ptr, o_ptr, p_ptr, n, sx0, sx1, B: tl.constexpr, T: tl.constexpr):
    row = tl.program_id(0)
    i = tl.program_id(1) * B + tl.arange(0, B)
    mine = tl.load(x_ptr + row * sx0 + i * sx1, mask=i < n, other=0)
    rank = tl.zeros((B,), tl.int32)
    for begin in range(0, n, T):
        j = begin + tl.arange(0, T)
        other = tl.load(x_ptr + row * sx0 + j * sx1, mask=j < n, other=0)
        before = (other[None, :] < mine[:, None]) | ((other[None, :] == mine[:, None]) & (j[None, :] < i[:, None]))
        rank += tl.sum((before & (j < n)[None, :]).to(tl.int32), 1)
    tl.store(o_ptr + row * n + rank, mine, mask=i < n)
    tl.store(p_ptr + row * n + rank, i, mask=i < n)


def reference(x):
    m, n = x.shape
    o = torch.empty((m, n), dtype=x.dtype, device=x.device)
    places = torch.empty((m, n), dtype=torch.int32, device=x.device)
    sort_kernel[(m, triton.cdiv(n, 32))](x, o, places, n, *x.stride(), B=32, T=16)
    return o, places


BUGS = [
    ("tie", "(j[None, :] < i[:, None])", "(j[None, :] > i[:, None])"),
    ("race", "((other[None, :] == mine[:, None]) & (j[None, :] < i[:, None]))", "(other[None, :] != other[None, :])"),
    ("mask", "(before & (j < n)[None, :])", "(before & (j <= n)[None, :])"),
    ("stride", "tl.load(x_ptr + row * sx0 + j * sx1, mask=j < n, other=0)", "tl.load(x_ptr + row * sx0 + j, mask=j < n, other=0)"),
    ("index", "tl.store(p_ptr + row * n + rank, i, mask=i < n)", "tl.store(p_ptr + row * n + i, rank, mask=i < n)"),
]
EQUIVALENT = [("B=32, T=16", "B=32, T=32"), ("(j[None, :] < i[:, None])", "(j[None, :] <= i[:, None] - 1)")]
