"""gelu(x + bias) by the tangent, x of any row stride, 16-bit."""
import torch
import triton
import triton.language as tl


@triton.jit
def gelu_bias(x, bias, o, M, N, stride, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    row, col = at // N, at % N
    inside = at < M * N
    v = tl.load(x + row * stride + col, mask=inside, other=0.0).to(tl.float32)
    v += tl.load(bias + col, mask=inside, other=0.0).to(tl.float32)
    u = 0.7978845608028654 * (v + 0.044715 * v * v * v)
    t = 1 - 2 / (tl.exp(2 * u) + 1)
    tl.store(o + at, (0.5 * v * (1 + t)).to(tl.float16), mask=inside)


def call(x, bias):
    M, N = x.shape
    o = torch.empty(M, N, device="cuda", dtype=torch.float16)
    gelu_bias[(triton.cdiv(M * N, 128),)](x, bias, o, M, N, x.stride(0), B=128)
    return o


CASES = {"friendly": [(8, 64, 64)], "odd": [(1, 1, 1), (3, 65, 65), (7, 30, 33), (5, 129, 140)]}
BOUND = 5e-3


def inputs(M, N, stride):
    return torch.randn(M, stride, device="cuda").half()[:, :N], torch.randn(N, device="cuda").half()


def expected(x, bias):
    return torch.nn.functional.gelu(x + bias, approximate="tanh")


BUGS = [
    ("stride", "x + row * stride", "x + row * N"),
    ("mask missing", "col, mask=inside, other=0.0).to(tl.float32)\n    v +=", "col).to(tl.float32)\n    v +="),
    ("mask missing", "(0.5 * v * (1 + t)).to(tl.float16), mask=inside)", "(0.5 * v * (1 + t)).to(tl.float16))"),
    ("unwritten", "inside = at < M * N", "inside = at < (M - 1) * N"),
    ("past the end", "tl.load(bias + col,", "tl.load(bias + at,"),
    ("dtype too low", "v += tl.load(bias + col, mask=inside, other=0.0).to(tl.float32)",
     "v = (v * 4).to(tl.int8).to(tl.float32) / 4 + tl.load(bias + col, mask=inside, other=0.0).to(tl.float32)"),
    ("wrong formula", "0.044715", "0.44715"),
    ("grid", "triton.cdiv(M * N, 128)", "triton.cdiv(M * N, 256)"),
    ("hard-coded size", "row, col = at // N, at % N", "row, col = at // 64, at % 64"),
    ("wrong formula", "t = 1 - 2 / (tl.exp(2 * u) + 1)", "t = 1 - 2 / (tl.exp(u) + 1)"),
    ("numerics", "t = 1 - 2 / (tl.exp(2 * u) + 1)", "t = (tl.exp(2 * u) - 1) / (tl.exp(2 * u) + 1)"),
]
