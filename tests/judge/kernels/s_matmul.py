"""c = alpha * a @ b + beta * c0 in tilevm.script, float32 in tiles."""
import numpy
from tilevm import script


@script.kernel("a: f32[m, k], b: f32[k, n], c0: f32[m, n], alpha: f32, beta: f32 -> c: f32[m, n]", grid="ceildiv(m, TM), ceildiv(n, TN)")
def gemm(a, b, c0, alpha, beta, c, TM=16, TN=16, TK=16):
    i, j = script.bid(0), script.bid(1)
    acc = script.zeros((TM, TN), "f32")
    for k in script.range((a.shape[1] + TK - 1) // TK):
        x = script.load(a, (i, k), (TM, TK), padding_mode="zero")
        y = script.load(b, (k, j), (TK, TN), padding_mode="zero")
        acc = script.mma(x, y, acc)
    old = script.load(c0, (i, j), (TM, TN), padding_mode="zero")
    script.store(c, (i, j), acc * alpha + old * beta)


def reference(a, b, c0, alpha, beta):
    a, b, c0 = (numpy.ascontiguousarray(x) for x in (a, b, c0))
    return gemm(a, b, c0, alpha, beta)


BUGS = [
    ("loop", "script.range((a.shape[1] + TK - 1) // TK)", "script.range(a.shape[1] // TK)"),
    ("argument", "acc * alpha + old * beta", "(acc + old * beta) * alpha"),
    ("transposed", "y = script.load(b, (k, j)", "y = script.load(b, (j, k)"),
    ("precision", "acc = script.mma(x, y, acc)", "acc = script.mma(x.astype(\"f16\"), y.astype(\"f16\"), acc)"),
    ("grid", "ceildiv(m, TM), ceildiv(n, TN)", "ceildiv(m, TM), ceildiv(m, TN)"),
]
EQUIVALENT = [("acc * alpha + old * beta", "old * beta + alpha * acc"), ("TM=16, TN=16, TK=16", "TM=16, TN=32, TK=8")]
