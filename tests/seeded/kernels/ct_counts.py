"""cuTile: how often each key occurs, by a row of counts for each block; then one block adds up the rows and their running sums."""
import cuda.tile as ct
import torch


@ct.kernel
def count_parts(keys, parts, SIZE: ct.Constant[int], STEP: ct.Constant[int]):
    block = ct.bid(0)
    for i in range(block * STEP, min((block + 1) * STEP, keys.shape[0])):
        key = ct.gather(keys, ct.full((1,), i, dtype=ct.int32))
        at = key + block * SIZE
        ct.scatter(parts, at, ct.gather(parts, at) + 1)


@ct.kernel
def add_parts(parts, counts, ends, SIZE: ct.Constant[int], B: ct.Constant[int]):
    lanes = ct.arange(B, dtype=ct.int32)
    total = ct.zeros((B,), dtype=ct.int32)
    for block in range(parts.shape[0] // SIZE):
        row = ct.gather(parts, lanes + block * SIZE)
        total = total + ct.where(lanes < SIZE, row, 0)
    ct.scatter(counts, lanes, total)
    ct.scatter(ends, lanes, ct.cumsum(total, axis=0))


def call(keys, size):
    step = -(-len(keys) // 4)
    parts = torch.zeros(4 * size, dtype=torch.int32, device="cuda")
    counts = torch.empty(size, dtype=torch.int32, device="cuda")
    ends = torch.empty(size, dtype=torch.int32, device="cuda")
    stream = torch.cuda.current_stream()
    ct.launch(stream, (4,), count_parts, (keys, parts, size, step))
    ct.launch(stream, (1,), add_parts, (parts, counts, ends, size, 16))
    return counts, ends


CASES = {"friendly": [(32, 16)], "odd": [(1, 1), (37, 5), (30, 9), (3, 16)]}
BOUND = 0


def inputs(n, size):
    return torch.randint(0, size, (n,), dtype=torch.int32, device="cuda"), size


def expected(keys, size):
    counts = torch.bincount(keys, minlength=size)
    return counts, counts.cumsum(0)


BUGS = [
    ("race", "at = key + block * SIZE", "at = key"),
    ("race", "(1,), add_parts", "(2,), add_parts"),
    ("empty", "parts = torch.zeros(4 * size", "parts = torch.empty(4 * size"),
    ("unwritten", "    ct.scatter(ends, lanes, ct.cumsum(total, axis=0))\n", ""),
    ("unwritten", "ct.scatter(counts, lanes, total)", "ct.scatter(counts, lanes + 1, total)"),
    ("stride", "at = key + block * SIZE", "at = key + block"),
    ("off by one", "for i in range(block * STEP, min((block + 1) * STEP, keys.shape[0])):",
     "for i in range(block * STEP, min((block + 1) * STEP, keys.shape[0]) - 1):"),
]
