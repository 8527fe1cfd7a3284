"""Signs of x - threshold as bits, eight in a byte, the first lowest."""
import torch
import triton
import triton.language as tl


@triton.jit
def pack_kernel(x_ptr, o_ptr, n, width, s0, s1, threshold, B: tl.constexpr):
    row = tl.program_id(0)
    byte = tl.program_id(1) * B + tl.arange(0, B)
    bit = tl.arange(0, 8)
    col = byte[:, None] * 8 + bit[None, :]
    x = tl.load(x_ptr + row * s0 + col * s1, mask=col < n, other=threshold)
    value = tl.sum((x > threshold).to(tl.int32) << bit[None, :], 1)
    tl.store(o_ptr + row * width + byte, value.to(tl.uint8), mask=byte < width)


def reference(x, threshold):
    m, n = x.shape
    width = (n + 7) // 8
    B = 16
    o = torch.empty((m, width), device=x.device, dtype=torch.uint8)
    pack_kernel[(m, triton.cdiv(width, B))](x, o, n, width, x.stride(0), x.stride(1), threshold, B=B)
    return o


BUGS = [
    ("tie", "(x > threshold)", "(x >= threshold)"),
    ("mask", "mask=col < n, other=threshold", "mask=byte[:, None] < width, other=threshold"),
    ("order", "<< bit[None, :]", "<< (7 - bit[None, :])"),
    ("mask", "mask=byte < width)", "mask=byte <= width)"),
    ("size", "width = (n + 7) // 8", "width = n // 8 + 1"),
    ("argument", "x.stride(1), threshold,", "x.stride(1), 0.0,"),
    ("special", "mask=col < n, other=threshold)", "mask=col < n, other=1.0)"),
]
EQUIVALENT = [("(x > threshold).to(tl.int32) << bit[None, :]", "tl.where(x > threshold, 1 << bit[None, :], 0)"), ("B = 16", "B = 32")]
