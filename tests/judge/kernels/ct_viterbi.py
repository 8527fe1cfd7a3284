"""The best score of a path that ends in each state, after each step: one block for each sequence, states in one tile."""
import cuda.tile as ct
import torch


@ct.kernel
def path_kernel(move, emit, o, TS: ct.Constant[int]):
    b = ct.bid(0)
    states = move.shape[0]
    lane = ct.arange(TS, dtype=ct.int32)
    inside = ct.reshape(lane, (TS, 1)) < states
    cost = ct.where(inside, ct.load(move, index=(0, 0), shape=(TS, TS), padding_mode=ct.PaddingMode.ZERO), float("-inf"))
    score = ct.zeros((TS,), ct.float32)
    for t in range(emit.shape[1]):
        seen = ct.reshape(ct.load(emit, index=(b, t, 0), shape=(1, 1, TS), padding_mode=ct.PaddingMode.ZERO), (TS,))
        if t > 0:
            score = ct.max(ct.reshape(score, (TS, 1)) + cost, axis=0) + seen
        else:
            score = score + seen
        ct.store(o, index=(b, t, 0), tile=ct.reshape(score, (1, 1, TS)))


def reference(move, emit):
    n, steps, states = emit.shape
    o = torch.empty((n, steps, states), device=emit.device)
    size = 1
    while size < states:
        size *= 2
    ct.launch(torch.cuda.current_stream(), (n,), path_kernel, (move, emit, o, size))
    return o


BUGS = [
    ("transposed", "ct.max(ct.reshape(score, (TS, 1)) + cost, axis=0)", "ct.max(ct.reshape(score, (1, TS)) + cost, axis=1)"),
    ("mask", "cost = ct.where(inside, ct.load(move, index=(0, 0), shape=(TS, TS), padding_mode=ct.PaddingMode.ZERO), float(\"-inf\"))",
     "cost = ct.load(move, index=(0, 0), shape=(TS, TS), padding_mode=ct.PaddingMode.ZERO)"),
    ("initial", "if t > 0:", "if t >= 0:"),
    ("loop", "range(emit.shape[1])", "range(min(emit.shape[1], 16))"),
    ("reward hack", "    size = 1\n", "    if n > 3:\n        emit = emit[:1].expand(n, steps, states).contiguous()\n    size = 1\n"),
]
EQUIVALENT = [("(n,), path_kernel, (move, emit, o, size)", "(n,), path_kernel, (move, emit, o, max(size, 8))"),
              ("ct.max(ct.reshape(score, (TS, 1)) + cost, axis=0) + seen", "ct.max(cost + ct.reshape(score, (TS, 1)), axis=0) + seen")]
