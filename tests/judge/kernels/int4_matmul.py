"""Activations of 16 bits times weights of 4 bits, two in a byte, with a scale for each 32 of a column."""
import torch
import triton
import triton.language as tl


@triton.jit
def int4_matmul(x, w, scales, o, M, N, K, G: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    r = tl.arange(0, G)
    acc = tl.zeros([BM, BN], tl.float32)
    for g in range(0, K // G):
        k = g * G + r
        a = tl.load(x + i[:, None] * K + k[None, :], mask=i[:, None] < M, other=0.0)
        byte = tl.load(w + (k // 2)[:, None] * N + j[None, :], mask=j[None, :] < N, other=0).to(tl.int32)
        nibble = (byte >> ((k % 2) * 4)[:, None]) & 15
        s = tl.load(scales + g * N + j, mask=j < N, other=0.0)
        acc += tl.dot(a, (nibble - 8).to(tl.float16)) * s[None, :]
    tl.store(o + i[:, None] * N + j[None, :], acc, mask=(i[:, None] < M) & (j[None, :] < N))


def call(x, w, scales):
    M, K = x.shape
    N = w.shape[1]
    o = torch.empty(M, N, device="cuda")
    int4_matmul[(triton.cdiv(M, 16), triton.cdiv(N, 32))](x, w, scales, o, M, N, K, G=32, BM=16, BN=32)
    return o


BUGS = [
    ("wrong formula", "((k % 2) * 4)", "((1 - k % 2) * 4)"),
    ("wrong formula", "nibble - 8", "nibble - 7"),
    ("wrong formula", "& 15", "& 7"),
    ("stride", "scales + g * N + j", "scales + j"),
    ("size no multiple", "range(0, K // G)", "range(0, K // (2 * G))"),
    ("mask missing", "mask=j[None, :] < N, other=0).to", "mask=j[None, :] < N + 1, other=0).to"),
    ("grid", "triton.cdiv(N, 32))]", "max(1, N // 32))]"),
    ("dtype too low", "acc += tl.dot(a, (nibble - 8).to(tl.float16)) * s[None, :]",
     "acc += (tl.dot(a, (nibble - 8).to(tl.float16)) * s[None, :]).to(tl.float16)"),
]
EQUIVALENT = [("BM=16, BN=32)", "BM=32, BN=32)")]
