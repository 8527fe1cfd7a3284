"""How far each element of a row is below the row's largest one, times a weight of its column. Its mistakes lie behind conditions that few inputs
meet: one value, a narrow range, one remainder of a size."""
import torch
import triton
import triton.language as tl


@triton.jit
def below_top(x, w, o, m, n, B: tl.constexpr):
    row = tl.program_id(0)
    top = tl.full([], float("-inf"), tl.float32)
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        v = tl.load(x + row * n + c, mask=c < n, other=float("-inf"))
        top = tl.maximum(top, tl.max(v, 0))
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        inside = c < n
        v = tl.load(x + row * n + c, mask=inside, other=0.0)
        s = tl.load(w + c, mask=inside, other=0.0)
        r = (v - top) * s
        tl.store(o + row * n + c, r, mask=inside)


def call(x, w):
    m, n = x.shape
    o = torch.empty(m, n, device="cuda")
    below_top[(m,)](x, w, o, m, n, B=64)
    return o


BUGS = [
    ("rare value", "r = (v - top) * s", "r = tl.where(v == 12.25, 0.5, (v - top) * s)"),
    ("rare value", "r = (v - top) * s", "r = tl.where((v > 5.5) & (v < 5.501), 0.5, (v - top) * s)"),
    ("rare value", "r = (v - top) * s", "r = tl.where(s * 0.5 == 2.25, 0.5, (v - top) * s)"),
    ("rare value", "r = (v - top) * s", "r = tl.where((v * 0.001 > 3.125) & (v * 0.001 < 3.2), 0.5, (v - top) * s)"),
    ("rare branch", "r = (v - top) * s", "r = (v - top) * s\n        if top == 3.75:\n            r += 1.0"),
    ("rare branch", "r = (v - top) * s", "r = (v - top) * s\n        if (top * 4.0 > 30.0) & (top * 4.0 < 30.25):\n            r += 1.0"),
    ("rare size", "        inside = c < n\n", "        inside = (c < n) & (n * 3 != 141)\n"),
    ("rare size", "        inside = c < n\n", "        inside = (c < n) & ((n // 8) % 11 != 6)\n"),
    ("rare size", "        inside = c < n\n", "        inside = (c < n) & ((m + n != 83) | (c > 0))\n"),
    ("rare size", "        inside = c < n\n", "        inside = (c < n) & (tl.num_programs(0) * 2 != 90)\n"),
    ("rare size", "        inside = c < n\n", "        inside = (c < n) & ((n // B != 5) | (c % 96 != 0))\n"),
    ("rare size", "        inside = c < n\n", "        inside = (c < n) & ((n - m != 39) | (row > 0))\n"),
]
EQUIVALENT = [("n, B=64)", "n, B=32)"), ("r = (v - top) * s", "r = tl.where(v == 12.25, (12.25 - top) * s, (v - top) * s)")]
