"""Mean of 3 x 3 neighbours of an image of bytes, reflected at its borders, rounded half up."""
import torch
import triton
import triton.language as tl


@triton.jit
def box_kernel(x_ptr, o_ptr, h, w, stride, BH: tl.constexpr, BW: tl.constexpr):
    y = tl.program_id(0) * BH + tl.arange(0, BH)[:, None]
    x = tl.program_id(1) * BW + tl.arange(0, BW)[None, :]
    live = (y < h) & (x < w)
    total = tl.zeros((BH, BW), tl.int32)
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            yy = tl.abs(y + dy)
            xx = tl.abs(x + dx)
            yy = tl.where(yy >= h, 2 * h - 2 - yy, yy)
            xx = tl.where(xx >= w, 2 * w - 2 - xx, xx)
            total += tl.load(x_ptr + yy * stride + xx, mask=live, other=0).to(tl.int32)
    tl.store(o_ptr + y * w + x, ((total * 2 + 9) // 18).to(tl.uint8), mask=live)


def reference(image):
    h, w = image.shape
    o = torch.empty((h, w), dtype=torch.uint8, device=image.device)
    box_kernel[(triton.cdiv(h, 8), triton.cdiv(w, 32))](image, o, h, w, image.stride(0), BH=8, BW=32)
    return o


BUGS = [
    ("border", "yy = tl.where(yy >= h, 2 * h - 2 - yy, yy)", "yy = tl.where(yy >= h, h - 1, yy)"),
    ("rounding", "(total * 2 + 9) // 18", "total // 9"),
    ("type", "mask=live, other=0).to(tl.int32)\n", "mask=live, other=0).to(tl.int8).to(tl.int32)\n"),
    ("stride", "x_ptr + yy * stride + xx", "x_ptr + yy * w + xx"),
    ("grid", "triton.cdiv(w, 32))]", "triton.cdiv(h, 32))]"),
    ("mask", "live = (y < h) & (x < w)", "live = (y < h) & (x <= w)"),
]
EQUIVALENT = [("for dx in range(-1, 2)", "for dx in tl.static_range(-1, 2)"), ("(total * 2 + 9) // 18", "(total + 4) // 9")]
