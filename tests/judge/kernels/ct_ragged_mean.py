"""Means of the first elements of each sequence of a batch, in cuTile."""
import cuda.tile as ct
import torch


@ct.kernel
def ragged_mean(x, lengths, o, t, T: ct.Constant[int], D: ct.Constant[int]):
    b = ct.bid(0)
    j = ct.bid(1)
    length = ct.load(lengths, index=(b,), shape=(1,)).item()
    acc = ct.full((T, D), 0.0, dtype=ct.float32)
    for step in range(ct.cdiv(length, T)):
        tile = ct.load(x, index=(b, step, j), shape=(1, T, D), padding_mode=ct.PaddingMode.ZERO).reshape((T, D))
        row = step * T + ct.arange(T, dtype=ct.int32)[:, None]
        acc = acc + ct.where(row < length, tile, 0.0)
    total = ct.sum(acc, 0, keepdims=True)
    count = ct.maximum(length, 1)
    ct.store(o, index=(b, j), tile=total / ct.astype(count, ct.float32))


def reference(x, lengths):
    b, t, d = x.shape
    o = torch.empty((b, d), device=x.device, dtype=x.dtype)
    ct.launch(torch.cuda.current_stream(), (b, ct.cdiv(d, 16), 1), ragged_mean, (x, lengths, o, t, 16, 16))
    return o


BUGS = [
    ("mask", "ct.where(row < length, tile, 0.0)", "ct.where(row <= length, tile, 0.0)"),
    ("special", "count = ct.maximum(length, 1)", "count = length"),
    ("argument", "total / ct.astype(count, ct.float32)", "total / ct.astype(t, ct.float32)"),
    ("loop", "range(ct.cdiv(length, T))", "range(length // T)"),
    ("init", "    acc = ct.full((T, D), 0.0, dtype=ct.float32)\n    for step", "    acc = ct.full((T, D), 0.001, dtype=ct.float32)\n    for step"),
    ("index", "index=(b, step, j)", "index=(0, step, j)"),
    ("grid", "ct.cdiv(d, 16)", "max(d // 16, 1)"),
    ("mask", "acc = acc + ct.where(row < length, tile, 0.0)", "acc = acc + tile"),
]
EQUIVALENT = [("o, t, 16, 16))", "o, t, 32, 16))"), ("total / ct.astype(count, ct.float32)", "total * (1.0 / ct.astype(count, ct.float32))")]
