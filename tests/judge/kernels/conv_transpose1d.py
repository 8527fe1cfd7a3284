"""A transposed convolution of signals with a stride and padding."""
import torch
import triton
import triton.language as tl


@triton.jit
def deconv(x, w, b, y, CI, CO, L, LO, K, S, P, BL: tl.constexpr, BC: tl.constexpr):
    n = tl.program_id(0)
    co = tl.program_id(1) * BC + tl.arange(0, BC)
    lo = tl.program_id(2) * BL + tl.arange(0, BL)
    acc = tl.zeros([BC, BL], tl.float32)
    for k in range(0, K):
        t = lo + P - k
        l = t // S
        ok = (t >= 0) & (t % S == 0) & (l < L) & (lo < LO)
        for ci in range(0, CI):
            xv = tl.load(x + (n * CI + ci) * L + l, mask=ok, other=0.0)
            wv = tl.load(w + (ci * CO + co) * K + k, mask=co < CO, other=0.0)
            acc += wv[:, None] * xv[None, :]
    acc += tl.load(b + co, mask=co < CO, other=0.0)[:, None]
    tl.store(y + (n * CO + co[:, None]) * LO + lo[None, :], acc, mask=(co[:, None] < CO) & (lo[None, :] < LO))


def conv_transpose1d(x, w, b, stride, padding):
    N, CI, L = x.shape
    _, CO, K = w.shape
    LO = (L - 1) * stride - 2 * padding + K
    y = torch.empty(N, CO, LO, device=x.device, dtype=x.dtype)
    deconv[(N, triton.cdiv(CO, 4), triton.cdiv(LO, 32))](x, w, b, y, CI, CO, L, LO, K, stride, padding, BL=32, BC=4)
    return y


BUGS = [
    ("mask", "(t >= 0) & (t % S == 0) & (l < L)", "(t % S == 0) & (l < L)"),
    ("mask", "(t % S == 0) & (l < L) & (lo < LO)", "(l < L) & (lo < LO)"),
    ("formula", "t = lo + P - k", "t = lo - P - k"),
    ("formula", "t = lo + P - k", "t = lo + P - (K - 1 - k)"),
    ("stride", "w + (ci * CO + co) * K + k", "w + (co * CI + ci) * K + k"),
    ("size", "(L - 1) * stride - 2 * padding + K", "(L - 1) * stride - padding + K"),
    ("missing", "    acc += tl.load(b + co, mask=co < CO, other=0.0)[:, None]\n", ""),
    ("grid", "triton.cdiv(LO, 32))]", "triton.cdiv(L * stride, 32))]"),
    ("mask", "acc, mask=(co[:, None] < CO) & (lo[None, :] < LO))", "acc, mask=lo[None, :] < LO)"),
    ("off by one", "& (l < L) &", "& (l < L - 1) &"),
    ("loop", "for ci in range(0, CI):", "for ci in range(0, tl.minimum(CI, CO)):"),
]
EQUIVALENT = [("padding, BL=32, BC=4", "padding, BL=32, BC=4, num_warps=2"), ("wv[:, None] * xv[None, :]", "xv[None, :] * wv[:, None]")]
