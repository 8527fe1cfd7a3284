"""cuTile: cross entropy of each row; rows whose target is ignored give 0."""
import cuda.tile as ct
import torch


@ct.kernel
def loss(x, target, o, ignored: ct.Constant[int], B: ct.Constant[int]):
    row = ct.bid(0)
    tiles = ct.cdiv(x.shape[1], B)
    top = ct.full((1, 1), -3.4e38, dtype=ct.float32)
    total = ct.full((1, 1), 0, dtype=ct.float32)
    for j in range(tiles):
        v = ct.load(x, (row, j), (1, B), padding_mode=ct.PaddingMode.NEG_INF)
        now = ct.maximum(top, ct.max(v, 1, keepdims=True))
        total = total * ct.exp(top - now) + ct.sum(ct.exp(v - now), 1, keepdims=True)
        top = now
    goal = ct.gather(target, row)
    inside = goal != ignored
    hit = ct.gather(x, (row, ct.where(inside, goal, 0)))
    value = ct.reshape(top + ct.log(total), ()) - hit
    ct.scatter(o, row, ct.where(inside, value, 0.0))


def call(x, target):
    m = x.shape[0]
    o = torch.empty(m, device="cuda")
    ct.launch(torch.cuda.current_stream(), (m,), loss, (x, target, o, -100, 32))
    return o


BUGS = [
    ("wrong other", "padding_mode=ct.PaddingMode.NEG_INF", "padding_mode=ct.PaddingMode.ZERO"),
    ("numerics", "total * ct.exp(top - now) + ", "total + "),
    ("size no multiple", "tiles = ct.cdiv(x.shape[1], B)", "tiles = max(1, x.shape[1] // B)"),
    ("wrong formula", "ct.where(inside, value, 0.0)", "value"),
    ("wrong formula", "o, -100, 32)", "o, -1, 32)"),
    ("grid", "(m,), loss", "(max(1, m - 1),), loss"),
]
EQUIVALENT = [("o, -100, 32)", "o, -100, 64)")]
