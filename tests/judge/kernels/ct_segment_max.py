"""cuTile: the largest value of each segment by atomic updates; the lowest integer for a segment without values."""
import cuda.tile as ct
import torch


@ct.kernel
def segment_max(x, ids, o, n, B: ct.Constant[int]):
    i = ct.bid(0) * B + ct.arange(B, dtype=ct.int32)
    inside = i < n
    v = ct.gather(x, i, mask=inside, padding_value=0, check_bounds=False)
    s = ct.gather(ids, i, mask=inside, padding_value=0, check_bounds=False)
    ct.atomic_max(o, ct.where(inside, s, -1), v)


def call(x, ids, segments):
    n = x.numel()
    o = torch.full((segments,), -2147483648, device="cuda", dtype=torch.int32)
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(n, 32),), segment_max, (x, ids, o, n, 32))
    return o


BUGS = [
    ("wrong formula", "ct.where(inside, s, -1)", "s"),
    ("grid", "ct.cdiv(n, 32)", "max(1, n // 32)"),
    ("wrong formula", "-2147483648, device", "0, device"),
    ("empty", "o = torch.full((segments,), -2147483648, ", "o = torch.empty((segments,), "),
    ("missing atomic", "ct.atomic_max(o, ct.where(inside, s, -1), v)",
     "ct.scatter(o, ct.where(inside, s, -1), ct.maximum(v, ct.gather(o, ct.where(inside, s, -1))))"),
    ("wrong formula", "ct.atomic_max(", "ct.atomic_add("),
    ("mask off by one", "inside = i < n", "inside = i <= n"),
]
EQUIVALENT = [("(ct.cdiv(n, 32),), segment_max, (x, ids, o, n, 32)", "(ct.cdiv(n, 64),), segment_max, (x, ids, o, n, 64)")]
