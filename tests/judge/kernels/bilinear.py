"""Bilinear resize of an image, pixel centres at halves."""
import torch
import triton
import triton.language as tl


@triton.jit
def resize_kernel(x_ptr, o_ptr, h, w, oh, ow, sc, sh, sw, B: tl.constexpr):
    c = tl.program_id(1)
    at = tl.program_id(0) * B + tl.arange(0, B)
    live = at < oh * ow
    oy = at // ow
    ox = at % ow
    fy = (oy.to(tl.float32) + 0.5) * (h / oh) - 0.5
    fx = (ox.to(tl.float32) + 0.5) * (w / ow) - 0.5
    fy = tl.maximum(fy, 0.0)
    fx = tl.maximum(fx, 0.0)
    y0 = fy.to(tl.int32)
    x0 = fx.to(tl.int32)
    y1 = tl.minimum(y0 + 1, h - 1)
    x1 = tl.minimum(x0 + 1, w - 1)
    dy = fy - y0
    dx = fx - x0
    base = x_ptr + c * sc
    a = tl.load(base + y0 * sh + x0 * sw, mask=live, other=0.0)
    b = tl.load(base + y0 * sh + x1 * sw, mask=live, other=0.0)
    d = tl.load(base + y1 * sh + x0 * sw, mask=live, other=0.0)
    e = tl.load(base + y1 * sh + x1 * sw, mask=live, other=0.0)
    top = a * (1 - dx) + b * dx
    low = d * (1 - dx) + e * dx
    tl.store(o_ptr + c * oh * ow + at, top * (1 - dy) + low * dy, mask=live)


def reference(x, oh, ow):
    c, h, w = x.shape
    o = torch.empty((c, oh, ow), device=x.device, dtype=x.dtype)
    resize_kernel[(triton.cdiv(oh * ow, 128), c)](x, o, h, w, oh, ow, x.stride(0), x.stride(1), x.stride(2), B=128)
    return o


BUGS = [
    ("mask", "live = at < oh * ow", "live = at <= oh * ow"),
    ("bounds", "y1 = tl.minimum(y0 + 1, h - 1)", "y1 = y0 + 1"),
    ("constant", "(w / ow) - 0.5", "(w / ow) - 0.25"),
    ("special", "    fy = tl.maximum(fy, 0.0)\n", ""),
    ("stride", "base + y1 * sh + x0 * sw", "base + y1 * w + x0"),
    ("wrong operand", "low = d * (1 - dx) + e * dx", "low = d * (1 - dx) + b * dx"),
    ("grid", "triton.cdiv(oh * ow, 128), c)", "oh * ow // 128 + 1, 1)"),
]
EQUIVALENT = [("top * (1 - dy) + low * dy", "top + (low - top) * dy"), ("B=128", "B=128, num_warps=8")]
