"""The largest fall of each row below its running maximum, by columns in tiles."""
import cuda.tile as ct
import torch


@ct.kernel
def drawdown_kernel(x, o, TN: ct.Constant[int]):
    row = ct.bid(0)
    top = ct.full((1, 1), float("-inf"), ct.float32)
    worst = ct.zeros((1, 1), ct.float32)
    for j in range(ct.num_tiles(x, axis=1, shape=(1, TN))):
        tile = ct.load(x, index=(row, j), shape=(1, TN), padding_mode=ct.PaddingMode.ZERO)
        inside = ct.reshape(j * TN + ct.arange(TN, dtype=ct.int32), (1, TN)) < x.shape[1]
        tile = ct.where(inside, tile, float("-inf"))
        running = ct.maximum(ct.scan(tile, 1, lambda a, b: ct.maximum(a, b), float("-inf")), top)
        fall = ct.where(inside, running - tile, 0.0)
        worst = ct.maximum(worst, ct.max(fall, axis=1, keepdims=True))
        top = ct.maximum(top, ct.max(tile, axis=1, keepdims=True))
    ct.store(o, index=(row,), tile=ct.reshape(worst, (1,)))


def reference(x):
    o = torch.empty(x.shape[0], device=x.device)
    ct.launch(torch.cuda.current_stream(), (x.shape[0],), drawdown_kernel, (x, o, 32))
    return o


BUGS = [
    ("carry", "        top = ct.maximum(top, ct.max(tile, axis=1, keepdims=True))\n", ""),
    ("carry", "worst = ct.maximum(worst, ct.max(fall, axis=1, keepdims=True))", "worst = ct.max(fall, axis=1, keepdims=True)"),
    ("initial", "top = ct.full((1, 1), float(\"-inf\"), ct.float32)", "top = ct.zeros((1, 1), ct.float32)"),
    ("padding", "fall = ct.where(inside, running - tile, 0.0)",
     "fall = running - ct.load(x, index=(row, j), shape=(1, TN), padding_mode=ct.PaddingMode.ZERO)"),
    ("mask", "ct.arange(TN, dtype=ct.int32), (1, TN)) < x.shape[1]", "ct.arange(TN, dtype=ct.int32), (1, TN)) < x.shape[1] - 1"),
]
EQUIVALENT = [("(x, o, 32)", "(x, o, 64)"),
              ("ct.maximum(worst, ct.max(fall, axis=1, keepdims=True))", "ct.maximum(ct.max(fall, axis=1, keepdims=True), worst)")]
