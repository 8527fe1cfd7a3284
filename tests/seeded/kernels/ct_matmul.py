"""cuTile: c = a b, 16-bit, ragged edges."""
import cuda.tile as ct
import torch


@ct.kernel
def matmul(a, b, c, BM: ct.Constant[int], BN: ct.Constant[int], BK: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.full((BM, BN), 0, dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], BK)):
        x = ct.load(a, (i, k), (BM, BK), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, j), (BK, BN), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, (i, j), acc.astype(c.dtype))


def call(a, b):
    M, N = a.shape[0], b.shape[1]
    c = torch.empty(M, N, device="cuda", dtype=torch.float16)
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(M, 32), ct.cdiv(N, 32)), matmul, (a, b, c, 32, 32, 32))
    return c


CASES = {"friendly": [(64, 64, 64)], "odd": [(1, 2, 1), (33, 31, 40), (50, 70, 65), (20, 100, 17)]}
BOUND = 2e-2


def inputs(M, N, K):
    return torch.randn(M, K, device="cuda").half(), torch.randn(K, N, device="cuda").half()


def expected(a, b):
    return a @ b


BUGS = [
    ("wrong other", "x = ct.load(a, (i, k), (BM, BK), padding_mode=ct.PaddingMode.ZERO)", "x = ct.load(a, (i, k), (BM, BK))"),
    ("wrong other", "y = ct.load(b, (k, j), (BK, BN), padding_mode=ct.PaddingMode.ZERO)", "y = ct.load(b, (k, j), (BK, BN))"),
    ("size no multiple", "ct.cdiv(a.shape[1], BK)", "a.shape[1] // BK"),
    ("grid", "(ct.cdiv(M, 32), ct.cdiv(N, 32))", "(ct.cdiv(N, 32), ct.cdiv(M, 32))"),
    ("grid", "(ct.cdiv(M, 32), ct.cdiv(N, 32))", "(ct.cdiv(M, 32), 1)"),
    ("dtype too low", "acc = ct.mma(x, y, acc)", "acc = ct.astype(ct.astype(ct.mma(x, y, acc), ct.float8_e5m2), ct.float32)"),
    ("race", "ct.store(c, (i, j)", "ct.store(c, (i, 0)"),
    ("hard-coded size", "range(ct.cdiv(a.shape[1], BK))", "range(2)"),
    ("wrong formula", "acc = ct.mma(x, y, acc)", "acc = ct.mma(x, y, ct.full((BM, BN), 0, dtype=ct.float32))"),
]
