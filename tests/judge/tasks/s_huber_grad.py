import numpy

INPUTS = {"x": "f32[m, n]", "y": "f32[m, n]", "delta": "float = 0.5"}


def reference(x, y, delta: float):
    d = x - y
    return numpy.where(abs(d) <= delta, d, delta * numpy.sign(d)) / x.shape[1]
