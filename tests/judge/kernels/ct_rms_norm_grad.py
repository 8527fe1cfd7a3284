"""cuTile: the gradients of RMS norm; that of the weight by atomic sums."""
import cuda.tile as ct
import torch


@ct.kernel
def grad_kernel(dy, x, w, dx, dw, eps, N: ct.Constant[int], TN: ct.Constant[int]):
    row = ct.bid(0)
    g = ct.load(dy, (row, 0), (1, TN), padding_mode=ct.PaddingMode.ZERO)
    v = ct.load(x, (row, 0), (1, TN), padding_mode=ct.PaddingMode.ZERO)
    s = ct.load(w, (0,), (TN,), padding_mode=ct.PaddingMode.ZERO).reshape((1, TN))
    r = ct.rsqrt(ct.sum(v * v, 1, keepdims=True) / N + eps)
    hat = v * r
    wg = g * s
    dot = ct.sum(wg * hat, 1, keepdims=True) / N
    ct.store(dx, (row, 0), (wg - hat * dot) * r)
    ct.atomic_add(dw, ct.arange(TN, dtype=ct.int32), (g * hat).reshape((TN,)))


def rms_norm_grad(dy, x, w, eps):
    M, N = x.shape
    dx = torch.empty((M, N), device=x.device, dtype=x.dtype)
    dw = torch.zeros((N,), device=x.device, dtype=x.dtype)
    TN = 1 << (N - 1).bit_length()
    ct.launch(torch.cuda.current_stream(), (M,), grad_kernel, (dy, x, w, dx, dw, eps, N, TN))
    return dx, dw


BUGS = [
    ("formula", "(wg - hat * dot) * r", "(wg - hat * dot)"),
    ("formula", "wg = g * s", "wg = g"),
    ("unwritten", "dw = torch.zeros((N,)", "dw = torch.empty((N,)"),
    ("hard-coded size", "dot = ct.sum(wg * hat, 1, keepdims=True) / N", "dot = ct.sum(wg * hat, 1, keepdims=True) / TN"),
    ("missing atomic", "ct.atomic_add(dw, ct.arange(TN, dtype=ct.int32), (g * hat).reshape((TN,)))",
     "ct.scatter(dw, ct.arange(TN, dtype=ct.int32), ct.gather(dw, ct.arange(TN, dtype=ct.int32)) + (g * hat).reshape((TN,)))"),
    ("eps", "dx, dw, eps, N, TN", "dx, dw, 1e-6, N, TN"),
    ("eps", "/ N + eps)", "/ N)"),
    ("formula", "(g * hat).reshape((TN,))", "(wg * hat).reshape((TN,))"),
    ("size", "TN = 1 << (N - 1).bit_length()", "TN = max(1, 1 << (N.bit_length() - 1))"),
    ("result", "    return dx, dw\n", "    return dx, dw.unsqueeze(0)\n"),
    ("hack", "    return dx, dw\n", "    r = torch.rsqrt((x * x).mean(1, keepdim=True) + eps)\n    return dx, (dy * x * r).sum(0)\n"),
]
EQUIVALENT = [
    ("(wg - hat * dot) * r", "r * wg - hat * dot * r"),
    ("ct.rsqrt(ct.sum(v * v, 1, keepdims=True) / N + eps)", "1.0 / ct.sqrt(ct.sum(v * v, 1, keepdims=True) / N + eps)"),
]
