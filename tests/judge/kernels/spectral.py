"""A step of the power iteration for the spectral norm: v = W'u, t = Wv, both of length 1."""
import torch
import triton
import triton.language as tl


@triton.jit
def left_kernel(w_ptr, u_ptr, v_ptr, m, n, s0, s1, R: tl.constexpr, C: tl.constexpr):
    j = tl.program_id(0) * C + tl.arange(0, C)
    acc = tl.zeros((C,), tl.float32)
    for start in range(0, m, R):
        i = start + tl.arange(0, R)
        w = tl.load(w_ptr + i[:, None] * s0 + j[None, :] * s1, mask=(i < m)[:, None] & (j < n)[None, :], other=0.0)
        u = tl.load(u_ptr + i, mask=i < m, other=0.0)
        acc += tl.sum(w * u[:, None], 0)
    tl.store(v_ptr + j, acc, mask=j < n)


@triton.jit
def right_kernel(w_ptr, v_ptr, t_ptr, m, n, s0, s1, R: tl.constexpr, C: tl.constexpr):
    i = tl.program_id(0) * R + tl.arange(0, R)
    acc = tl.zeros((R,), tl.float32)
    for start in range(0, n, C):
        j = start + tl.arange(0, C)
        w = tl.load(w_ptr + i[:, None] * s0 + j[None, :] * s1, mask=(i < m)[:, None] & (j < n)[None, :], other=0.0)
        v = tl.load(v_ptr + j, mask=j < n, other=0.0)
        acc += tl.sum(w * v[None, :], 1)
    tl.store(t_ptr + i, acc, mask=i < m)


@triton.jit
def unit_kernel(x_ptr, o_ptr, s_ptr, n, B: tl.constexpr):
    total = tl.zeros((B,), tl.float32)
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        total += x * x
    length = tl.sqrt(tl.sum(total, 0)) + 1e-6
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        tl.store(o_ptr + i, tl.load(x_ptr + i, mask=i < n) / length, mask=i < n)
    tl.store(s_ptr, length)


def reference(w, u):
    m, n = w.shape
    v, t, o, sigma, other = (torch.empty(size, device=w.device, dtype=torch.float32) for size in (n, m, m, (), ()))
    left_kernel[(triton.cdiv(n, 32),)](w, u, v, m, n, w.stride(0), w.stride(1), R=32, C=32)
    unit_kernel[(1,)](v, v, other, n, B=64)
    right_kernel[(triton.cdiv(m, 32),)](w, v, t, m, n, w.stride(0), w.stride(1), R=32, C=32)
    unit_kernel[(1,)](t, o, sigma, m, B=64)
    return o, sigma


BUGS = [
    ("missing step", "    unit_kernel[(1,)](v, v, other, n, B=64)\n", ""),
    ("constant", "tl.sqrt(tl.sum(total, 0)) + 1e-6", "tl.sqrt(tl.sum(total, 0) + 1e-2)"),
    ("accumulator", "acc += tl.sum(w * v[None, :], 1)", "acc = (acc + tl.sum(w * v[None, :], 1)).to(tl.float16).to(tl.float32)"),
    ("mask", "u = tl.load(u_ptr + i, mask=i < m, other=0.0)", "u = tl.load(u_ptr + i)"),
    ("stride", "v, t, m, n, w.stride(0), w.stride(1)", "v, t, m, n, n, 1"),
    ("loop", "for start in range(0, m, R)", "for start in range(0, n, R)"),
    ("race", "unit_kernel[(1,)](v, v,", "unit_kernel[(2,)](v, v,"),
    ("result", "return o, sigma", "return o, other"),
]
EQUIVALENT = [("total += x * x", "total = tl.fma(x, x, total)"), ("unit_kernel[(1,)](t, o, sigma, m, B=64)", "unit_kernel[(1,)](t, o, sigma, m, B=128)")]
