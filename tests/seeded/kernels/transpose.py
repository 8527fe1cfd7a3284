"""o = xᵀ of any strides."""
import torch
import triton
import triton.language as tl


@triton.jit
def transpose(x, o, M, N, sxm, sxn, som, son, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    inside = (i[:, None] < M) & (j[None, :] < N)
    v = tl.load(x + i[:, None] * sxm + j[None, :] * sxn, mask=inside)
    tl.store(o + j[None, :] * som + i[:, None] * son, v, mask=inside)


def call(x):
    M, N = x.shape
    o = torch.empty(N, M, device="cuda")
    transpose[(triton.cdiv(M, 16), triton.cdiv(N, 16))](x, o, M, N, *x.stride(), *o.stride(), B=16)
    return o


CASES = {"friendly": [(32, 32, 0)], "odd": [(1, 1, 0), (17, 33, 0), (20, 5, 3), (40, 15, 1)]}
BOUND = 0


def inputs(M, N, more):
    return torch.randn(M, N + more, device="cuda")[:, :N],


def expected(x):
    return x.t()


BUGS = [
    ("stride", "*x.stride(), *o.stride()", "N, 1, *o.stride()"),
    ("stride", "*x.stride(), *o.stride()", "*x.stride(), N, 1"),
    ("stride", "j[None, :] * som + i[:, None] * son", "j[None, :] * son + i[:, None] * som"),
    ("mask missing", "v, mask=inside)", "v)"),
    ("mask missing", "j[None, :] * sxn, mask=inside)", "j[None, :] * sxn)"),
    ("mask off by one", "(j[None, :] < N)", "(j[None, :] <= N)"),
    ("grid", "(triton.cdiv(M, 16), triton.cdiv(N, 16))", "(triton.cdiv(N, 16), triton.cdiv(M, 16))"),
    ("hard-coded size", "(i[:, None] < M)", "(i[:, None] < 32)"),
]
