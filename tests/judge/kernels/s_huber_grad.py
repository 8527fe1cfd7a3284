"""The gradient of the mean Huber loss of each row, in tilevm.script."""
import numpy
from tilevm import script


@script.kernel("x: f32[m, n], y: f32[m, n], delta: f32 = 0.5, scale: f32 = 1.0 -> g: f32[m, n]", grid="ceildiv(m, R), ceildiv(n, C)")
def huber_grad(x, y, delta, scale, g, R=4, C=32):
    i, j = script.bid(0), script.bid(1)
    a = script.load(x, (i, j), (R, C), padding_mode="zero")
    b = script.load(y, (i, j), (R, C), padding_mode="zero")
    d = a - b
    clipped = script.minimum(script.maximum(d, -delta), delta)
    script.store(g, (i, j), clipped * scale)


def reference(x, y, delta):
    x, y = numpy.ascontiguousarray(x), numpy.ascontiguousarray(y)
    return huber_grad(x, y, delta=delta, scale=1.0 / x.shape[1])


BUGS = [
    ("formula", "script.minimum(script.maximum(d, -delta), delta)", "script.minimum(d, delta)"),
    ("argument", "delta=delta, scale=", "delta=0.25, scale="),
    ("size", "1.0 / x.shape[1]", "1.0 / x.shape[0]"),
    ("grid", "ceildiv(n, C)", "max(1, n // C)"),
    ("index", "b = script.load(y, (i, j)", "b = script.load(y, (i, 0)"),
    ("sign", "d = a - b", "d = b - a"),
    ("constant", "1.0 / x.shape[1]", "1.0 / (x.shape[1] + 1e-3)"),
]
EQUIVALENT = [("script.minimum(script.maximum(d, -delta), delta)", "script.maximum(script.minimum(d, delta), -delta)"), ("R=4, C=32", "R=8, C=64")]
