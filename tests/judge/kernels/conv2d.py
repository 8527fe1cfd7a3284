"""Two-dimensional convolution with padding and a step, a bias and relu: a block for each image, output channel and part of the places."""
import torch
import triton
import triton.language as tl


@triton.jit
def conv_kernel(x_ptr, w_ptr, b_ptr, o_ptr, C, H, W, K, R, S, P, Q, pad, step, B: tl.constexpr):
    image = tl.program_id(0) // K
    k = tl.program_id(0) % K
    place = tl.program_id(1) * B + tl.arange(0, B)
    p, q = place // Q, place % Q
    live = place < P * Q
    acc = tl.zeros((B,), tl.float32)
    for c in range(C):
        for r in range(R):
            for s in range(S):
                h, w = p * step + r - pad, q * step + s - pad
                inside = live & (h >= 0) & (h < H) & (w >= 0) & (w < W)
                value = tl.load(x_ptr + ((image * C + c) * H + h) * W + w, mask=inside, other=0.0).to(tl.float32)
                weight = tl.load(w_ptr + ((k * C + c) * R + r) * S + s).to(tl.float32)
                acc += value * weight
    acc = tl.maximum(acc + tl.load(b_ptr + k).to(tl.float32), 0.0)
    tl.store(o_ptr + (image * K + k) * P * Q + place, acc, mask=live)


def reference(x, w, b, pad, step):
    x, w = x.contiguous(), w.contiguous()
    n, c, h, wide = x.shape
    k, _, r, s = w.shape
    p, q = (h + 2 * pad - r) // step + 1, (wide + 2 * pad - s) // step + 1
    o = torch.empty((n, k, p, q), device=x.device, dtype=x.dtype)
    conv_kernel[(n * k, triton.cdiv(p * q, 64))](x, w, b, o, c, h, wide, k, r, s, p, q, pad, step, B=64)
    return o


BUGS = [
    ("mask", "(w >= 0) & (w < W)", "(w < W)"),
    ("exchanged", "p, q = place // Q, place % Q", "p, q = place // P, place % P"),
    ("wrong formula", "h, w = p * step + r - pad, q * step + s - pad", "h, w = p * step + r - pad, q + s - pad"),
    ("grid", "triton.cdiv(p * q, 64)", "triton.cdiv(p * q, 128)"),
    ("accumulator", "acc += value * weight", "acc = (acc + value * weight).to(tl.float16).to(tl.float32)"),
]
EQUIVALENT = [("acc += value * weight", "acc = tl.fma(value, weight, acc)"), ("inside = live & (h >= 0)", "inside = (h >= 0) & live")]
