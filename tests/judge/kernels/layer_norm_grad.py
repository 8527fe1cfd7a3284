"""The gradients of layer norm: of its input row by row, of weight and bias by sums of groups of rows and a second launch."""
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, w, g, dx, parts, m, n, eps, G: tl.constexpr, B: tl.constexpr):
    c = tl.arange(0, B)
    inside = c < n
    weight = tl.load(w + c, mask=inside, other=0.0)
    dw = tl.zeros([B], tl.float32)
    db = tl.zeros([B], tl.float32)
    for row in range(tl.program_id(0), m, G):
        v = tl.load(x + row * n + c, mask=inside, other=0.0)
        dy = tl.load(g + row * n + c, mask=inside, other=0.0)
        mean = tl.sum(v, 0) / n
        d = tl.where(inside, v - mean, 0.0)
        rstd = 1 / tl.sqrt(tl.sum(d * d, 0) / n + eps)
        hat = d * rstd
        wg = weight * dy
        c1 = tl.sum(hat * wg, 0) / n
        c2 = tl.sum(wg, 0) / n
        tl.store(dx + row * n + c, (wg - (hat * c1 + c2)) * rstd, mask=inside)
        dw += dy * hat
        db += dy
    tl.store(parts + tl.program_id(0) * n + c, dw, mask=inside)
    tl.store(parts + (G + tl.program_id(0)) * n + c, db, mask=inside)


@triton.jit
def columns(parts, dw, db, n, G: tl.constexpr, B: tl.constexpr):
    c = tl.program_id(0) * B + tl.arange(0, B)
    r = tl.arange(0, G)
    at = r[:, None] * n + c[None, :]
    inside = (c < n)[None, :]
    tl.store(dw + c, tl.sum(tl.load(parts + at, mask=inside, other=0.0), 0), mask=c < n)
    tl.store(db + c, tl.sum(tl.load(parts + G * n + at, mask=inside, other=0.0), 0), mask=c < n)


def call(x, w, g):
    m, n = x.shape
    dx = torch.empty(m, n, device="cuda")
    dw = torch.empty(n, device="cuda")
    db = torch.empty(n, device="cuda")
    parts = torch.empty(8, n, device="cuda")
    rows[(4,)](x, w, g, dx, parts, m, n, 1e-5, G=4, B=128)
    columns[(triton.cdiv(n, 32),)](parts, dw, db, n, G=4, B=32)
    return dx, dw, db


BUGS = [
    ("numerics", "d = tl.where(inside, v - mean, 0.0)", "d = v - mean"),
    ("wrong formula", "(wg - (hat * c1 + c2)) * rstd", "(wg - hat * c1) * rstd"),
    ("wrong formula", "c1 = tl.sum(hat * wg, 0) / n", "c1 = tl.sum(hat * dy, 0) / n"),
    ("wrong formula", "        dw += dy * hat\n", "        dw = dy * hat\n"),
    ("race", "tl.store(parts + tl.program_id(0) * n + c, dw", "tl.store(parts + c, dw"),
    ("grid", "rows[(4,)]", "rows[(3,)]"),
    ("unwritten", "columns[(triton.cdiv(n, 32),)]", "columns[(max(1, n // 32),)]"),
    ("eps", "1e-5, G", "1e-3, G"),
]
EQUIVALENT = [("rows[(4,)](x, w, g, dx, parts, m, n, 1e-5, G=4, B=128)", "rows[(4,)](x, w, g, dx, parts, m, n, 1e-5, G=4, B=256)")]
