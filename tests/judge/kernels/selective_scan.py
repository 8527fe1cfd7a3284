"""h = exp(delta * A) h + delta * B * u; y = C h + D u (Mamba), a block of channels at a time."""
import torch
import triton
import triton.language as tl


@triton.jit
def scan_kernel(u, delta, A, Bm, Cm, Dv, y, L, D, N: tl.constexpr, BD: tl.constexpr):
    b = tl.program_id(0)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    s = tl.arange(0, N)
    live = d < D
    a = tl.load(A + d[:, None] * N + s[None, :], mask=live[:, None], other=0.0)
    skip = tl.load(Dv + d, mask=live, other=0.0)
    h = tl.zeros([BD, N], tl.float32)
    for t in range(0, L):
        at = (b * L + t) * D + d
        ut = tl.load(u + at, mask=live, other=0.0)
        dt = tl.load(delta + at, mask=live, other=0.0)
        dt = tl.where(dt <= 20.0, tl.log(1.0 + tl.exp(dt)), dt)
        bt = tl.load(Bm + (b * L + t) * N + s)
        ct = tl.load(Cm + (b * L + t) * N + s)
        h = tl.exp(dt[:, None] * a) * h + (dt * ut)[:, None] * bt[None, :]
        tl.store(y + at, tl.sum(h * ct[None, :], 1) + skip * ut, mask=live)


def selective_scan(u, delta, A, B, C, D):
    batch, L, channels = u.shape
    y = torch.empty_like(u)
    scan_kernel[(batch, triton.cdiv(channels, 8))](u, delta, A, B, C, D, y, L, channels, N=A.shape[1], BD=8)
    return y


BUGS = [
    ("formula", "tl.exp(dt[:, None] * a) * h", "tl.exp(a) * h"),
    ("formula", "+ skip * ut", "+ skip"),
    ("numerics", "tl.where(dt <= 20.0, tl.log(1.0 + tl.exp(dt)), dt)", "tl.log(1.0 + tl.exp(dt))"),
    ("stride", "ct = tl.load(Cm + (b * L + t) * N + s)", "ct = tl.load(Cm + t * N + s)"),
    ("missing", "        dt = tl.where(dt <= 20.0, tl.log(1.0 + tl.exp(dt)), dt)\n", ""),
    ("mask", "+ skip * ut, mask=live)", "+ skip * ut)"),
    ("loop", "for t in range(0, L):", "for t in range(0, min(L, 32)):"),
    ("carry", "h = tl.exp(dt[:, None] * a) * h +", "h = tl.exp(dt[:, None] * a) +"),
    ("grid", "triton.cdiv(channels, 8)", "max(1, channels // 8)"),
    ("precision", "(dt * ut)[:, None] * bt[None, :]\n", "(dt * ut)[:, None] * bt[None, :]\n        h = h.to(tl.bfloat16).to(tl.float32)\n"),
    ("stride", "a = tl.load(A + d[:, None] * N + s[None, :]", "a = tl.load(A + d[:, None] + s[None, :] * D"),
    ("off by one", "bt = tl.load(Bm + (b * L + t) * N + s)", "bt = tl.load(Bm + (b * L + tl.maximum(t - 1, 0)) * N + s)"),
]
EQUIVALENT = [("N=A.shape[1], BD=8", "N=A.shape[1], BD=8, num_warps=1"), ("(dt * ut)[:, None] * bt[None, :]", "dt[:, None] * bt[None, :] * ut[:, None]")]
