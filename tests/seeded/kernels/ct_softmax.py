"""cuTile: softmax of rows."""
import cuda.tile as ct
import torch


@ct.kernel
def softmax(x, o, B: ct.Constant[int]):
    row = ct.bid(0)
    v = ct.load(x, (row, 0), (1, B), padding_mode=ct.PaddingMode.NEG_INF)
    e = ct.exp(v - ct.max(v, 1, keepdims=True))
    ct.store(o, (row, 0), e / ct.sum(e, 1, keepdims=True))


def call(x):
    m, n = x.shape
    o = torch.empty(m, n, device="cuda")
    ct.launch(torch.cuda.current_stream(), (m,), softmax, (x, o, max(2, 1 << (n - 1).bit_length())))
    return o


CASES = {"friendly": [(8, 128)], "odd": [(1, 2), (3, 100), (5, 129), (2, 77)]}
BOUND = 1e-5


def inputs(m, n):
    return torch.randn(m, n, device="cuda") * 3,


def expected(x):
    return torch.softmax(x, 1)


BUGS = [
    ("wrong other", ", padding_mode=ct.PaddingMode.NEG_INF", ""),
    ("wrong other", "ct.PaddingMode.NEG_INF", "ct.PaddingMode.ZERO"),
    ("hard-coded size", "max(2, 1 << (n - 1).bit_length())", "64"),
    ("grid", "(m,), softmax", "(m - 1 or 1,), softmax"),
    ("grid", "(m,), softmax", "(m + 1,), softmax"),
    ("race", "ct.store(o, (row, 0)", "ct.store(o, (row // 2, 0)"),
    ("wrong formula", "ct.max(v, 1, keepdims=True)", "ct.min(v, 1, keepdims=True)"),
]
