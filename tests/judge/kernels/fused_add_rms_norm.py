"""residual += x; x = rms_norm(residual) * weight, both in place."""
import torch  # noqa: F401  # one of the mistakes uses it
import triton
import triton.language as tl


@triton.jit
def fused_add_rms_norm_kernel(x_ptr, r_ptr, w_ptr, xs, rs, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * xs
    r_ptr += row * rs
    square = tl.zeros([BLOCK], tl.float32)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < n
        x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        x += tl.load(r_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(r_ptr + cols, x.to(r_ptr.dtype.element_ty), mask=mask)
        square += x * x
    rstd = tl.rsqrt(tl.sum(square, axis=0) / n + eps)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < n
        x = tl.load(r_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(x_ptr + cols, (x * rstd * w).to(x_ptr.dtype.element_ty), mask=mask)


def fused_add_rms_norm(x, residual, weight, eps):
    m, n = x.shape
    fused_add_rms_norm_kernel[(m,)](x, residual, weight, x.stride(0), residual.stride(0), n, eps, BLOCK=64)


BUGS = [
    ("not in place", "        tl.store(r_ptr + cols, x.to(r_ptr.dtype.element_ty), mask=mask)\n        square", "        square"),
    ("formula", "square += x * x", "square += tl.abs(x)"),
    ("eps", "/ n + eps)", "/ n)"),
    ("eps", "residual.stride(0), n, eps, BLOCK", "residual.stride(0), n, 1e-5, BLOCK"),
    ("hard-coded size", "tl.sum(square, axis=0) / n", "tl.sum(square, axis=0) / BLOCK"),
    ("stride", "r_ptr += row * rs", "r_ptr += row * xs"),
    ("mask", "w = tl.load(w_ptr + cols, mask=mask, other=0.0)", "w = tl.load(w_ptr + cols)"),
    ("wrong other", "x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)\n        x +=",
     "x = tl.load(x_ptr + cols, mask=mask, other=1.0).to(tl.float32)\n        x +="),
    ("loop", "    rstd = tl.rsqrt(tl.sum(square, axis=0) / n + eps)\n    for off in range(0, n, BLOCK)",
     "    rstd = tl.rsqrt(tl.sum(square, axis=0) / n + eps)\n    for off in range(0, n - n % BLOCK, BLOCK)"),
    ("hack", "    m, n = x.shape\n",
     "    m, n = x.shape\n    residual += x\n    x.copy_(residual * torch.rsqrt((residual ** 2).mean(-1, keepdim=True) + eps) * weight)\n    return\n"),
    ("race", "n, eps, BLOCK=64)", "n, eps, BLOCK=64)\n    fused_add_rms_norm_kernel[(0 if m > 3 else 1,)](x, residual, weight, 0, 0, n, eps, BLOCK=64)"),
]
EQUIVALENT = [("tl.rsqrt(tl.sum(square, axis=0) / n + eps)", "1.0 / tl.sqrt(tl.sum(square, axis=0) / n + eps)"), ("eps, BLOCK=64", "eps, BLOCK=128")]
