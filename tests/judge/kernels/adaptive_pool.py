"""Averages over windows of uneven sizes: window i of k over n elements begins at i n // k and ends before ceil((i + 1) n / k)."""
import torch
import triton
import triton.language as tl


@triton.jit
def pool_kernel(x_ptr, o_ptr, H, W, P, Q, B: tl.constexpr):
    image = tl.program_id(0)
    place = tl.program_id(1) * B + tl.arange(0, B)
    live = place < P * Q
    p, q = place // Q, place % Q
    top, bottom = p * H // P, ((p + 1) * H + P - 1) // P
    left, right = q * W // Q, ((q + 1) * W + Q - 1) // Q
    acc = tl.zeros((B,), tl.float32)
    for dh in range((H + P - 1) // P + 1):
        for dw in range((W + Q - 1) // Q + 1):
            h, w = top + dh, left + dw
            acc += tl.load(x_ptr + (image * H + h) * W + w, mask=live & (h < bottom) & (w < right), other=0.0)
    tl.store(o_ptr + image * P * Q + place, acc / ((bottom - top) * (right - left)), mask=live)


def reference(x, p, q):
    n, h, w = x.shape
    o = torch.empty((n, p, q), device=x.device)
    pool_kernel[(n, triton.cdiv(p * q, 32))](x, o, h, w, p, q, B=32)
    return o


BUGS = [
    ("formula", "((p + 1) * H + P - 1) // P", "((p + 1) * H) // P"),
    ("formula", "/ ((bottom - top) * (right - left))", "/ ((H // P) * (W // Q))"),
    ("loop", "range((H + P - 1) // P + 1)", "range(H // P)"),
    ("mask", "live & (h < bottom) & (w < right)", "live & (h < bottom) & (w <= right) & (w < W)"),
    ("grid", "triton.cdiv(p * q, 32)", "max(1, p * q // 32)"),
    ("exchanged", "(image * H + h) * W + w", "(image * W + h) * H + w"),
]
EQUIVALENT = [("B=32)", "B=64)"), ("live & (h < bottom) & (w < right)", "(h < bottom) & (w < right) & live")]
