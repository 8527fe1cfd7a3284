"""Grouped-query attention with a causal window and a soft cap of scores."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def window_kernel(q, k, v, o, T, H, HK, scale, cap, WINDOW: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    b = tl.program_id(2)
    h = tl.program_id(1)
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    hk = h // (H // HK)
    d = tl.arange(0, D)
    qv = tl.load(q + ((b * H + h) * T + i[:, None]) * D + d[None, :], mask=i[:, None] < T, other=0.0)
    m = tl.full([BM], -1.0e30, tl.float32)
    l = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    first = tl.maximum(tl.program_id(0) * BM - WINDOW + 1, 0) // BN * BN
    for start in range(first, tl.minimum(T, (tl.program_id(0) + 1) * BM), BN):
        j = start + tl.arange(0, BN)
        kv = tl.load(k + ((b * HK + hk) * T + j[:, None]) * D + d[None, :], mask=j[:, None] < T, other=0.0)
        s = tl.dot(qv, tl.trans(kv), input_precision="ieee") * scale
        t = tl.exp(-2 * tl.abs(s / cap))
        th = (1 - t) / (1 + t)
        s = cap * tl.where(s < 0, -th, th)
        keep = (j[None, :] <= i[:, None]) & (i[:, None] - j[None, :] < WINDOW) & (j[None, :] < T)
        s = tl.where(keep, s, -1.0e30)
        now = tl.maximum(m, tl.max(s, 1))
        p = tl.where(keep, tl.exp(s - now[:, None]), 0.0)
        a = tl.exp(m - now)
        l = l * a + tl.sum(p, 1)
        vv = tl.load(v + ((b * HK + hk) * T + j[:, None]) * D + d[None, :], mask=j[:, None] < T, other=0.0)
        acc = acc * a[:, None] + tl.dot(p, vv, input_precision="ieee")
        m = now
    tl.store(o + ((b * H + h) * T + i[:, None]) * D + d[None, :], acc / l[:, None], mask=i[:, None] < T)


class ModelNew(nn.Module):
    def __init__(self, window, cap):
        super().__init__()
        self.window, self.cap = window, cap

    def forward(self, q, k, v):
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        B, H, T, D = q.shape
        o = torch.empty_like(q)
        window_kernel[(triton.cdiv(T, 16), H, B)](q, k, v, o, T, H, k.shape[1], D ** -0.5, self.cap, WINDOW=self.window, D=D, BM=16, BN=16)
        return o


BUGS = [
    ("mask", "(i[:, None] - j[None, :] < WINDOW)", "(i[:, None] - j[None, :] <= WINDOW)"),
    ("mask", "(j[None, :] <= i[:, None]) &", "(j[None, :] < i[:, None] + 2) &"),
    ("index", "hk = h // (H // HK)", "hk = h % HK"),
    ("loop", "- WINDOW + 1, 0) // BN * BN", "- WINDOW + 1, 0) // BN * BN + BN * (tl.program_id(0) > 2)"),
    ("formula", "cap * tl.where(s < 0, -th, th)", "cap * tl.where(s < 0, th, th)"),
    ("missing", "        s = cap * tl.where(s < 0, -th, th)\n", ""),
    ("rescale", "l = l * a + tl.sum(p, 1)", "l = l + tl.sum(p, 1)"),
    ("stride", "v + ((b * HK + hk) * T", "v + ((b * H + hk) * T"),
    ("grid", "(triton.cdiv(T, 16), H, B)", "(max(T // 16, 1), H, B)"),
    ("hard-coded size", "WINDOW=self.window", "WINDOW=16"),
]
EQUIVALENT = [
    ("BM=16, BN=16", "BM=16, BN=32"),
    ("acc / l[:, None]", "acc * (1.0 / l[:, None])"),
    ("m = tl.full([BM], -1.0e30, tl.float32)", "m = tl.full([BM], -1.0e20, tl.float32)"),
]
