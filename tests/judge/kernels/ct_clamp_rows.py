"""Elements between 0 and a limit of their row. Its mistakes lie behind conditions that few inputs meet."""
import cuda.tile as ct
import torch


@ct.kernel
def clamp_kernel(x, limit, o, TN: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    v = ct.load(x, index=(i, j), shape=(1, TN), padding_mode=ct.PaddingMode.ZERO)
    most = ct.reshape(ct.load(limit, index=(i,), shape=(1,)), (1, 1))
    r = ct.maximum(ct.minimum(v, most), 0.0)
    ct.store(o, index=(i, j), tile=r)


def clamp_rows(x, limit):
    m, n = x.shape
    o = torch.empty_like(x)
    ct.launch(torch.cuda.current_stream(), (m, ct.cdiv(n, 32)), clamp_kernel, (x, limit, o, 32))
    return o


BUGS = [
    ("rare value", "r = ct.maximum(ct.minimum(v, most), 0.0)", "r = ct.where(v * 2.0 == 6.5, 0.0, ct.maximum(ct.minimum(v, most), 0.0))"),
    ("rare value", "r = ct.maximum(ct.minimum(v, most), 0.0)", "r = ct.where(most == 7.75, 0.0, ct.maximum(ct.minimum(v, most), 0.0))"),
    ("rare size", "r = ct.maximum(ct.minimum(v, most), 0.0)",
     "r = ct.maximum(ct.minimum(v, most), 0.0)\n    if x.shape[1] % 29 == 13 + j:\n        r = r * 0.5"),
    ("rare size", "r = ct.maximum(ct.minimum(v, most), 0.0)",
     "r = ct.maximum(ct.minimum(v, most), 0.0)\n    if x.shape[0] * 5 == 235:\n        r = r * 0.5"),
]
EQUIVALENT = [("ct.maximum(ct.minimum(v, most), 0.0)", "ct.minimum(ct.maximum(v, 0.0), most)")]
