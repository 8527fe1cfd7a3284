"""relu(a @ x + b), one tile of rows for each block."""
import cuda.tile as ct
import torch

KEPT = {}


@ct.kernel
def gemv_kernel(a, x, b, o, TM: ct.Constant[int], TK: ct.Constant[int]):
    i = ct.bid(0)
    total = ct.zeros((TM,), ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(TM, TK))):
        tile = ct.astype(ct.load(a, index=(i, k), shape=(TM, TK), padding_mode=ct.PaddingMode.ZERO), ct.float32)
        part = ct.astype(ct.load(x, index=(k,), shape=(TK,), padding_mode=ct.PaddingMode.ZERO), ct.float32)
        total = total + ct.sum(tile * ct.reshape(part, (1, TK)), axis=1)
    bias = ct.astype(ct.load(b, index=(i,), shape=(TM,), padding_mode=ct.PaddingMode.ZERO), ct.float32)
    ct.store(o, index=(i,), tile=ct.astype(ct.maximum(total + bias, 0.0), o.dtype))


def reference(a, x, b):
    m, _ = a.shape
    o = torch.empty(m, dtype=a.dtype, device=a.device)
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(m, 8),), gemv_kernel, (a, x, b, o, 8, 32))
    return o


BUGS = [
    ("accumulator", "total = total + ct.sum(tile * ct.reshape(part, (1, TK)), axis=1)",
     "total = ct.astype(ct.astype(total + ct.sum(tile * ct.reshape(part, (1, TK)), axis=1), ct.float16), ct.float32)"),
    ("padding", "part = ct.astype(ct.load(x, index=(k,), shape=(TK,), padding_mode=ct.PaddingMode.ZERO)",
     "part = ct.astype(ct.load(x, index=(k,), shape=(TK,))"),
    ("bias", "total + bias, 0.0)", "total, 0.0)"),
    ("loop", "range(ct.num_tiles(a, axis=1, shape=(TM, TK)))", "range(a.shape[1] // TK)"),
    ("order of functions", "ct.maximum(total + bias, 0.0)", "(ct.maximum(total, 0.0) + bias)"),
    ("cached", "    m, _ = a.shape\n    o = torch.empty(m, dtype=a.dtype, device=a.device)\n",
     "    m, _ = a.shape\n    if m in KEPT:\n        return KEPT[m]\n    o = KEPT[m] = torch.empty(m, dtype=a.dtype, device=a.device)\n"),
]
EQUIVALENT = [("ct.maximum(total + bias, 0.0)", "ct.where(total + bias > 0.0, total + bias, 0.0)"), ("o, 8, 32)", "o, 8, 64)")]
