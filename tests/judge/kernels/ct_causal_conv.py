"""cuTile: a causal convolution of four taps for each channel, by gathers."""
import cuda.tile as ct
import torch


@ct.kernel
def conv(x, w, o, T, B: ct.Constant[int]):
    row = ct.bid(0)
    t = ct.bid(1) * B + ct.arange(B, dtype=ct.int32)
    acc = ct.zeros((B,), dtype=ct.float32)
    for k in range(4):
        at = t + k - 3
        v = ct.gather(x, (row, at), mask=(at >= 0) & (at < T), padding_value=0, check_bounds=False)
        acc = acc + v * ct.gather(w, (row, k))
    ct.scatter(o, (row, t), acc, mask=t < T, check_bounds=False)


def call(x, w):
    C, T = x.shape
    o = torch.empty(C, T, device="cuda")
    ct.launch(torch.cuda.current_stream(), (C, ct.cdiv(T, 32)), conv, (x, w, o, T, 32))
    return o


BUGS = [
    ("wrong index", "at = t + k - 3", "at = t - k"),
    ("mask missing", "mask=(at >= 0) & (at < T)", "mask=at < T"),
    ("mask missing", "acc, mask=t < T, check_bounds=False)", "acc, check_bounds=False)"),
    ("wrong index", "ct.gather(w, (row, k))", "ct.gather(w, (0, k))"),
    ("grid", "(C, ct.cdiv(T, 32))", "(C, max(1, T // 32))"),
    ("off by one", "for k in range(4):", "for k in range(1, 4):"),
]
EQUIVALENT = [("o, T, 32)", "o, T, 32 )")]
