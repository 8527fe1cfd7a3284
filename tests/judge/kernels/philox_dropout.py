"""Dropout whose mask follows from a seed by Philox, as tl.rand draws."""
import torch
import triton
import triton.language as tl


@triton.jit
def _seeded_dropout(x_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    keep = tl.rand(seed, offs) > p
    tl.store(y_ptr + offs, tl.where(keep, x / (1 - p), 0.0), mask=mask)


def seeded_dropout(x, p, seed):
    y = torch.empty_like(x)
    n = x.numel()
    _seeded_dropout[(triton.cdiv(n, 256),)](x, y, n, p, seed, BLOCK=256)
    return y


BUGS = [
    ("seed", "tl.rand(seed, offs) > p", "tl.rand(0, offs) > p"),
    ("seed", "tl.rand(seed, offs) > p", "tl.rand(seed, tl.arange(0, BLOCK)) > p"),
    ("formula", "x / (1 - p)", "x"),
    ("formula", "tl.rand(seed, offs) > p", "tl.rand(seed, offs) < p"),
    ("argument", "n, p, seed, BLOCK=256", "n, 0.5, seed, BLOCK=256"),
    ("mask", "0.0), mask=mask)", "0.0), mask=offs <= n)"),
    ("grid", "triton.cdiv(n, 256)", "max(1, n // 256)"),
    ("seed", "tl.rand(seed, offs) > p", "tl.rand(seed, offs, n_rounds=7) > p"),
    ("wrong formula", "tl.where(keep, x / (1 - p), 0.0)", "tl.where(keep, x / (1 - p), x)"),
]
EQUIVALENT = [("seed, BLOCK=256", "seed, BLOCK=256, num_warps=8"), ("x / (1 - p), 0.0", "x * (1 / (1 - p)), 0.0")]
