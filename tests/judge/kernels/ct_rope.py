"""cuTile: rotary positions; the halves of each row are turned by the angles of its position."""
import cuda.tile as ct
import torch


@ct.kernel
def rope(x, cos, sin, o, D: ct.Constant[int]):
    row, head = ct.bid(0), ct.bid(1)
    a = ct.load(x, (row, head, 0), (1, 1, D))
    b = ct.load(x, (row, head, 1), (1, 1, D))
    c = ct.reshape(ct.load(cos, (row, 0), (1, D)), (1, 1, D))
    s = ct.reshape(ct.load(sin, (row, 0), (1, D)), (1, 1, D))
    ct.store(o, (row, head, 0), a * c - b * s)
    ct.store(o, (row, head, 1), b * c + a * s)


def call(x, cos, sin):
    t, h, _ = x.shape
    o = torch.empty(x.shape, device="cuda")
    ct.launch(torch.cuda.current_stream(), (t, h), rope, (x, cos, sin, o, 32))
    return o


BUGS = [
    ("wrong formula", "a * c - b * s", "a * c + b * s"),
    ("wrong index", "ct.load(sin, (row, 0)", "ct.load(sin, (head, 0)"),
    ("wrong index", "ct.store(o, (row, head, 1)", "ct.store(o, (row, head, 0)"),
    ("grid", "(t, h), rope", "(h, t), rope"),
    ("aliasing", "o = torch.empty(x.shape, device=\"cuda\")", "o = x"),
    ("dtype too low", "b * c + a * s)", "(b * c + a * s).astype(ct.float16).astype(ct.float32))"),
]
EQUIVALENT = [("a * c - b * s", "-b * s + a * c")]
