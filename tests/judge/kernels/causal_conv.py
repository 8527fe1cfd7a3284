"""A causal convolution of four taps for each channel, with a bias and silu."""
import torch
import triton
import triton.language as tl


@triton.jit
def causal_conv(x, w, bias, o, C, T, B: tl.constexpr):
    row = tl.program_id(0)
    channel = row % C
    t = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros([B], tl.float32) + tl.load(bias + channel)
    for k in range(4):
        at = t + k - 3
        v = tl.load(x + row * T + at, mask=(at >= 0) & (at < T), other=0.0)
        acc += v * tl.load(w + channel * 4 + k)
    tl.store(o + row * T + t, acc * tl.sigmoid(acc), mask=t < T)


def call(x, w, bias):
    N, C, T = x.shape
    o = torch.empty(N, C, T, device="cuda")
    causal_conv[(N * C, triton.cdiv(T, 32))](x, w, bias, o, C, T, B=32)
    return o


BUGS = [
    ("wrong index", "at = t + k - 3", "at = t + k - 2"),
    ("wrong index", "at = t + k - 3", "at = t - k"),
    ("mask missing", "mask=(at >= 0) & (at < T)", "mask=at < T"),
    ("stride", "channel = row % C", "channel = row // C"),
    ("grid", "triton.cdiv(T, 32))", "max(1, T // 32))"),
    ("wrong formula", "acc * tl.sigmoid(acc)", "tl.sigmoid(acc)"),
    ("mask missing", "acc * tl.sigmoid(acc), mask=t < T)", "acc * tl.sigmoid(acc))"),
    ("wrong other", "(at < T), other=0.0)", "(at < T))"),
]
EQUIVALENT = [("mask=(at >= 0) & (at < T)", "mask=(at >= 0) & (t < T)")]
