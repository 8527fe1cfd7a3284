"""For each bin the largest value and how many values it got, by atomic updates; a bin without values has -1 and 0."""
import torch
import triton
import triton.language as tl


@triton.jit
def bins_kernel(x_ptr, bin_ptr, top_ptr, count_ptr, n, bins, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    b = tl.load(bin_ptr + i, mask=inside, other=-1)
    inside = inside & (b >= 0) & (b < bins)
    v = tl.load(x_ptr + i, mask=inside, other=0)
    tl.atomic_max(top_ptr + b, v, mask=inside)
    tl.atomic_add(count_ptr + b, 1, mask=inside)


def reference(x, places, bins):
    n = x.numel()
    top = torch.full((bins,), -1, dtype=torch.int32, device=x.device)
    count = torch.zeros(bins, dtype=torch.int32, device=x.device)
    bins_kernel[(triton.cdiv(n, 64),)](x, places, top, count, n, bins, B=64)
    return top, count


BUGS = [
    ("mask", "inside & (b >= 0) & (b < bins)", "inside & (b < bins)"),
    ("missing atomic", "tl.atomic_add(count_ptr + b, 1, mask=inside)", "tl.store(count_ptr + b, tl.load(count_ptr + b, mask=inside) + 1, mask=inside)"),
    ("initial", "torch.full((bins,), -1,", "torch.full((bins,), 0,"),
    ("empty", "count = torch.zeros(bins,", "count = torch.empty(bins,"),
    ("grid", "triton.cdiv(n, 64)", "max(1, n // 64)"),
    ("formula", "tl.atomic_add(count_ptr + b, 1, mask=inside)", "tl.atomic_add(count_ptr + b, 1, mask=inside & (v > 0))"),
]
EQUIVALENT = [("(triton.cdiv(n, 64),)](x, places, top, count, n, bins, B=64)", "(triton.cdiv(n, 32),)](x, places, top, count, n, bins, B=32)"),
              ("inside & (b >= 0) & (b < bins)", "inside & (b < bins) & (b > -1)")]
