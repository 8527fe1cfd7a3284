"""Rotary positions, in place: halves of each head are turned by an angle for each position."""
import torch
import triton
import triton.language as tl


@triton.jit
def rope(x, cos, sin, T, D, H: tl.constexpr):
    head, t = tl.program_id(0), tl.program_id(1)
    d = tl.arange(0, H)
    inside = d < D // 2
    at = x + (head * T + t) * D
    a = tl.load(at + d, mask=inside)
    b = tl.load(at + D // 2 + d, mask=inside)
    c = tl.load(cos + t * (D // 2) + d, mask=inside)
    s = tl.load(sin + t * (D // 2) + d, mask=inside)
    tl.store(at + d, a * c - b * s, mask=inside)
    tl.store(at + D // 2 + d, b * c + a * s, mask=inside)


def call(x, cos, sin):
    heads, T, D = x.shape
    o = x.clone()
    rope[(heads, T)](o, cos, sin, T, D, H=triton.next_power_of_2(D // 2))
    return o


CASES = {"friendly": [(4, 16, 32)], "odd": [(1, 1, 2), (3, 7, 48), (2, 5, 20), (5, 3, 6)]}
BOUND = 1e-5


def inputs(heads, T, D):
    angle = torch.randn(T, D // 2, device="cuda")
    return torch.randn(heads, T, D, device="cuda"), angle.cos(), angle.sin()


def expected(x, cos, sin):
    a, b = x.chunk(2, 2)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], 2)


BUGS = [
    ("mask missing", "a * c - b * s, mask=inside)", "a * c - b * s)"),
    ("mask missing", "b * c + a * s, mask=inside)", "b * c + a * s)"),
    ("mask missing", "c = tl.load(cos + t * (D // 2) + d, mask=inside)", "c = tl.load(cos + t * (D // 2) + d)"),
    ("stride", "at = x + (head * T + t) * D", "at = x + (head * T + t) * H"),
    ("stride", "sin + t * (D // 2)", "sin + t * D"),
    ("grid", "rope[(heads, T)]", "rope[(T, heads)]"),
    ("race", "at = x + (head * T + t) * D", "at = x + (head * T + t // 2 * 2) * D"),
    ("aliasing", "o = x.clone()", "o = x"),
    ("wrong formula", "b * c + a * s", "b * c - a * s"),
    ("wrong formula", "a * c - b * s", "a * c + b * s"),
]
