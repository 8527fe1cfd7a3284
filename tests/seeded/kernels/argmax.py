"""The largest value of each row and its place; the first of equals."""
import torch
import triton
import triton.language as tl


@triton.jit
def argmax(x, value, place, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=float("-inf"))
    tl.store(value + row, tl.max(v, 0))
    tl.store(place + row, tl.argmax(v, 0))


def call(x):
    m, n = x.shape
    value = torch.empty(m, device="cuda")
    place = torch.empty(m, device="cuda", dtype=torch.int32)
    argmax[(m,)](x, value, place, n, B=triton.next_power_of_2(n))
    return value, place


CASES = {"friendly": [(8, 64)], "odd": [(1, 1), (3, 33), (5, 100), (2, 65)]}
BOUND = 0


def inputs(m, n):
    return -torch.rand(m, n, device="cuda"),


def expected(x):
    return x.max(1).values, x.argmax(1)


BUGS = [
    ("wrong other", 'other=float("-inf")', "other=0.0"),
    ("wrong other", ', other=float("-inf")', ""),
    ("mask missing", ', mask=c < n, other=float("-inf")', ""),
    ("unwritten", "    tl.store(place + row, tl.argmax(v, 0))\n", "    if row > 0:\n        tl.store(place + row, tl.argmax(v, 0))\n"),
    ("wrong formula", "tl.argmax(v, 0)", "tl.argmin(v, 0)"),
    ("stride", "x + row * n", "x + row * B"),
    ("grid", "argmax[(m,)]", "argmax[(m + 1,)]"),
    ("mask off by one", "mask=c < n,", "mask=c <= n,"),
]
