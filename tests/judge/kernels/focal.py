"""Focal loss of logits and labels of 0 and 1: a sum for each row."""
import torch
import triton
import triton.language as tl


@triton.jit
def focal_kernel(x_ptr, t_ptr, o_ptr, n, sx, st, alpha, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((B,), tl.float32)
    for begin in range(0, n, B):
        c = begin + tl.arange(0, B)
        live = c < n
        x = tl.load(x_ptr + row * sx + c, mask=live, other=0.0).to(tl.float32)
        t = tl.load(t_ptr + row * st + c, mask=live, other=0).to(tl.float32)
        p = tl.sigmoid(x)
        ce = tl.maximum(x, 0.0) - x * t + tl.log(1.0 + tl.exp(-tl.abs(x)))
        pt = p * t + (1 - p) * (1 - t)
        weight = alpha * t + (1 - alpha) * (1 - t)
        loss = weight * (1 - pt) * (1 - pt) * ce
        total += tl.where(live, loss, 0.0)
    tl.store(o_ptr + row, tl.sum(total, 0))


def reference(x, target, alpha):
    m, n = x.shape
    o = torch.empty(m, device=x.device)
    focal_kernel[(m,)](x, target, o, n, x.stride(0), target.stride(0), alpha, B=64)
    return o


BUGS = [
    ("overflow", "tl.maximum(x, 0.0) - x * t + tl.log(1.0 + tl.exp(-tl.abs(x)))", "tl.log(1.0 + tl.exp(x)) - x * t"),
    ("mask", "total += tl.where(live, loss, 0.0)", "total += loss"),
    ("argument", "weight = alpha * t", "weight = 0.25 * t"),
    ("stride", "t_ptr + row * st + c", "t_ptr + row * sx + c"),
    ("accumulator", "total = tl.zeros((B,), tl.float32)", "total = tl.zeros((B,), tl.float16)"),
    ("loop", "for begin in range(0, n, B):", "for begin in range(0, n - 1, B):"),
]
EQUIVALENT = [("(1 - pt) * (1 - pt) * ce", "((1 - pt) * ce) * (1 - pt)"), ("B=64)", "B=128)")]
