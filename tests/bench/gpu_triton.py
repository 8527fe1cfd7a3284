"""Triton kernels beside which gpu_peers.py times ours: written as Triton's users write them, each tuned over a few
configurations on the machine it runs on. Importing this module fails with ImportError where Triton is missing.
"""

import triton
import triton.language as tl
from triton.runtime.errors import OutOfResources  # noqa: F401  of a configuration: to be caught
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def attention_kernel(q, k, v, y, queries, keys, power, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, STAGES: tl.constexpr):
    """Scores are scaled after the product; powers are those of 2. Lengths are multiples of the tiles."""
    head = tl.program_id(1)
    first = head * queries + tl.program_id(0) * M
    query = q.load([first, 0])
    total = tl.zeros((M, D), tl.float32)
    greatest = tl.full((M,), float("-inf"), tl.float32)
    weights = tl.zeros((M,), tl.float32)
    for start in tl.range(0, keys, N, num_stages=STAGES):
        score = tl.dot(query, k.load([head * keys + start, 0]).T)
        new = tl.maximum(greatest, tl.max(score, 1) * power)
        weight = tl.exp2(score * power - new[:, None])
        shrink = tl.exp2(greatest - new)
        weights = weights * shrink + tl.sum(weight, 1)
        value = v.load([head * keys + start, 0])
        total = tl.dot(weight.to(value.dtype), value, total * shrink[:, None])
        greatest = new
    y.store([first, 0], (total / weights[:, None]).to(query.dtype))


def attention(q, k, v, y, scale):
    """Calls to choose from: y = softmax(q kᵀ · scale) v, all of shape [heads, length, size]."""
    heads, queries, size = q.shape
    keys = k.shape[1]
    for m, n, warps, stages in ((64, 64, 4, 3), (128, 64, 4, 3), (128, 64, 8, 3), (128, 128, 8, 2), (128, 128, 8, 3), (64, 128, 4, 2)):
        rows = [TensorDescriptor.from_tensor(x.view(-1, size), [block, size]) for x, block in ((q, m), (k, n), (v, n), (y, m))]
        yield lambda m=m, n=n, warps=warps, stages=stages, rows=rows: attention_kernel[(queries // m, heads)](
            *rows, queries, keys, scale * 1.4426950408889634, m, n, size, stages, num_warps=warps)


@triton.jit
def attention_causal_kernel(q, k, v, y, length, power, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, STAGES: tl.constexpr):
    """The same where a query sees the keys up to its own; blocks with most keys come first, the last keys are masked."""
    head = tl.program_id(1)
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * M
    query = q.load([head * length + first, 0])
    total = tl.zeros((M, D), tl.float32)
    greatest = tl.full((M,), float("-inf"), tl.float32)
    weights = tl.zeros((M,), tl.float32)
    rows = first + tl.arange(0, M)
    for masked in tl.static_range(2):
        for start in tl.range(first if masked else 0, first + M if masked else first, N, num_stages=STAGES):
            score = tl.dot(query, k.load([head * length + start, 0]).T)
            if masked:
                score = tl.where(rows[:, None] >= start + tl.arange(0, N)[None, :], score, float("-inf"))
            new = tl.maximum(greatest, tl.max(score, 1) * power)
            weight = tl.exp2(score * power - new[:, None])
            shrink = tl.exp2(greatest - new)
            weights = weights * shrink + tl.sum(weight, 1)
            value = v.load([head * length + start, 0])
            total = tl.dot(weight.to(value.dtype), value, total * shrink[:, None])
            greatest = new
    y.store([head * length + first, 0], (total / weights[:, None]).to(query.dtype))


def attention_causal(q, k, v, y, scale):
    heads, length, size = q.shape
    for m, n, warps, stages in ((128, 64, 8, 3), (128, 128, 8, 2), (128, 128, 8, 3), (64, 64, 4, 3), (128, 64, 4, 3)):
        rows = [TensorDescriptor.from_tensor(x.view(-1, size), [block, size]) for x, block in ((q, m), (k, n), (v, n), (y, m))]
        yield lambda m=m, n=n, warps=warps, stages=stages, rows=rows: attention_causal_kernel[(length // m, heads)](
            *rows, length, scale * 1.4426950408889634, m, n, size, stages, num_warps=warps)


@triton.jit
def scatter_add_kernel(index, values, table, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.atomic_add(table + tl.load(index + at), tl.load(values + at), sem="relaxed")


def scatter_add(index, values, table):
    for size, warps in ((1024, 4), (1024, 8), (4096, 8)):
        def call(size=size, warps=warps):
            table.zero_()
            scatter_add_kernel[(index.numel() // size,)](index, values, table, size, num_warps=warps)
        yield call


@triton.jit
def softmax_kernel(x, y, n: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * n + tl.arange(0, n)
    row = tl.load(x + at).to(tl.float32)
    power = tl.exp(row - tl.max(row, 0))
    tl.store(y + at, power / tl.sum(power, 0))


def softmax(x, y):
    for warps in (4, 8, 16):
        yield lambda warps=warps: softmax_kernel[(x.shape[0],)](x, y, x.shape[1], num_warps=warps)


@triton.jit
def layer_norm_kernel(x, weight, bias, y, epsilon, n: tl.constexpr):
    column = tl.arange(0, n)
    at = tl.program_id(0).to(tl.int64) * n + column
    row = tl.load(x + at).to(tl.float32)
    centred = row - tl.sum(row, 0) / n
    factor = tl.rsqrt(tl.sum(centred * centred, 0) / n + epsilon)
    tl.store(y + at, centred * factor * tl.load(weight + column) + tl.load(bias + column))


def layer_norm(x, weight, bias, y, epsilon):
    for warps in (4, 8, 16):
        yield lambda warps=warps: layer_norm_kernel[(x.shape[0],)](x, weight, bias, y, epsilon, x.shape[1], num_warps=warps)
