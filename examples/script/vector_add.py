"""c = a + b, of any length:  python examples/script/vector_add.py"""
import numpy
from tilevm import script


@script.kernel("a: f32[n], b: f32[n] -> c: f32[n]", grid="ceildiv(n, BLOCK)")
def vector_add(a, b, c, BLOCK=1024):
    i = script.bid()
    x = script.load(a, i, BLOCK)
    y = script.load(b, i, BLOCK)
    script.store(c, i, x + y)


if __name__ == "__main__":
    print(vector_add(numpy.arange(8, dtype="float32"), numpy.full(8, 0.5, "float32"), check="full"))
