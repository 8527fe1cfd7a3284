"""y = x transposed, of any sizes:  python examples/script/transpose.py

A block moves one tile. `order="F"` reads tile (i, j) of the transposed array.
"""
import numpy
from tilevm import script


@script.kernel("x: T[m, n] -> y: T[n, m]", grid="ceildiv(m, TILE), ceildiv(n, TILE)")
def transpose(x, y, TILE=128, T=None):
    j, i = script.bid(0), script.bid(1)
    script.store(y, (i, j), script.load(x, (i, j), (TILE, TILE), order="F"))


if __name__ == "__main__":
    print(transpose(numpy.arange(6, dtype="float32").reshape(2, 3)))
