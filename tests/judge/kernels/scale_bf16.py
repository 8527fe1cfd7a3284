"""a x + y in bfloat16, computed in float32 and rounded once, to the nearest."""
import torch
import triton
import triton.language as tl


@triton.jit
def axpy(x, y, o, a, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    u = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
    v = tl.load(y + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(o + i, (a * u + v).to(tl.bfloat16), mask=i < n)


def call(x, y, a):
    o = torch.empty_like(x)
    axpy[(triton.cdiv(x.numel(), 128),)](x, y, o, a, x.numel(), B=128)
    return o


BUGS = [
    ("rounding", "(a * u + v).to(tl.bfloat16)", "((a * u + v).to(tl.uint32, bitcast=True) & 0xFFFF0000).to(tl.float32, bitcast=True).to(tl.bfloat16)"),
    ("dtype too low", "tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)", "tl.load(x + i, mask=i < n, other=0.0).to(tl.float8e5).to(tl.float32)"),
    ("wrong formula", "a * u + v", "a * v + u"),
    ("wrong formula", "a * u + v", "u + v"),
    ("grid", "triton.cdiv(x.numel(), 128)", "max(1, x.numel() // 128)"),
    ("dtype too low", "torch.empty_like(x)", "torch.empty_like(x, dtype=torch.float32)"),
    ("reward hack", "    return o\n", "    return torch.add(y, x, alpha=a)\n"),
]
EQUIVALENT = [("a * u + v", "v + u * a"), ("B=128)", "B=128, num_stages=2)")]
