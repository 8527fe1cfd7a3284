"""Batch norm in training: a block for each channel; the running mean and variance are changed in place."""
import torch
import triton
import triton.language as tl


@triton.jit
def norm_kernel(x_ptr, g_ptr, b_ptr, m_ptr, v_ptr, o_ptr, N, C, L, momentum, eps, B: tl.constexpr):
    c = tl.program_id(0)
    count = N * L
    total = tl.zeros((B,), tl.float32)
    for begin in range(0, count, B):
        i = begin + tl.arange(0, B)
        total += tl.load(x_ptr + (i // L * C + c) * L + i % L, mask=i < count, other=0.0)
    mean = tl.sum(total, 0) / count
    square = tl.zeros((B,), tl.float32)
    for begin in range(0, count, B):
        i = begin + tl.arange(0, B)
        d = tl.load(x_ptr + (i // L * C + c) * L + i % L, mask=i < count, other=0.0) - mean
        square += tl.where(i < count, d * d, 0.0)
    var = tl.sum(square, 0) / count
    scale = tl.load(g_ptr + c) / tl.sqrt(var + eps)
    bias = tl.load(b_ptr + c)
    for begin in range(0, count, B):
        i = begin + tl.arange(0, B)
        at = (i // L * C + c) * L + i % L
        v = tl.load(x_ptr + at, mask=i < count)
        tl.store(o_ptr + at, (v - mean) * scale + bias, mask=i < count)
    tl.store(m_ptr + c, (1 - momentum) * tl.load(m_ptr + c) + momentum * mean)
    tl.store(v_ptr + c, (1 - momentum) * tl.load(v_ptr + c) + momentum * var * count / (count - 1))


def reference(x, gain, bias, mean, var, momentum):
    n, c, length = x.shape
    o = torch.empty_like(x)
    norm_kernel[(c,)](x, gain, bias, mean, var, o, n, c, length, momentum, 1e-5, B=64)
    return o


BUGS = [
    ("wrong formula", "momentum * var * count / (count - 1)", "momentum * var"),
    ("exchanged", "(1 - momentum) * tl.load(m_ptr + c) + momentum * mean", "momentum * tl.load(m_ptr + c) + (1 - momentum) * mean"),
    ("mask", "square += tl.where(i < count, d * d, 0.0)", "square += d * d"),
    ("not changed", "    n, c, length = x.shape\n", "    n, c, length = x.shape\n    var = var.clone()\n"),
    ("argument", "n, c, length, momentum, 1e-5", "n, c, length, 0.1, 1e-5"),
]
EQUIVALENT = [("/ tl.sqrt(var + eps)", "* tl.rsqrt(var + eps)"),
              ("(1 - momentum) * tl.load(m_ptr + c) + momentum * mean", "tl.load(m_ptr + c) + momentum * (mean - tl.load(m_ptr + c))")]
