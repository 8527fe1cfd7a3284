"""Channels become pixels: [c * r * r, h, w] to [c, h * r, w * r]."""
import torch
import triton
import triton.language as tl


@triton.jit
def shuffle_kernel(x_ptr, o_ptr, c, h, w, sc, sh, sw, R: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    live = at < c * h * R * w * R
    x = at % (w * R)
    y = at // (w * R) % (h * R)
    channel = at // (w * R * h * R)
    from_channel = channel * R * R + (y % R) * R + x % R
    v = tl.load(x_ptr + from_channel * sc + (y // R) * sh + (x // R) * sw, mask=live)
    tl.store(o_ptr + at, v, mask=live)


def reference(x):
    r = 3
    channels, h, w = x.shape
    c = channels // (r * r)
    o = torch.empty((c, h * r, w * r), dtype=x.dtype, device=x.device)
    n = o.numel()
    shuffle_kernel[(triton.cdiv(n, 128),)](x, o, c, h, w, *x.stride(), R=r, B=128)
    return o


BUGS = [
    ("order", "(y % R) * R + x % R", "(x % R) * R + y % R"),
    ("stride", "sc, sh, sw, R: tl.constexpr, B: tl.constexpr):\n", "sc, sh, sw, R: tl.constexpr, B: tl.constexpr):\n    sw = 1\n"),
    ("grid", "triton.cdiv(n, 128)", "max(1, n // 128)"),
    ("mask", "tl.store(o_ptr + at, v, mask=live)", "tl.store(o_ptr + at, v)"),
    ("type", "tl.store(o_ptr + at, v, mask=live)", "tl.store(o_ptr + at, v.to(tl.float8e5), mask=live)"),
]
EQUIVALENT = [("at // (w * R) % (h * R)", "(at // (w * R)) % (R * h)"), ("B=128)", "B=128, num_warps=1)")]
