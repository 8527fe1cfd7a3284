"""max(x, 0) + 1 in place, and nothing is returned."""
import triton
import triton.language as tl


@triton.jit
def relu(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(x + i, tl.maximum(v, 0.0) + 1.0, mask=i < n)


def call(x):
    relu[(triton.cdiv(x.numel(), 32),)](x, x.numel(), B=32)


BUGS = [
    ("wrong formula", "tl.maximum(v, 0.0)", "tl.minimum(v, 0.0)"),
    ("aliasing", "(x, x.numel(), B=32)", "(x.clone(), x.numel(), B=32)"),
    ("grid", "triton.cdiv(x.numel(), 32)", "max(1, x.numel() // 32)"),
    ("mask missing", "1.0, mask=i < n)", "1.0)"),
    ("stride", "tl.program_id(0) * B", "tl.program_id(0) * (B - 1)"),
    ("reward hack", "    relu[(triton", "    x.clamp_(min=0).add_(1)\n    return\n    relu[(triton"),
]
EQUIVALENT = [("B=32)", "B=16 + 16)"), ("tl.maximum(v, 0.0) + 1.0", "tl.where(v > 0.0, v + 1.0, 1.0)"),
              ("triton.cdiv(x.numel(), 32)", "triton.cdiv(x.numel(), 16)")]
