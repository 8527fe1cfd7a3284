"""Triton's interpreter (TRITON_INTERPRET=1) on the work of the examples: the same tiles, one block after the other.

It takes seconds where the VM takes milliseconds, so most kernels get a part of the data and the time is scaled up;
every peer says by how much. Sizes divide the tiles, so nothing is masked: less work for the interpreter than for the
VM.

Importing this module fails with ImportError where torch or Triton is missing.
"""

import os

os.environ["TRITON_INTERPRET"] = "1"  # Read when Triton is imported.

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(a, b, c, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(c + i, tl.load(a + i) + tl.load(b + i))


@triton.jit
def matmul_kernel(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(1) * M + tl.arange(0, M)[:, None]
    columns = tl.program_id(0) * N + tl.arange(0, N)[None, :]
    inner = tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.float32)
    for first in range(0, k, K):
        x = tl.load(a + rows * k + (first + inner)[None, :])
        y = tl.load(b + (first + inner)[:, None] * n + columns)
        total = tl.dot(x, y, total)
    tl.store(c + rows * n + columns, total)


@triton.jit
def softmax_kernel(x, y, n, ROWS: tl.constexpr, SIZE: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = rows[:, None] * n + tl.arange(0, SIZE)[None, :]
    row = tl.load(x + at)
    power = tl.exp(row - tl.max(row, axis=1)[:, None])
    tl.store(y + at, power / tl.sum(power, axis=1)[:, None])


@triton.jit
def layer_norm_kernel(x, weight, bias, y, n, epsilon, SIZE: tl.constexpr):
    column = tl.arange(0, SIZE)
    at = tl.program_id(0) * n + column
    row = tl.load(x + at)
    centred = row - tl.sum(row, axis=0) / n
    factor = tl.rsqrt(tl.sum(centred * centred, axis=0) / n + epsilon)
    tl.store(y + at, centred * factor * tl.load(weight + column) + tl.load(bias + column))


@triton.jit
def transpose_kernel(x, y, m, n, SIZE: tl.constexpr):
    rows = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    columns = tl.program_id(1) * SIZE + tl.arange(0, SIZE)
    tile = tl.load(x + rows[:, None] * n + columns[None, :])
    tl.store(y + columns[:, None] * m + rows[None, :], tl.trans(tile))


@triton.jit
def histogram_kernel(data, bins, SIZE: tl.constexpr, TILES: tl.constexpr):
    counts = tl.zeros((256,), dtype=tl.int32)
    for tile in range(TILES):
        i = (tl.program_id(0) * TILES + tile) * SIZE + tl.arange(0, SIZE)
        counts += tl.histogram(tl.load(data + i).to(tl.int32), 256)
    tl.atomic_add(bins + tl.arange(0, 256), counts)


@triton.jit
def attention_kernel(q, k, v, y, keys, scale, QUERIES: tl.constexpr, KEYS: tl.constexpr, SIZE: tl.constexpr):
    lane = tl.arange(0, SIZE)[None, :]
    mine = (tl.program_id(0) * QUERIES + tl.arange(0, QUERIES))[:, None] * SIZE + lane
    query = tl.load(q + mine) * scale
    greatest = tl.full((QUERIES,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((QUERIES,), dtype=tl.float32)
    result = tl.zeros((QUERIES, SIZE), dtype=tl.float32)
    for first in range(0, keys, KEYS):
        theirs = (first + tl.arange(0, KEYS))[:, None] * SIZE + lane
        score = tl.dot(query, tl.trans(tl.load(k + theirs)))
        next_greatest = tl.maximum(greatest, tl.max(score, axis=1))
        shrink = tl.exp(greatest - next_greatest)
        weight = tl.exp(score - next_greatest[:, None])
        total = total * shrink + tl.sum(weight, axis=1)
        result = tl.dot(weight, tl.load(v + theirs), result * shrink[:, None])
        greatest = next_greatest
    tl.store(y + mine, result / total[:, None])


def part(array, share):
    """The first 1/share of the rows."""
    return torch.from_numpy(array[: array.shape[0] // share])


def add(a, b):
    a, b = part(a, 16), part(b, 16)
    c = torch.empty_like(a)
    add_kernel[(a.numel() // 4096,)](a, b, c, SIZE=4096)
    return c


def matmul(a, b):
    a, b = part(a, 1), part(b, 1)
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n)
    matmul_kernel[(n // 128, m // 128)](a, b, c, n, k, M=128, N=128, K=64)
    return c


def softmax(x):
    x = part(x, 8)
    y = torch.empty_like(x)
    softmax_kernel[(x.shape[0] // 4,)](x, y, x.shape[1], ROWS=4, SIZE=4096)
    return y


def layer_norm(x, weight, bias):
    x, weight, bias = part(x, 8), part(weight, 1), part(bias, 1)
    y = torch.empty_like(x)
    layer_norm_kernel[(x.shape[0],)](x, weight, bias, y, x.shape[1], 1e-5, SIZE=4096)
    return y


def transpose(x):
    x = part(x, 16)
    m, n = x.shape
    y = torch.empty(n, m)
    transpose_kernel[(m // 128, n // 128)](x, y, m, n, SIZE=128)
    return y


def histogram(data):
    data = part(data, 16)
    bins = torch.zeros(256, dtype=torch.int32)
    histogram_kernel[(data.numel() // (4096 * 32),)](data, bins, SIZE=4096, TILES=32)
    return bins


def attention(q, k, v):
    q, k, v = part(q, 1), part(k, 1), part(v, 1)
    y = torch.empty_like(q)
    attention_kernel[(q.shape[1] // 128,)](q, k, v, y, k.shape[1], 0.125, QUERIES=128, KEYS=64, SIZE=64)
    return y


# Workload -> (function of the inputs, the whole work over the part that it does).
PEERS = {
    "matmul_f32": (matmul, 1),
    "softmax": (softmax, 8),
    "layer_norm": (layer_norm, 8),
    "vector_add": (add, 16),
    "transpose": (transpose, 16),
    "histogram": (histogram, 16),
    "attention": (attention, 1),
}
