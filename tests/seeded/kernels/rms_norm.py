"""RMS norm with a weight, in place of nothing; rows may be apart."""
import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm(x, w, o, stride, n, eps, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * stride + c, mask=c < n, other=0.0).to(tl.float32)
    g = tl.load(w + c, mask=c < n, other=0.0)
    r = tl.rsqrt(tl.sum(v * v, 0) / n + eps)
    tl.store(o + row * n + c, v * r * g, mask=c < n)


def call(x, w):
    m, n = x.shape
    o = torch.empty(m, n, device="cuda")
    rms_norm[(m,)](x, w, o, x.stride(0), n, 1e-6, B=triton.next_power_of_2(n))
    return o


CASES = {"friendly": [(4, 256, 256)], "odd": [(1, 1, 1), (3, 200, 200), (4, 65, 100), (7, 129, 130)]}
BOUND = 1e-4


def inputs(m, n, stride):
    return torch.randn(m, stride, device="cuda")[:, :n], torch.randn(n, device="cuda")


def expected(x, w):
    return x * torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-6) * w


BUGS = [
    ("stride", "x + row * stride", "x + row * n"),
    ("stride", "o + row * n", "o + row * stride"),
    ("mask missing", "g = tl.load(w + c, mask=c < n, other=0.0)", "g = tl.load(w + c)"),
    ("wrong other", "mask=c < n, other=0.0).to(tl.float32)", "mask=c < n).to(tl.float32)"),
    ("wrong formula", "/ n + eps", "/ B + eps"),
    ("wrong formula", "/ n + eps", "/ n"),
    ("grid", "rms_norm[(m,)]", "rms_norm[(m // 2 * 2,)]"),
    ("past the end", "tl.load(w + c,", "tl.load(w + c + 1,"),
    ("mask missing", "v * r * g, mask=c < n)", "v * r * g)"),
    ("wrong formula", "v * r * g, mask", "v * r * (1 + g), mask"),
    ("dtype too low", "r = tl.rsqrt(tl.sum(v * v, 0) / n + eps)", "r = tl.rsqrt(tl.sum((v * v).to(tl.float16), 0).to(tl.float32) / n + eps)"),
]
