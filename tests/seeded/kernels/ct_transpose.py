"""cuTile: o = xᵀ by tiles of 32."""
import cuda.tile as ct
import torch


@ct.kernel
def transpose(x, o, B: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    ct.store(o, (j, i), ct.transpose(ct.load(x, (i, j), (B, B))))


def call(x):
    m, n = x.shape
    o = torch.empty(n, m, device="cuda")
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(m, 32), ct.cdiv(n, 32)), transpose, (x, o, 32))
    return o


CASES = {"friendly": [(64, 64)], "odd": [(2, 3), (33, 100), (65, 31), (40, 129)]}
BOUND = 0


def inputs(m, n):
    return torch.randn(m, n, device="cuda"),


def expected(x):
    return x.t()


BUGS = [
    ("grid", "(ct.cdiv(m, 32), ct.cdiv(n, 32))", "(ct.cdiv(n, 32), ct.cdiv(m, 32))"),
    ("stride", "ct.store(o, (j, i),", "ct.store(o, (i, j),"),
    ("grid", "(ct.cdiv(m, 32), ct.cdiv(n, 32))", "(ct.cdiv(m, 32), n // 32 or 1)"),
    ("hard-coded size", "(ct.cdiv(m, 32), ct.cdiv(n, 32))", "(2, 2)"),
    ("stride", "o = torch.empty(n, m, device=\"cuda\")", "o = torch.empty(m, n, device=\"cuda\").t().contiguous()[:, :m]"),
    ("race", "i, j = ct.bid(0), ct.bid(1)", "i, j = ct.bid(0) // 2, ct.bid(1)"),
]
