"""The two experts of each token by its scores, their weights, and how many tokens each expert gets."""
import torch
import triton
import triton.language as tl


@triton.jit
def route(scores, weights, experts, counts, E, B: tl.constexpr):
    token = tl.program_id(0)
    e = tl.arange(0, B)
    v = tl.load(scores + token * E + e, mask=e < E, other=float("-inf"))
    first, a = tl.max(v, 0, return_indices=True)
    rest = tl.where(e == a, float("-inf"), v)
    second, b = tl.max(rest, 0, return_indices=True)
    share = 1 / (1 + tl.exp(second - first))
    tl.store(weights + token * 2, share)
    tl.store(weights + token * 2 + 1, tl.exp(second - first) / (1 + tl.exp(second - first)))
    tl.store(experts + token * 2, a)
    tl.store(experts + token * 2 + 1, b)
    tl.atomic_add(counts + a, 1)
    tl.atomic_add(counts + b, 1)


def call(scores):
    T, E = scores.shape
    weights = torch.empty(T, 2, device="cuda")
    experts = torch.empty(T, 2, device="cuda", dtype=torch.int32)
    counts = torch.zeros(E, device="cuda", dtype=torch.int32)
    route[(T,)](scores, weights, experts, counts, E, B=16)
    return weights, experts, counts


BUGS = [
    ("wrong other", "other=float(\"-inf\"))", "other=0.0)"),
    ("wrong formula", "tl.where(e == a, float(\"-inf\"), v)", "tl.where(v == first, float(\"-inf\"), v)"),
    ("missing atomic", "tl.atomic_add(counts + a, 1)", "tl.store(counts + a, tl.load(counts + a) + 1)"),
    ("wrong formula", "share = 1 / (1 + tl.exp(second - first))", "share = 1 / (1 + tl.exp(first - second))"),
    ("empty", "counts = torch.zeros(E", "counts = torch.empty(E"),
    ("stride", "tl.store(experts + token * 2 + 1, b)", "tl.store(experts + token * 2, b)"),
    ("wrong formula", "    tl.atomic_add(counts + b, 1)\n", ""),
    ("hard-coded size", "E, B=16)", "8, B=16)"),
]
EQUIVALENT = [("share = 1 / (1 + tl.exp(second - first))", "share = tl.sigmoid(first - second)")]
