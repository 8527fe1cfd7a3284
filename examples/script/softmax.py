"""y = softmax(x) along rows of up to SIZE elements:  python examples/script/softmax.py

A block takes ROWS rows. Columns behind the end are read as -inf, which adds nothing to the sum.
"""
import numpy
from tilevm import script


@script.kernel("x: T[m, n] -> y: T[m, n]", grid="ceildiv(m, ROWS)")
def softmax(x, y, ROWS=4, SIZE=4096, T=None):
    assert x.shape[1] <= SIZE, "rows are longer than SIZE"
    i = script.bid()
    row = script.load(x, (i, 0), (ROWS, SIZE), padding_mode="neg_inf").astype(script.float32)
    e = script.exp(row - row.max(axis=1, keepdims=True))
    script.store(y, (i, 0), (e / e.sum(axis=1, keepdims=True)).astype(T))


if __name__ == "__main__":
    print(softmax(numpy.random.rand(3, 5).astype("float32"), check="full").sum(axis=1))
