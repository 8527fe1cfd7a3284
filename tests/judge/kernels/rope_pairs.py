"""Rotary positions of neighbouring elements, by tables and the positions of tokens."""
import torch
import triton
import triton.language as tl


@triton.jit
def rope_pairs(x, cos, sin, positions, o, H, D, B: tl.constexpr):
    token = tl.program_id(0)
    head = tl.program_id(1)
    i = tl.arange(0, B)
    inside = i < D
    p = tl.load(positions + token)
    base = (token * H + head) * 2 * D
    a = tl.load(x + base + 2 * i, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(x + base + 2 * i + 1, mask=inside, other=0.0).to(tl.float32)
    c = tl.load(cos + p * D + i, mask=inside, other=0.0)
    s = tl.load(sin + p * D + i, mask=inside, other=0.0)
    tl.store(o + base + 2 * i, a * c - b * s, mask=inside)
    tl.store(o + base + 2 * i + 1, b * c + a * s, mask=inside)


def call(x, cos, sin, positions):
    T, H, D = x.shape
    o = torch.empty_like(x)
    rope_pairs[(T, H)](x, cos, sin, positions, o, H, D // 2, B=64)
    return o


BUGS = [
    ("wrong index", "cos + p * D", "cos + token * D"),
    ("wrong formula", "a * c - b * s", "a * c + b * s"),
    ("wrong formula", "b * c + a * s", "a * c + b * s"),
    ("mask missing", "tl.store(o + base + 2 * i, a * c - b * s, mask=inside)", "tl.store(o + base + 2 * i, a * c - b * s)"),
    ("stride", "(token * H + head) * 2 * D", "(token + head) * 2 * D"),
    ("dtype too low", "b * c + a * s, mask", "(b * c + a * s).to(tl.bfloat16), mask"),
    ("grid", "[(T, H)]", "[(T, max(1, H - 1))]"),
    ("hard-coded size", "B=64)", "B=32)"),
]
EQUIVALENT = [("a * c - b * s, mask", "-b * s + a * c, mask")]
