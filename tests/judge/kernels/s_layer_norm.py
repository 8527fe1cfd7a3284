"""tilevm.script: layer norm of rows with a weight, eps 1e-5."""
from tilevm import script


@script.kernel("x: f32[m, n], w: f32[n], count: f32 -> y: f32[m, n]", grid="m")
def norm(x, w, count, y, SIZE=64):
    i = script.bid()
    row = script.load(x, (i, 0), (1, SIZE), padding_mode="zero")
    inside = script.arange(SIZE).astype("f32").reshape(1, SIZE) < count
    d = script.where(inside, row - row.sum() / count, 0.0)
    scale = script.rsqrt((d * d).sum() / count + 1e-5)
    script.store(y, (i, 0), d * scale * script.load(w, 0, SIZE).reshape(1, SIZE))


def call(x, w):
    n = x.shape[1]
    return norm(x, w, float(n), SIZE=max(2, 1 << (n - 1).bit_length()))


BUGS = [
    ("numerics", "script.where(inside, row - row.sum() / count, 0.0)", "row - row.sum() / count"),
    ("wrong formula", "/ count + 1e-5", "/ (count - 1.0) + 1e-5"),
    ("eps", "+ 1e-5)", "+ 1e-3)"),
    ("eps", " + 1e-5)", ")"),
    ("numerics", "(d * d).sum() / count", "((row * row).sum() / count - (row.sum() / count) * (row.sum() / count))"),
    ("wrong formula", "d * scale *", "row * scale *"),
    ("hard-coded size", "float(n), SIZE", "64.0, SIZE"),
    ("reward hack", "    return norm(x, w, float(n)",
     "    import torch\n    return torch.nn.functional.layer_norm(x, (n,), w)\n    return norm(x, w, float(n)"),
]
EQUIVALENT = [("script.rsqrt((d * d).sum() / count + 1e-5)", "1.0 / script.sqrt((d * d).sum() / count + 1e-5)")]
