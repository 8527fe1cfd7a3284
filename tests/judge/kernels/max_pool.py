"""Maxima of 3 x 3 windows, two apart, with a border of one, and where they are."""
import torch
import triton
import triton.language as tl


@triton.jit
def pool_kernel(x_ptr, o_ptr, w_ptr, h, w, oh, ow, B: tl.constexpr):
    plane = tl.program_id(0)
    at = tl.program_id(1) * B + tl.arange(0, B)
    live = at < oh * ow
    row = at // ow
    col = at % ow
    best = tl.full((B,), float("-inf"), tl.float32)
    place = tl.zeros((B,), tl.int32)
    for dy in range(3):
        for dx in range(3):
            y = row * 2 - 1 + dy
            x = col * 2 - 1 + dx
            inside = live & (y >= 0) & (y < h) & (x >= 0) & (x < w)
            v = tl.load(x_ptr + plane * h * w + y * w + x, mask=inside, other=float("-inf"))
            more = v > best
            best = tl.where(more, v, best)
            place = tl.where(more, y * w + x, place)
    tl.store(o_ptr + plane * oh * ow + at, best, mask=live)
    tl.store(w_ptr + plane * oh * ow + at, place.to(tl.int64), mask=live)


def reference(x):
    n, h, w = x.shape
    oh, ow = (h - 1) // 2 + 1, (w - 1) // 2 + 1
    o = torch.empty((n, oh, ow), device=x.device)
    i = torch.empty((n, oh, ow), dtype=torch.int64, device=x.device)
    pool_kernel[(n, triton.cdiv(oh * ow, 64))](x, o, i, h, w, oh, ow, B=64)
    return o, i


BUGS = [
    ("padding", 'best = tl.full((B,), float("-inf"), tl.float32)', "best = tl.zeros((B,), tl.float32)"),
    ("ties", "more = v > best", "more = v >= best"),
    ("mask", " & (x >= 0) & (x < w)", " & (x >= 0)"),
    ("border", "x = col * 2 - 1 + dx", "x = col * 2 + dx"),
    ("type", "tl.store(w_ptr + plane * oh * ow + at, place.to(tl.int64)", "tl.store(w_ptr + plane * oh * ow + at, place.to(tl.int8).to(tl.int64)"),
]
EQUIVALENT = [("B=64)", "B=64, num_warps=2)"), ("row * 2 - 1 + dy", "dy + 2 * row - 1")]
