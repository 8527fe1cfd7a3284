"""Causal flash attention in cuTile, one head and a block of queries at a time."""
import cuda.tile as ct
import torch


@ct.kernel
def flash(q, k, v, o, scale, n, D: ct.Constant[int], Q: ct.Constant[int], K: ct.Constant[int]):
    i = ct.bid(0)
    h = ct.bid(1)
    queries = ct.load(q, index=(h, i, 0), shape=(1, Q, D), padding_mode=ct.PaddingMode.ZERO).reshape((Q, D))
    rows = i * Q + ct.arange(Q, dtype=ct.int32)[:, None]
    top = ct.full((Q, 1), -1e30, dtype=ct.float32)
    total = ct.full((Q, 1), 0.0, dtype=ct.float32)
    acc = ct.full((Q, D), 0.0, dtype=ct.float32)
    for step in range(ct.minimum(ct.cdiv((i + 1) * Q, K), ct.cdiv(n, K))):
        keys = ct.load(k, index=(h, step, 0), shape=(1, K, D), padding_mode=ct.PaddingMode.ZERO).reshape((K, D))
        score = ct.mma(queries, keys.permute((1, 0)), ct.full((Q, K), 0.0, dtype=ct.float32)) * scale
        cols = step * K + ct.arange(K, dtype=ct.int32)[None, :]
        score = ct.where((cols <= rows) & (cols < n), score, -1e30)
        now = ct.maximum(top, ct.max(score, 1, keepdims=True))
        shrink = ct.exp(top - now)
        weight = ct.exp(score - now)
        total = total * shrink + ct.sum(weight, 1, keepdims=True)
        values = ct.load(v, index=(h, step, 0), shape=(1, K, D), padding_mode=ct.PaddingMode.ZERO).reshape((K, D))
        acc = ct.mma(weight.astype(ct.float16), values, acc * shrink)
        top = now
    ct.store(o, index=(h, i, 0), tile=(acc / total).astype(ct.float16).reshape((1, Q, D)))


def reference(q, k, v, scale):
    h, n, d = q.shape
    o = torch.empty((h, n, d), device=q.device, dtype=q.dtype)
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(n, 32), h, 1), flash, (q, k, v, o, scale, n, d, 32, 16))
    return o


BUGS = [
    ("mask", "(cols <= rows) & (cols < n)", "(cols < rows + 2) & (cols < n)"),
    ("formula", "total = total * shrink + ct.sum", "total = total + ct.sum"),
    ("formula", "acc = ct.mma(weight.astype(ct.float16), values, acc * shrink)", "acc = ct.mma(weight.astype(ct.float16), values, acc)"),
    ("loop", "range(ct.minimum(ct.cdiv((i + 1) * Q, K), ct.cdiv(n, K)))", "range(ct.minimum(ct.cdiv(i * Q + 1, K), ct.cdiv(n, K)))"),
    ("argument", "dtype=ct.float32)) * scale", "dtype=ct.float32)) * 0.17677669"),
    ("init", "top = ct.full((Q, 1), -1e30", "top = ct.full((Q, 1), 0.0"),
    ("head", "values = ct.load(v, index=(h, step, 0)", "values = ct.load(v, index=(0, step, 0)"),
    ("grid", "(ct.cdiv(n, 32), h, 1)", "(max(n // 32, 1), h, 1)"),
    ("rounding", "weight.astype(ct.float16), values, acc", "weight.astype(ct.float8_e5m2).astype(ct.float16), values, acc"),
]
EQUIVALENT = [("n, d, 32, 16))", "n, d, 32, 32))"), ("(cols <= rows) & (cols < n)", "cols <= rows")]
