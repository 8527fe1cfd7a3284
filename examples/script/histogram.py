"""Counts how often each byte value occurs:  python examples/script/histogram.py FILE

`histogram` adds to the bins of all blocks; `histogram_shared` counts in a table of the block first, and adds that at the end.
"""
import sys

import numpy
from tilevm import script


@script.kernel("data: u8[n] -> bins: i32[256] = 0", grid="max(ceildiv(n, BLOCK), 1)", sizes="i64")
def histogram(data, bins, BLOCK=4096):
    place = script.bid().astype(script.int64) * BLOCK + script.arange(BLOCK)
    inside = place < data.shape[0]  # lanes behind the end do nothing
    value = script.gather(data, place)
    script.pointer.atomic_add_masked(bins.ptr + value.astype(script.int32), 1, inside, "relaxed", "device")


@script.kernel("data: u8[n] -> bins: i32[256] = 0", grid="max(ceildiv(n, BLOCK * TILES), 1)", sizes="i64")
def histogram_shared(data, bins, BLOCK=4096, TILES=32):
    own = script.shared(256, script.int32)
    script.store(own, 0, script.zeros(256, script.int32))
    first = script.bid().astype(script.int64) * TILES
    last = script.minimum(first + TILES, script.num_tiles(data, 0, BLOCK))
    ones = script.ones(BLOCK, script.int32)
    for t in script.range(first, last):
        value = script.load(data, t, BLOCK, padding_mode="zero").astype(script.int32)
        bin = script.where(script.arange(BLOCK) < data.shape[0] - t * BLOCK, value, -1)
        script.atomic.shared_scatter_add(own, dim=0, indices=bin, values=ones, check_bounds=True)
    script.atomic.global_add(bins, script.load(own, 0, 256))


if __name__ == "__main__":
    print(histogram_shared(numpy.fromfile(sys.argv[1] if len(sys.argv) > 1 else __file__, "uint8")))
