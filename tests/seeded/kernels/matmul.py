"""c = a b with ragged edges, any strides."""
import torch
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + i[:, None] * sam + k[None, :] * sak, mask=(i[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + k[:, None] * sbk + j[None, :] * sbn, mask=(k[:, None] < K) & (j[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + i[:, None] * scm + j[None, :] * scn, acc.to(tl.float16), mask=(i[:, None] < M) & (j[None, :] < N))


def call(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, device="cuda", dtype=torch.float16)
    grid = triton.cdiv(M, 32), triton.cdiv(N, 32)
    matmul[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), BM=32, BN=32, BK=32)
    return c


CASES = {"friendly": [(64, 64, 64, False)], "odd": [(1, 1, 1, False), (33, 31, 40, False), (50, 70, 65, True), (20, 100, 17, True)]}
BOUND = 2e-2


def inputs(M, N, K, turned):
    b = torch.randn(N, K, device="cuda").half().t() if turned else torch.randn(K, N, device="cuda").half()
    return torch.randn(M, K, device="cuda").half(), b


def expected(a, b):
    return a @ b


BUGS = [
    ("mask missing", "mask=(i[:, None] < M) & (k[None, :] < K)", "mask=i[:, None] < M"),
    ("mask missing", "mask=(i[:, None] < M) & (k[None, :] < K)", "mask=k[None, :] < K"),
    ("mask missing", "mask=(k[:, None] < K) & (j[None, :] < N)", "mask=k[:, None] < K"),
    ("mask missing", "acc.to(tl.float16), mask=(i[:, None] < M) & (j[None, :] < N))", "acc.to(tl.float16), mask=i[:, None] < M)"),
    ("wrong other", "(k[None, :] < K), other=0.0)", "(k[None, :] < K))"),
    ("stride", "*b.stride()", "b.stride(1), b.stride(0)"),
    ("stride", "k[:, None] * sbk + j[None, :] * sbn", "k[:, None] * N + j[None, :]"),
    ("grid", "triton.cdiv(M, 32), triton.cdiv(N, 32)", "triton.cdiv(N, 32), triton.cdiv(M, 32)"),
    ("size no multiple", "for start in range(0, K, BK):", "for start in range(0, K // BK * BK, BK):"),
    ("dtype too low", "acc = tl.dot(x, y, acc)", "acc = (acc + tl.dot(x, y)).to(tl.float16).to(tl.float32)"),
    ("grid", "i = tl.program_id(0)", "i = tl.program_id(1)"),
]
