"""Causal depthwise convolution: o[c, t] = sum of w[c, k] x[c, t - K + 1 + k]."""
import torch
import triton
import triton.language as tl


@triton.jit
def conv(x, w, o, T, K, B: tl.constexpr):
    c = tl.program_id(0)
    t = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros([B], tl.float32)
    for k in range(K):
        at = t - K + 1 + k
        acc += tl.load(w + c * K + k) * tl.load(x + c * T + at, mask=(at >= 0) & (at < T), other=0.0)
    tl.store(o + c * T + t, acc, mask=t < T)


def call(x, w):
    C, T = x.shape
    o = torch.empty_like(x)
    conv[(C, triton.cdiv(T, 32))](x, w, o, T, w.shape[1], B=32)
    return o


CASES = {"friendly": [(4, 64, 4)], "odd": [(1, 1, 1), (3, 33, 4), (2, 50, 3), (5, 7, 2)]}
BOUND = 1e-5


def inputs(C, T, K):
    return torch.randn(C, T, device="cuda"), torch.randn(C, K, device="cuda")


def expected(x, w):
    K = w.shape[1]
    return torch.nn.functional.conv1d(torch.nn.functional.pad(x, (K - 1, 0))[None], w[:, None], groups=x.shape[0])[0]


BUGS = [
    ("mask missing", "mask=(at >= 0) & (at < T)", "mask=at < T"),
    ("mask missing", "mask=(at >= 0) & (at < T)", "mask=at >= 0"),
    ("mask missing", "tl.store(o + c * T + t, acc, mask=t < T)", "tl.store(o + c * T + t, acc)"),
    ("off by one", "at = t - K + 1 + k", "at = t - K + k"),
    ("hard-coded size", "for k in range(K):", "for k in range(4):"),
    ("stride", "w + c * K + k", "w + c * 4 + k"),
    ("grid", "(C, triton.cdiv(T, 32))", "(C, 2)"),
    ("wrong other", "(at < T), other=0.0)", "(at < T))"),
    ("stride", "tl.load(x + c * T + at", "tl.load(x + c * B + at"),
    ("wrong formula", "w + c * K + k)", "w + c * K + K - 1 - k)"),
]
