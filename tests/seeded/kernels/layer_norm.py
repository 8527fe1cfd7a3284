"""Layer norm of rows with weight and bias; mean and 1/deviation are returned, too."""
import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm(x, w, b, o, mean_out, rstd_out, n, eps, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([B], tl.float32)
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        total += tl.load(x + row * n + c, mask=c < n, other=0.0)
    mean = tl.sum(total, 0) / n
    square = tl.zeros([B], tl.float32)
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        v = tl.load(x + row * n + c, mask=c < n, other=0.0)
        d = tl.where(c < n, v - mean, 0.0)
        square += d * d
    rstd = 1 / tl.sqrt(tl.sum(square, 0) / n + eps)
    tl.store(mean_out + row, mean)
    tl.store(rstd_out + row, rstd)
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        inside = c < n
        v = tl.load(x + row * n + c, mask=inside)
        scale = tl.load(w + c, mask=inside)
        shift = tl.load(b + c, mask=inside)
        tl.store(o + row * n + c, (v - mean) * rstd * scale + shift, mask=inside)


def call(x, w, b):
    m, n = x.shape
    o = torch.empty_like(x)
    mean = torch.empty(m, device="cuda")
    rstd = torch.empty(m, device="cuda")
    layer_norm[(m,)](x, w, b, o, mean, rstd, n, 1e-5, B=64)
    return o, mean, rstd


CASES = {"friendly": [(4, 256)], "odd": [(1, 1), (3, 63), (2, 65), (5, 200)]}
BOUND = 1e-4


def inputs(m, n):
    return torch.randn(m, n, device="cuda") + 2, torch.randn(n, device="cuda"), torch.randn(n, device="cuda")


def expected(x, w, b):
    mean = x.mean(1)
    rstd = 1 / torch.sqrt(x.var(1, correction=0) + 1e-5)
    return (x - mean[:, None]) * rstd[:, None] * w + b, mean, rstd


BUGS = [
    ("wrong other", "total += tl.load(x + row * n + c, mask=c < n, other=0.0)", "total += tl.load(x + row * n + c, mask=c < n)"),
    ("mask missing", "scale = tl.load(w + c, mask=inside)", "scale = tl.load(w + c)"),
    ("mask missing", "scale + shift, mask=inside", "scale + shift"),
    ("size no multiple", "total += tl.load(x + row * n + c, mask=c < n, other=0.0)", "total += tl.load(x + row * n + c)"),
    ("numerics", "d = tl.where(c < n, v - mean, 0.0)", "d = v - mean"),
    ("unwritten", "    tl.store(rstd_out + row, rstd)\n", ""),
    ("wrong formula", "/ n + eps", "/ (n - 1) + eps"),
    ("stride", "tl.store(mean_out + row, mean)", "tl.store(mean_out, mean)"),
    ("aliasing", "o = torch.empty_like(x)", "o = w.expand(m, n)"),
    ("wrong formula", "    rstd = 1 / tl.sqrt(tl.sum(square, 0) / n + eps)", "    rstd = 1 / (tl.sqrt(tl.sum(square, 0) / n) + eps)"),
    ("dtype too low", "    mean = tl.sum(total, 0) / n", "    mean = (tl.sum(total, 0) / n).to(tl.float16).to(tl.float32)"),
]
