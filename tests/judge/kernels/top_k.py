"""The four largest elements of each row and their places; of equal ones the first."""
import torch
import triton
import triton.language as tl


@triton.jit
def top_k(x, values, places, n, K: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=float("-inf"))
    for i in range(K):
        best, at = tl.max(v, 0, return_indices=True)
        tl.store(values + row * K + i, best)
        tl.store(places + row * K + i, at)
        v = tl.where(c == at, float("-inf"), v)


def call(x):
    m, n = x.shape
    values = torch.empty(m, 4, device="cuda")
    places = torch.empty(m, 4, device="cuda", dtype=torch.int32)
    top_k[(m,)](x, values, places, n, K=4, B=128)
    return values, places


BUGS = [
    ("wrong other", "other=float(\"-inf\"))", "other=0.0)"),
    ("wrong formula", "tl.where(c == at, float(\"-inf\"), v)", "tl.where(v == best, float(\"-inf\"), v)"),
    ("wrong formula", "tl.where(c == at, float(\"-inf\"), v)", "tl.where(c == at, 0.0, v)"),
    ("mask off by one", "mask=c < n", "mask=c <= n"),
    ("hard-coded size", "K=4, B=128", "K=4, B=64"),
    ("unwritten", "for i in range(K):", "for i in range(K - 1):"),
    ("stride", "tl.store(values + row * K + i, best)", "tl.store(values + row * n + i, best)"),
    ("wrong formula", "return_indices=True)", "return_indices=True, return_indices_tie_break_left=False)"),
]
EQUIVALENT = [("mask=c < n", "mask=n > c")]
