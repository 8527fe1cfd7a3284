"""How much two boxes have in common, for each pair: the area of both over the area of either; boxes are x0, y0, width and height."""
import cuda.tile as ct
import torch


@ct.kernel
def iou_kernel(a, b, o, TM: ct.Constant[int], TN: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    u = ct.load(a, index=(i, 0), shape=(TM, 4), padding_mode=ct.PaddingMode.ZERO)
    v = ct.load(b, index=(j, 0), shape=(TN, 4), padding_mode=ct.PaddingMode.ZERO)
    ax, ay = ct.extract(u, index=(0, 0), shape=(TM, 1)), ct.extract(u, index=(0, 1), shape=(TM, 1))
    aw, ah = ct.extract(u, index=(0, 2), shape=(TM, 1)), ct.extract(u, index=(0, 3), shape=(TM, 1))
    v = ct.transpose(v)
    bx, by = ct.extract(v, index=(0, 0), shape=(1, TN)), ct.extract(v, index=(1, 0), shape=(1, TN))
    bw, bh = ct.extract(v, index=(2, 0), shape=(1, TN)), ct.extract(v, index=(3, 0), shape=(1, TN))
    wide = ct.maximum(ct.minimum(ax + aw, bx + bw) - ct.maximum(ax, bx), 0.0)
    high = ct.maximum(ct.minimum(ay + ah, by + bh) - ct.maximum(ay, by), 0.0)
    both = wide * high
    ct.store(o, index=(i, j), tile=both / (aw * ah + bw * bh - both + 1.0))


def reference(a, b):
    m, n = a.shape[0], b.shape[0]
    o = torch.empty((m, n), device=a.device)
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(m, 8), ct.cdiv(n, 16)), iou_kernel, (a, b, o, 8, 16))
    return o


BUGS = [
    ("wrong formula", "ct.minimum(ax + aw, bx + bw) - ct.maximum(ax, bx), 0.0)", "ct.minimum(ax + aw, bx + bw) - ct.maximum(ax, bx), -1.0)"),
    ("exchanged", "ct.minimum(ay + ah, by + bh) - ct.maximum(ay, by)", "ct.minimum(ay + aw, by + bw) - ct.maximum(ay, by)"),
    ("wrong formula", "bw * bh - both + 1.0", "bw * bh + 1.0"),
    ("grid", "ct.cdiv(n, 16)),", "max(1, n // 16)),"),
    ("index", "tile=both / (aw * ah", "tile=both / (bw * ah"),
]
EQUIVALENT = [("both = wide * high", "both = high * wide"), ("(a, b, o, 8, 16)", "(a, b, o, 8, 8 * 2)")]
