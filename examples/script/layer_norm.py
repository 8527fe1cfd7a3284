"""y = (x - mean) / sqrt(variance + epsilon) * weight + bias along rows of up to SIZE elements.

A block takes one row and keeps it, so the variance is taken from the differences to the mean, which loses no digits.
"""
import numpy
from tilevm import script


@script.kernel("x: f32[m, n], weight: f32[n], bias: f32[n], epsilon: f32 = 1e-5 -> y: f32[m, n]", grid="m")
def layer_norm(x, weight, bias, epsilon, y, SIZE=4096):
    n = x.shape[1]
    assert n <= SIZE, "rows are longer than SIZE"
    i = script.bid()
    row = script.load(x, (i, 0), (1, SIZE), padding_mode="zero")
    mean = row.sum() / n
    centred = script.where(script.arange(SIZE) < n, row - mean, 0.0)  # columns behind the end are no part of the variance
    factor = script.rsqrt((centred * centred).sum() / n + epsilon)
    w = script.load(weight, 0, SIZE, padding_mode="zero")
    b = script.load(bias, 0, SIZE, padding_mode="zero")
    script.store(y, (i, 0), centred * factor * w + b)


if __name__ == "__main__":
    x = numpy.random.rand(4, 100).astype("float32")
    print(layer_norm(x, numpy.ones(100, "float32"), numpy.zeros(100, "float32"), check="full").std(axis=1))
