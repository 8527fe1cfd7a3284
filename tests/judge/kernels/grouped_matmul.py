"""Rows in groups, each times the matrix of its group: offsets say where a group ends; tiles of a group are found by each block."""
import torch
import triton
import triton.language as tl


@triton.jit
def grouped_kernel(x_ptr, w_ptr, end_ptr, o_ptr, K, N, G, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile = tl.program_id(0)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    begin = 0
    for g in range(G):
        end = tl.load(end_ptr + g)
        tiles = (end - begin + BM - 1) // BM
        if (tile >= 0) & (tile < tiles):
            row = begin + tile * BM + tl.arange(0, BM)
            acc = tl.zeros((BM, BN), tl.float32)
            for start in range(0, K, BK):
                k = start + tl.arange(0, BK)
                x = tl.load(x_ptr + row[:, None] * K + k[None, :], mask=(row < end)[:, None] & (k < K)[None, :], other=0.0)
                w = tl.load(w_ptr + (g * K + k[:, None]) * N + column[None, :], mask=(k < K)[:, None] & (column < N)[None, :], other=0.0)
                acc = tl.dot(x, w, acc)
            tl.store(o_ptr + row[:, None] * N + column[None, :], acc.to(tl.float16), mask=(row < end)[:, None] & (column < N)[None, :])
        tile -= tiles
        begin = end


def reference(x, w, ends):
    m, k = x.shape
    g, _, n = w.shape
    o = torch.zeros((m, n), dtype=x.dtype, device=x.device)
    grouped_kernel[(triton.cdiv(m, 16) + g, triton.cdiv(n, 32))](x, w, ends, o, k, n, g, BM=16, BN=32, BK=32)
    return o


BUGS = [
    ("race", "acc.to(tl.float16), mask=(row < end)[:, None] & (column < N)[None, :]",
     "acc.to(tl.float16), mask=(column < N)[None, :] & (row < end + 1)[:, None]"),
    ("grid", "triton.cdiv(m, 16) + g,", "triton.cdiv(m, 16),"),
    ("index", "(g * K + k[:, None]) * N", "((g % 3) * K + k[:, None]) * N"),
    ("init", "o = torch.zeros((m, n)", "o = torch.empty((m, n)"),
    ("accumulator", "acc = tl.dot(x, w, acc)", "acc = tl.dot(x, w, acc).to(tl.bfloat16).to(tl.float32)"),
]
EQUIVALENT = [("acc = tl.dot(x, w, acc)", "acc += tl.dot(x, w)"), ("BN=32, BK=32", "BN=32, BK=16")]
