"""Rows of a jagged batch to a padded one."""
import torch
import triton
import triton.language as tl


@triton.jit
def jagged_to_dense_kernel(values, offsets, dense, max_len, D, pad, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr):
    b = tl.program_id(0)
    l = tl.program_id(1) * BLOCK_L + tl.arange(0, BLOCK_L)
    begin = tl.load(offsets + b)
    end = tl.load(offsets + b + 1)
    length = tl.minimum(end - begin, max_len)
    for start in range(0, D, BLOCK_D):
        d = start + tl.arange(0, BLOCK_D)
        keep = (l[:, None] < length) & (d[None, :] < D)
        x = tl.load(values + (begin + l[:, None]) * D + d[None, :], mask=keep, other=0.0)
        x = tl.where(keep, x, pad)
        tl.store(dense + (b * max_len + l[:, None]) * D + d[None, :], x, mask=(l[:, None] < max_len) & (d[None, :] < D))


def jagged_to_dense(values, offsets, max_len: int, pad: float):
    batch, D = offsets.shape[0] - 1, values.shape[1]
    dense = torch.empty((batch, max_len, D), dtype=values.dtype, device=values.device)
    jagged_to_dense_kernel[(batch, triton.cdiv(max_len, 8))](values, offsets, dense, max_len, D, pad, BLOCK_L=8, BLOCK_D=32)
    return dense


BUGS = [
    ("argument", "x = tl.where(keep, x, pad)\n", "x = tl.where(keep, x, 0.0)\n"),
    ("mask", "mask=keep, other=0.0", "mask=d[None, :] < D, other=0.0"),
    ("stride", "(b * max_len + l[:, None]) * D", "(b * length + l[:, None]) * D"),
    ("unwritten", "x, mask=(l[:, None] < max_len) & (d[None, :] < D))", "x, mask=keep)"),
    ("grid", "triton.cdiv(max_len, 8)", "1"),
    ("loop", "for start in range(0, D, BLOCK_D):", "for start in range(0, 1, BLOCK_D):"),
    ("off by one", "(l[:, None] < length)", "(l[:, None] <= length)"),
    ("mask", "mask=(l[:, None] < max_len) & (d[None, :] < D))", "mask=d[None, :] < D)"),
    ("index", "end = tl.load(offsets + b + 1)", "end = tl.load(offsets + tl.num_programs(0))"),
]
EQUIVALENT = [("BLOCK_L=8, BLOCK_D=32", "BLOCK_L=8, BLOCK_D=64"), ("tl.minimum(end - begin, max_len)", "tl.where(end - begin > max_len, max_len, end - begin)")]
