"""A rank-one update in place: a += alpha * x * y'."""
import cuda.tile as ct
import torch


@ct.kernel
def ger_kernel(a, x, y, alpha, TM: ct.Constant[int], TN: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    u = ct.load(x, index=(i,), shape=(TM,), padding_mode=ct.PaddingMode.ZERO)
    v = ct.load(y, index=(j,), shape=(TN,), padding_mode=ct.PaddingMode.ZERO)
    old = ct.load(a, index=(i, j), shape=(TM, TN), padding_mode=ct.PaddingMode.ZERO)
    product = ct.reshape(u, (TM, 1)) * ct.reshape(v, (1, TN))
    ct.store(a, index=(i, j), tile=old + alpha * product)


def reference(a, x, y, alpha):
    m, n = a.shape
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(m, 16), ct.cdiv(n, 32)), ger_kernel, (a, x, y, alpha, 16, 32))


BUGS = [
    ("argument", "tile=old + alpha * product", "tile=old + product"),
    ("overwrites", "tile=old + alpha * product", "tile=alpha * product"),
    ("grid", "ct.cdiv(n, 32))", "ct.cdiv(m, 32))"),
    ("index", "ct.load(y, index=(j,)", "ct.load(y, index=(i,)"),
    ("precision", "v = ct.load(y, index=(j,), shape=(TN,), padding_mode=ct.PaddingMode.ZERO)",
     "v = ct.astype(ct.astype(ct.load(y, index=(j,), shape=(TN,), padding_mode=ct.PaddingMode.ZERO), ct.float16), ct.float32)"),
]
EQUIVALENT = [("ct.reshape(u, (TM, 1)) * ct.reshape(v, (1, TN))", "ct.reshape(v, (1, TN)) * ct.reshape(u, (TM, 1))"),
              ("ct.cdiv(m, 16), ct.cdiv(n, 32)), ger_kernel, (a, x, y, alpha, 16, 32)", "ct.cdiv(m, 8), ct.cdiv(n, 64)), ger_kernel, (a, x, y, alpha, 8, 64)")]
