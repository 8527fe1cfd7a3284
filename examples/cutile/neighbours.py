"""Differences of neighbours in cuTile Python: y[i] = x[i + 1] - x[i]. It knows nothing of tilevm.

    python -m tilevm.cutile examples/cutile/neighbours.py             # on any machine
    python -m tilevm.cutile examples/cutile/neighbours.py --wrong     # with a mistake: x[n] is read
"""
import sys

import cuda.tile as ct
import torch

TILE = 256


@ct.kernel
def neighbours(x, y, last, TILE: ct.Constant[int]):
    i = ct.bid(0) * TILE + ct.arange(TILE, dtype=ct.int32)
    here = ct.gather(x, i)
    right = ct.gather(x, ct.minimum(i + 1, last), check_bounds=False)
    ct.scatter(y, i, right - here)


def main() -> None:
    x = torch.arange(1000, dtype=torch.float32, device="cuda") ** 2
    y = torch.empty(1000, dtype=torch.float32, device="cuda")
    last = len(x) if "--wrong" in sys.argv else len(x) - 1
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(len(x), TILE),), neighbours, (x, y, last, TILE))
    torch.testing.assert_close(y[:-1], x[1:] - x[:-1])
    print("differences of", len(x), "neighbours:", *y[:5].int().tolist(), "...")


if __name__ == "__main__":
    main()
