"""Cosines of the rows of two matrices."""
import cuda.tile as ct
import torch


@ct.kernel
def cosine_kernel(x, y, o, eps, TR: ct.Constant[int], TC: ct.Constant[int]):
    i = ct.bid(0)
    xy = ct.zeros((TR,), ct.float32)
    xx = ct.zeros((TR,), ct.float32)
    yy = ct.zeros((TR,), ct.float32)
    for j in range(ct.num_tiles(x, axis=1, shape=(TR, TC))):
        u = ct.load(x, index=(i, j), shape=(TR, TC), padding_mode=ct.PaddingMode.ZERO)
        v = ct.load(y, index=(i, j), shape=(TR, TC), padding_mode=ct.PaddingMode.ZERO)
        xy = xy + ct.sum(u * v, axis=1)
        xx = xx + ct.sum(u * u, axis=1)
        yy = yy + ct.sum(v * v, axis=1)
    ct.store(o, index=(i,), tile=xy / (ct.maximum(ct.sqrt(xx), eps) * ct.maximum(ct.sqrt(yy), eps)))


def reference(x, y, eps):
    o = torch.empty(x.shape[0], device=x.device)
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(x.shape[0], 4),), cosine_kernel, (x, y, o, eps, 4, 64))
    return o


BUGS = [
    ("formula", "ct.maximum(ct.sqrt(yy), eps)", "ct.sqrt(yy)"),
    ("formula", "ct.maximum(ct.sqrt(xx), eps)", "ct.sqrt(xx + eps)"),
    ("initial", "yy = ct.zeros((TR,), ct.float32)", "yy = ct.ones((TR,), ct.float32)"),
    ("exchanged", "yy = yy + ct.sum(v * v, axis=1)", "yy = yy + ct.sum(u * v, axis=1)"),
    ("grid", "ct.cdiv(x.shape[0], 4)", "max(1, x.shape[0] // 4)"),
]
EQUIVALENT = [("ct.sum(u * v, axis=1)", "ct.sum(v * u, axis=1)"), ("o, eps, 4, 64)", "o, eps, 4, 32)")]
