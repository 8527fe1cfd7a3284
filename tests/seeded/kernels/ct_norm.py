"""cuTile: rms norm over rows longer than a tile, in two loops, with a weight."""
import cuda.tile as ct
import torch


@ct.kernel
def norm(x, w, o, r, eps, B: ct.Constant[int]):
    row = ct.bid(0)
    n = x.shape[1]
    tiles = ct.cdiv(n, B)
    total = ct.full((1, B), 0, dtype=ct.float32)
    for j in range(tiles):
        v = ct.load(x, (row, j), (1, B), padding_mode=ct.PaddingMode.ZERO)
        total += v * v
    scale = ct.rsqrt(ct.sum(total, 1, keepdims=True) / n + eps)
    ct.store(r, (row,), ct.reshape(scale, (1,)))
    for j in range(tiles):
        v = ct.load(x, (row, j), (1, B))
        g = ct.load(w, (j,), (B,))
        ct.store(o, (row, j), v * scale * ct.reshape(g, (1, B)))


def call(x, w):
    m, n = x.shape
    o = torch.empty(m, n, device="cuda")
    r = torch.empty(m, device="cuda")
    ct.launch(torch.cuda.current_stream(), (m,), norm, (x, w, o, r, 1e-6, 64))
    return o, r


CASES = {"friendly": [(4, 256)], "odd": [(1, 2), (3, 100), (5, 65), (2, 63)]}
BOUND = 1e-4


def inputs(m, n):
    return torch.randn(m, n, device="cuda"), torch.randn(n, device="cuda")


def expected(x, w):
    r = torch.rsqrt((x * x).mean(1) + 1e-6)
    return x * r[:, None] * w, r


BUGS = [
    ("wrong other", "(1, B), padding_mode=ct.PaddingMode.ZERO)", "(1, B))"),
    ("size no multiple", "tiles = ct.cdiv(n, B)", "tiles = n // B"),
    ("unwritten", "    ct.store(r, (row,), ct.reshape(scale, (1,)))\n", ""),
    ("race", "ct.store(r, (row,),", "ct.store(r, (0,),"),
    ("wrong formula", "keepdims=True) / n + eps", "keepdims=True) / B + eps"),
    ("grid", "(m,), norm", "(m - 1 or 1,), norm"),
    ("hard-coded size", "tiles = ct.cdiv(n, B)", "tiles = 2"),
    ("off by one", "for j in range(tiles):\n        v = ct.load(x, (row, j), (1, B))", "for j in range(1, tiles):\n        v = ct.load(x, (row, j), (1, B))"),
    ("aliasing", "o = torch.empty(m, n, device=\"cuda\")", "o = x"),
]
