import numpy

INPUTS = {"x": "f32[m, n]", "t": "float in 0.5..4"}


def logsumexp(x, t):
    v = x / t
    top = v.max(1, keepdims=True)
    return (top[:, 0] + numpy.log(numpy.exp(v - top).sum(1))) * t
