"""c = a @ b of any sizes, summed in f32:  python examples/script/matmul.py

A block computes one TM x TN tile of c, TK columns of a at a time. What lies outside is read as zero and not written.
"""
import numpy
from tilevm import script


@script.kernel("a: T[m, k], b: T[k, n] -> c: f32[m, n]", grid="ceildiv(n, TN), ceildiv(m, TM)")
def matmul(a, b, c, TM=128, TN=128, TK=64, T=None):
    j, i = script.bid(0), script.bid(1)
    sum = script.zeros((TM, TN))
    for k in script.range(script.num_tiles(a, 1, (TM, TK))):
        x = script.load(a, (i, k), (TM, TK), padding_mode="zero")
        y = script.load(b, (k, j), (TK, TN), padding_mode="zero")
        sum = script.mma(x, y, sum)
    script.store(c, (i, j), sum)


if __name__ == "__main__":
    a, b = numpy.random.rand(300, 200).astype("float32"), numpy.random.rand(200, 100).astype("float32")
    print(abs(matmul(a, b) - a @ b).max())
