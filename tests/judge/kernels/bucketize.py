"""Places of values among sorted borders, by a binary search in each lane; a border that equals the value lies after it."""
import torch
import triton
import triton.language as tl


@triton.jit
def search_kernel(x_ptr, border_ptr, o_ptr, n, m, sx, rounds, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    live = i < n
    x = tl.load(x_ptr + i * sx, mask=live, other=0.0)
    low = tl.zeros((B,), tl.int32)
    high = tl.zeros((B,), tl.int32) + m
    for _ in range(rounds):
        middle = (low + high) // 2
        open = low < high
        border = tl.load(border_ptr + middle, mask=live & open, other=0.0)
        right = open & (border < x)
        low = tl.where(right, middle + 1, low)
        high = tl.where(open & (border >= x), middle, high)
    tl.store(o_ptr + i, low.to(tl.int64), mask=live)


def reference(x, borders):
    n, m = x.shape[0], borders.shape[0]
    o = torch.empty(n, dtype=torch.int64, device=x.device)
    search_kernel[(triton.cdiv(n, 64),)](x, borders, o, n, m, x.stride(0), m.bit_length(), B=64)
    return o


BUGS = [
    ("tie", "right = open & (border < x)", "right = open & (border <= x)"),
    ("loop", "m.bit_length(), B=64", "max(1, m.bit_length() - 1), B=64"),
    ("off by one", "tl.where(right, middle + 1, low)", "tl.where(right, middle, low)"),
    ("mask", "border = tl.load(border_ptr + middle, mask=live & open, other=0.0)", "border = tl.load(border_ptr + middle, mask=live, other=0.0)"),
    ("dtype", "x = tl.load(x_ptr + i * sx, mask=live, other=0.0)", "x = tl.load(x_ptr + i * sx, mask=live, other=0.0).to(tl.bfloat16).to(tl.float32)"),
]
EQUIVALENT = [("(low + high) // 2", "low + (high - low) // 2"), ("m.bit_length(), B=64", "m.bit_length() + 1, B=64")]
