"""The cosine transform (type 2) of each row, scaled to be orthonormal, with the cosines computed in the kernel."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def dct_kernel(x_ptr, o_ptr, n, first, scale, step, K: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0)
    k = tl.program_id(1) * K + tl.arange(0, K)
    acc = tl.zeros((K,), tl.float32)
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        v = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
        turns = ((2 * i + 1)[None, :] * k[:, None]) % (4 * n)  # exact: the cosine has a period of 4 n steps
        acc += tl.sum(tl.cos(turns.to(tl.float32) * step) * v[None, :], 1)
    tl.store(o_ptr + row * n + k, acc * tl.where(k == 0, first, scale), mask=k < n)


def reference(x):
    m, n = x.shape
    o = torch.empty_like(x)
    dct_kernel[(m, triton.cdiv(n, 16))](x, o, n, math.sqrt(1 / n), math.sqrt(2 / n), math.pi / (2 * n), K=16, B=32)
    return o


BUGS = [
    ("formula", "tl.where(k == 0, first, scale)", "scale"),
    ("formula", "(2 * i + 1)[None, :]", "(2 * i)[None, :]"),
    ("numerics", " % (4 * n)  #", " % (2 * n)  #"),
    ("constant", "math.pi / (2 * n)", "3.1416 / (2 * n)"),
    ("mask", "mask=k < n)", "mask=k < n - 1)"),
    ("loop", "range(0, n, B)", "range(0, n - n % B, B)"),
]
EQUIVALENT = [("K=16, B=32)", "K=32, B=16)")]
