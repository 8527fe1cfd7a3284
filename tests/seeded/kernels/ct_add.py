"""cuTile: z = x + y by tiles of 128."""
import cuda.tile as ct
import torch


@ct.kernel
def add(x, y, z, B: ct.Constant[int]):
    i = ct.bid(0)
    a = ct.load(x, (i,), (B,))
    b = ct.load(y, (i,), (B,))
    ct.store(z, (i,), a + b)


def call(x, y):
    z = torch.empty_like(x)
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(x.numel(), 128),), add, (x, y, z, 128))
    return z


CASES = {"friendly": [(1024,)], "odd": [(1,), (127,), (129,), (1000,)]}
BOUND = 1e-6


def inputs(n):
    return torch.randn(n, device="cuda"), torch.randn(n, device="cuda")


def expected(x, y):
    return x + y


BUGS = [
    ("grid", "ct.cdiv(x.numel(), 128)", "x.numel() // 128 or 1"),
    ("race", "i = ct.bid(0)", "i = ct.bid(0) // 2"),
    ("off by one", "a = ct.load(x, (i,), (B,))", "a = ct.load(x, (i + 1,), (B,))"),
    ("unwritten", "ct.store(z, (i,), a + b)", "ct.store(z, (0,), a + b)"),
    ("empty", "b = ct.load(y, (i,), (B,))", "b = ct.load(z, (i,), (B,))"),
    ("grid", "ct.cdiv(x.numel(), 128)", "ct.cdiv(x.numel(), 256)"),
]
