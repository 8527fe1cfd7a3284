"""Attention with an online softmax; keys may end within a block."""
import torch
import triton
import triton.language as tl


@triton.jit
def attention(q, k, v, o, scale, M, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1)
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + head * M * D + i[:, None] * D + d[None, :], mask=i[:, None] < M, other=0.0)
    top = tl.full([BM], float("-inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for start in range(0, N, BN):
        j = start + tl.arange(0, BN)
        key = tl.load(k + head * N * D + j[None, :] * D + d[:, None], mask=j[None, :] < N, other=0.0)
        s = tl.dot(query, key) * scale
        s = tl.where(j[None, :] < N, s, float("-inf"))
        now = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - now[:, None])
        old = tl.exp(top - now)
        total = total * old + tl.sum(p, 1)
        value = tl.load(v + head * N * D + j[:, None] * D + d[None, :], mask=j[:, None] < N, other=0.0)
        acc = acc * old[:, None] + tl.dot(p.to(tl.float16), value)
        top = now
    tl.store(o + head * M * D + i[:, None] * D + d[None, :], acc / total[:, None], mask=i[:, None] < M)


def call(q, k, v):
    H, M, D = q.shape
    N = k.shape[1]
    o = torch.empty(H, M, D, device="cuda")
    attention[(triton.cdiv(M, 32), H)](q, k, v, o, D ** -0.5, M, N, D=D, BM=32, BN=32)
    return o


CASES = {"friendly": [(2, 64, 64)], "odd": [(1, 1, 1), (2, 33, 40), (3, 20, 65), (1, 70, 31)]}
BOUND = 2e-2


def inputs(H, M, N):
    return tuple(torch.randn(H, size, 32, device="cuda").half() for size in (M, N, N))


def expected(q, k, v):
    return torch.softmax(q @ k.transpose(1, 2) * q.shape[2] ** -0.5, 2) @ v


BUGS = [
    ("numerics", "        s = tl.where(j[None, :] < N, s, float(\"-inf\"))\n", ""),
    ("wrong other", "mask=j[:, None] < N, other=0.0)", "mask=j[:, None] < N)"),
    ("mask missing", "d[:, None], mask=j[None, :] < N, other=0.0)", "d[:, None])"),
    ("mask missing", "d[None, :], mask=i[:, None] < M, other=0.0)", "d[None, :])"),
    ("mask missing", "acc / total[:, None], mask=i[:, None] < M)", "acc / total[:, None])"),
    ("numerics", "acc = acc * old[:, None] +", "acc = acc +"),
    ("stride", "k + head * N * D", "k + head * M * D"),
    ("stride", "v + head * N * D", "v + head * D"),
    ("grid", "(triton.cdiv(M, 32), H)", "(triton.cdiv(M, 32), 1)"),
    ("size no multiple", "for start in range(0, N, BN):", "for start in range(0, N - BN + 1, BN):"),
    ("wrong formula", "s = tl.dot(query, key) * scale", "s = tl.dot(query, key)"),
    ("numerics", "total = total * old + tl.sum(p, 1)", "total = total + tl.sum(p, 1)"),
]
