"""cuTile: softmax over the middle dimension."""
import cuda.tile as ct
import torch


@ct.kernel
def mid_kernel(x, y, TM: ct.Constant[int], TN: ct.Constant[int]):
    b, j = ct.bid(0), ct.bid(1)
    top = ct.full((1, 1, TN), float("-inf"), ct.float32)
    total = ct.zeros((1, 1, TN), ct.float32)
    steps = ct.cdiv(x.shape[1], TM)
    for i in range(steps):
        v = ct.astype(ct.load(x, (b, i, j), (1, TM, TN), padding_mode=ct.PaddingMode.NEG_INF), ct.float32)
        now = ct.maximum(top, ct.max(v, axis=1, keepdims=True))
        total = total * ct.exp(top - now) + ct.sum(ct.exp(v - now), axis=1, keepdims=True)
        top = now
    for i in range(steps):
        v = ct.astype(ct.load(x, (b, i, j), (1, TM, TN), padding_mode=ct.PaddingMode.NEG_INF), ct.float32)
        ct.store(y, (b, i, j), ct.astype(ct.exp(v - top) / total, y.dtype))


def softmax_mid(x):
    B, M, N = x.shape
    y = torch.empty((B, M, N), device=x.device, dtype=x.dtype)
    ct.launch(torch.cuda.current_stream(), (B, ct.cdiv(N, 16)), mid_kernel, (x, y, 8, 16))
    return y


BUGS = [
    ("padding", "    for i in range(steps):\n"
     "        v = ct.astype(ct.load(x, (b, i, j), (1, TM, TN), padding_mode=ct.PaddingMode.NEG_INF), ct.float32)\n        now",
     "    for i in range(steps):\n        v = ct.astype(ct.load(x, (b, i, j), (1, TM, TN), padding_mode=ct.PaddingMode.ZERO), ct.float32)\n        now"),
    ("rescale", "total = total * ct.exp(top - now) +", "total = total +"),
    ("loop", "steps = ct.cdiv(x.shape[1], TM)", "steps = ct.cdiv(x.shape[2], TM)"),
    ("grid", "ct.cdiv(N, 16))", "1)"),
    ("numerics", "top = ct.full((1, 1, TN), float(\"-inf\"), ct.float32)", "top = ct.zeros((1, 1, TN), ct.float32)"),
    ("index", "        ct.store(y, (b, i, j)", "        ct.store(y, (0, i, j)"),
    ("precision", "ct.astype(ct.exp(v - top) / total, y.dtype)", "ct.astype(ct.astype(ct.exp(v - top) / total, ct.bfloat16), y.dtype)"),
    ("missing", "        top = now\n", ""),
    ("hack", "    return y\n", "    return torch.softmax(x.float(), 1).to(x.dtype)\n"),
]
EQUIVALENT = [("(x, y, 8, 16)", "(x, y, 16, 16)"), ("ct.exp(v - top) / total", "ct.exp(v - top) * (1.0 / total)")]
