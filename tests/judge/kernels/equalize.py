"""Histogram equalisation of an image of bytes: counts, a table, a look-up."""
import torch
import triton
import triton.language as tl


@triton.jit
def count_kernel(x_ptr, counts_ptr, w, n, sh, sw, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    live = i < n
    v = tl.load(x_ptr + i // w * sh + i % w * sw, mask=live, other=0).to(tl.int32)
    tl.atomic_add(counts_ptr + v, 1, mask=live)


@triton.jit
def table_kernel(counts_ptr, table_ptr, n):
    v = tl.arange(0, 256)
    counts = tl.load(counts_ptr + v).to(tl.int64)
    total = tl.cumsum(counts, 0)
    first = tl.min(tl.where(total > 0, total, n), 0)
    span = tl.maximum(n - first, 1)
    table = (tl.maximum(total - first, 0) * 255 + span // 2) // span
    tl.store(table_ptr + v, table.to(tl.uint8))


@triton.jit
def look_kernel(x_ptr, table_ptr, o_ptr, w, n, sh, sw, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    live = i < n
    v = tl.load(x_ptr + i // w * sh + i % w * sw, mask=live, other=0).to(tl.int32)
    tl.store(o_ptr + i, tl.load(table_ptr + v, mask=live, other=0), mask=live)


def reference(image):
    h, w = image.shape
    n = h * w
    counts = torch.zeros(256, device=image.device, dtype=torch.int32)
    table = torch.empty(256, device=image.device, dtype=torch.uint8)
    o = torch.empty((h, w), device=image.device, dtype=torch.uint8)
    grid = (triton.cdiv(n, 256),)
    count_kernel[grid](image, counts, w, n, image.stride(0), image.stride(1), B=256)
    table_kernel[(1,)](counts, table, n)
    look_kernel[grid](image, table, o, w, n, image.stride(0), image.stride(1), B=256)
    return o


BUGS = [
    ("mask", "tl.atomic_add(counts_ptr + v, 1, mask=live)", "tl.atomic_add(counts_ptr + v, 1)"),
    ("init", "counts = torch.zeros(256,", "counts = torch.empty(256,"),
    ("race", "    tl.atomic_add(counts_ptr + v, 1, mask=live)", "    tl.store(counts_ptr + v, tl.load(counts_ptr + v, mask=live) + 1, mask=live)"),
    ("rounding", "* 255 + span // 2) // span", "* 255) // span"),
    ("constant", "total - first, 0) * 255", "total - first, 0) * 256"),
    ("kept",
     "counts = torch.zeros(256, device=image.device, dtype=torch.int32)",
     "counts = KEPT.setdefault('counts', torch.zeros(256, device=image.device, dtype=torch.int32))"),
    ("first", "tl.where(total > 0, total, n)", "tl.where(total >= 0, total, n)"),
]
EQUIVALENT = [
    ("first = tl.min(tl.where(total > 0, total, n), 0)",
     "first = tl.min(tl.where(counts > 0, total, n), 0)"),
    ("tl.maximum(total - first, 0) * 255",
     "255 * tl.maximum(total - first, 0)"),
]
