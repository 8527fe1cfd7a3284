"""The gradient of group norm by its input; channels last."""
import torch
import triton
import triton.language as tl


@triton.jit
def grad_kernel(dy_ptr, x_ptr, w_ptr, dx_ptr, p, c, each, sd0, sd1, sd2, sx0, sx1, sx2, eps, B: tl.constexpr):
    n = tl.program_id(0)
    group = tl.program_id(1)
    count = p * each
    total = tl.zeros((B,), tl.float32)
    for start in range(0, count, B):
        at = start + tl.arange(0, B)
        live = at < count
        x = tl.load(x_ptr + n * sx0 + at // each * sx1 + (group * each + at % each) * sx2, mask=live, other=0.0)
        total += x
    mean = tl.sum(total, 0) / count
    square = tl.zeros((B,), tl.float32)
    for start in range(0, count, B):
        at = start + tl.arange(0, B)
        live = at < count
        x = tl.load(x_ptr + n * sx0 + at // each * sx1 + (group * each + at % each) * sx2, mask=live, other=0.0)
        d = tl.where(live, x - mean, 0.0)
        square += d * d
    rstd = 1 / tl.sqrt(tl.sum(square, 0) / count + eps)
    sum_g = tl.zeros((B,), tl.float32)
    sum_gh = tl.zeros((B,), tl.float32)
    for start in range(0, count, B):
        at = start + tl.arange(0, B)
        live = at < count
        channel = group * each + at % each
        x = tl.load(x_ptr + n * sx0 + at // each * sx1 + channel * sx2, mask=live, other=0.0)
        g = tl.load(dy_ptr + n * sd0 + at // each * sd1 + channel * sd2, mask=live, other=0.0)
        g = g * tl.load(w_ptr + channel, mask=live, other=0.0)
        sum_g += g
        sum_gh += g * (x - mean) * rstd
    mean_g = tl.sum(sum_g, 0) / count
    mean_gh = tl.sum(sum_gh, 0) / count
    for start in range(0, count, B):
        at = start + tl.arange(0, B)
        live = at < count
        channel = group * each + at % each
        x = tl.load(x_ptr + n * sx0 + at // each * sx1 + channel * sx2, mask=live, other=0.0)
        g = tl.load(dy_ptr + n * sd0 + at // each * sd1 + channel * sd2, mask=live, other=0.0)
        g = g * tl.load(w_ptr + channel, mask=live, other=0.0)
        dx = rstd * (g - mean_g - (x - mean) * rstd * mean_gh)
        tl.store(dx_ptr + (n * p + at // each) * c + channel, dx, mask=live)


def reference(dy, x, weight, groups, eps):
    n, p, c = x.shape
    dx = torch.empty((n, p, c), device=x.device, dtype=x.dtype)
    grad_kernel[(n, groups)](dy, x, weight, dx, p, c, c // groups, *dy.stride(), *x.stride(), eps, B=64)
    return dx


BUGS = [
    ("mask", "d = tl.where(live, x - mean, 0.0)", "d = x - mean"),
    ("formula", "dx = rstd * (g - mean_g - (x - mean) * rstd * mean_gh)", "dx = rstd * (g - (x - mean) * rstd * mean_gh)"),
    ("stride", "*dy.stride(), *x.stride()", "*x.stride(), *x.stride()"),
    ("argument", "tl.sum(square, 0) / count + eps", "tl.sum(square, 0) / count + 1e-6"),
    ("argument", "        g = g * tl.load(w_ptr + channel, mask=live, other=0.0)\n        sum_g += g", "        sum_g += g"),
    ("init", "    sum_gh = tl.zeros((B,), tl.float32)\n", "    sum_gh = square\n"),
    ("count", "mean_gh = tl.sum(sum_gh, 0) / count", "mean_gh = tl.sum(sum_gh, 0) / (count - 1)"),
    ("grid", "grad_kernel[(n, groups)]", "grad_kernel[(n, 1)]"),
]
EQUIVALENT = [
    ("1 / tl.sqrt(tl.sum(square, 0) / count + eps)",
     "tl.rsqrt(tl.sum(square, 0) / count + eps)"),
    ("sum_gh += g * (x - mean) * rstd",
     "sum_gh += (x - mean) * (g * rstd)"),
]
