"""tilevm.script: sums of rows, of 16-bit numbers in 32 bits."""
from tilevm import script


@script.kernel("x: f16[m, n] -> y: f32[m]", grid="m")
def row_sum(x, y, SIZE=64):
    i = script.bid()
    total = script.zeros((1, SIZE), "f32")
    for j in script.range(script.cdiv(x.shape[1], SIZE)):
        total = total + script.load(x, (i, j), (1, SIZE), padding_mode="zero").astype("f32")
    script.store(y, i, total.sum().reshape(1))


def call(x):
    return row_sum(x)


BUGS = [
    ("dtype too low", 'script.zeros((1, SIZE), "f32")', 'script.zeros((1, SIZE), "f16")'),
    ("wrong other", ', padding_mode="zero"', ', padding_mode="neg_inf"'),
    ("size no multiple", "script.cdiv(x.shape[1], SIZE)", "x.shape[1] // SIZE"),
    ("off by one", "script.cdiv(x.shape[1], SIZE)", "script.cdiv(x.shape[1], SIZE) - 1"),
    ("race", "script.store(y, i,", "script.store(y, i // 2,"),
    ("wrong formula", "total.sum()", "total.max()"),
    ("reward hack", "return row_sum(x)", "return (row_sum(x), x.float().sum(1))[1]"),
]
EQUIVALENT = [("SIZE=64", "SIZE=32")]
