"""cuTile: x^T x where the row is not below the column, and zeros below, one tile for each block."""
import cuda.tile as ct
import torch


@ct.kernel
def gram_kernel(x, o, T: ct.Constant[int], K: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((T, T), ct.float32)
    for k in range(ct.num_tiles(x, axis=0, shape=(K, T))):
        a = ct.load(x, index=(k, i), shape=(K, T), padding_mode=ct.PaddingMode.ZERO)
        b = ct.load(x, index=(k, j), shape=(K, T), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(ct.transpose(a), b, acc)
    row = ct.reshape(i * T + ct.arange(T, dtype=ct.int32), (T, 1))
    col = ct.reshape(j * T + ct.arange(T, dtype=ct.int32), (1, T))
    ct.store(o, index=(i, j), tile=ct.where(row <= col, acc, 0.0))


def reference(x):
    n = x.shape[1]
    o = torch.empty((n, n), device=x.device)
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(n, 16), ct.cdiv(n, 16)), gram_kernel, (x, o, 16, 32))
    return o


BUGS = [
    ("formula", "row <= col", "row < col"),
    ("formula", "ct.where(row <= col, acc, 0.0)", "acc"),
    ("padding", "b = ct.load(x, index=(k, j), shape=(K, T), padding_mode=ct.PaddingMode.ZERO)", "b = ct.load(x, index=(k, j), shape=(K, T))"),
    ("index", "a = ct.load(x, index=(k, i)", "a = ct.load(x, index=(k, j)"),
    ("loop", "range(ct.num_tiles(x, axis=0, shape=(K, T)))", "range(x.shape[0] // K)"),
    ("grid", "(ct.cdiv(n, 16), ct.cdiv(n, 16))", "(ct.cdiv(n, 16), max(1, n // 16))"),
    ("precision", "acc = ct.mma(ct.transpose(a), b, acc)", "acc = ct.astype(ct.astype(ct.mma(ct.transpose(a), b, acc), ct.float16), ct.float32)"),
]
EQUIVALENT = [("(x, o, 16, 32)", "(x, o, 16, 16)"), ("ct.where(row <= col, acc, 0.0)", "ct.where(col >= row, acc, 0.0)")]
