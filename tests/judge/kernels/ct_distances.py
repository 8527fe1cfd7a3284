"""Squared distances of all pairs of points, by differences."""
import cuda.tile as ct
import torch


@ct.kernel
def distance_kernel(x, y, o, TM: ct.Constant[int], TN: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.zeros((TM, TN), ct.float32)
    for k in range(x.shape[1]):
        u = ct.load(x, index=(i, k), shape=(TM, 1), padding_mode=ct.PaddingMode.ZERO)
        v = ct.load(y, index=(j, k), shape=(TN, 1), padding_mode=ct.PaddingMode.ZERO)
        d = u - ct.transpose(v)
        total = total + d * d
    ct.store(o, index=(i, j), tile=total)


def reference(x, y):
    m, n = x.shape[0], y.shape[0]
    o = torch.empty((m, n), device=x.device)
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(m, 16), ct.cdiv(n, 16)), distance_kernel, (x, y, o, 16, 16))
    return o


BUGS = [
    ("transposed", "ct.store(o, index=(i, j), tile=total)", "ct.store(o, index=(j, i), tile=ct.transpose(total))"),
    ("cancellation", "        d = u - ct.transpose(v)\n        total = total + d * d\n",
     "        total = total + (u * u + ct.transpose(v * v) - 2 * u * ct.transpose(v))\n"),
    ("loop", "for k in range(x.shape[1]):", "for k in range(x.shape[1] - 1):"),
    ("precision", "total = total + d * d", "total = total + ct.astype(ct.astype(d * d, ct.bfloat16), ct.float32)"),
    ("shape", "m, n = x.shape[0], y.shape[0]", "m, n = x.shape[0], x.shape[0]"),
]
EQUIVALENT = [("d = u - ct.transpose(v)", "d = ct.transpose(v) - u"),
              ("ct.cdiv(m, 16), ct.cdiv(n, 16)), distance_kernel, (x, y, o, 16, 16)", "ct.cdiv(m, 32), ct.cdiv(n, 8)), distance_kernel, (x, y, o, 32, 8)")]
