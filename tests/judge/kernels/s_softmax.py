"""tilevm.script: softmax of rows."""
from tilevm import script


@script.kernel("x: f32[m, n] -> y: f32[m, n]", grid="m")
def softmax(x, y, SIZE=1024):
    row = script.load(x, (script.bid(), 0), (1, SIZE), padding_mode="neg_inf")
    e = script.exp(row - row.max())
    script.store(y, (script.bid(), 0), e / e.sum())


def call(x):
    return softmax(x, SIZE=max(2, 1 << (x.shape[1] - 1).bit_length()))


BUGS = [
    ("wrong other", ', padding_mode="neg_inf"', ', padding_mode="zero"'),
    ("wrong other", ', padding_mode="neg_inf"', ""),
    ("numerics", "script.exp(row - row.max())", "script.exp(row)"),
    ("wrong formula", "row.max()", "row.min()"),
    ("hard-coded size", "SIZE=max(2, 1 << (x.shape[1] - 1).bit_length())", "SIZE=64"),
    ("grid", 'grid="m"', 'grid="max(1, m - 1)"'),
    ("wrong formula", "e / e.sum()", "e / (e.sum() + 1e-3)"),
    ("dtype too low", "row - row.max()", '(row - row.max()).astype("f16").astype("f32")'),
]
EQUIVALENT = [("e / e.sum()", "e * (1.0 / e.sum())"), ("SIZE=max(2,", "SIZE=max(16,")]
