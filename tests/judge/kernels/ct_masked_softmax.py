"""cuTile: softmax of x / temperature over the elements whose mask is not 0; zeros for a row without any."""
import cuda.tile as ct
import torch


@ct.kernel
def masked_kernel(x, mask, o, temperature, T: ct.Constant[int]):
    row = ct.bid(0)
    v = ct.load(x, index=(row, 0), shape=(1, T), padding_mode=ct.PaddingMode.ZERO) / temperature
    keep = ct.load(mask, index=(row, 0), shape=(1, T), padding_mode=ct.PaddingMode.ZERO) != 0
    low = ct.where(keep, v, -3.0e38)
    e = ct.where(keep, ct.exp(v - ct.max(low, axis=1, keepdims=True)), 0.0)
    total = ct.sum(e, axis=1, keepdims=True)
    ct.store(o, index=(row, 0), tile=e / ct.where(total == 0.0, 1.0, total))


def reference(x, mask, temperature):
    m, n = x.shape
    o = torch.empty_like(x)
    ct.launch(torch.cuda.current_stream(), (m,), masked_kernel, (x, mask, o, temperature, max(2, 1 << (n - 1).bit_length())))
    return o


BUGS = [
    ("formula", " / temperature\n", " * temperature\n"),
    ("special", "e / ct.where(total == 0.0, 1.0, total)", "e / total"),
    ("mask", "low = ct.where(keep, v, -3.0e38)", "low = v"),
    ("formula", "e = ct.where(keep, ct.exp(v - ct.max(low, axis=1, keepdims=True)), 0.0)", "e = ct.exp(low - ct.max(low, axis=1, keepdims=True))"),
    ("hard-coded size", "max(2, 1 << (n - 1).bit_length())", "128"),
    ("argument", "masked_kernel, (x, mask, o, temperature,", "masked_kernel, (x, mask, o, 1.0,"),
]
EQUIVALENT = [("ct.where(keep, v, -3.0e38)", "ct.where(keep, v, -1.0e38)")]
