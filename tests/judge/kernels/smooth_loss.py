"""Cross entropy with label smoothing, the mean of the rows whose target is not ignored."""
import torch
import triton
import triton.language as tl


@triton.jit
def row_losses(x, target, total, n, ignored, smooth, B: tl.constexpr):
    row = tl.program_id(0)
    goal = tl.load(target + row)
    if goal != ignored:
        top = tl.full([B], float("-inf"), tl.float32)
        part = tl.zeros([B], tl.float32)
        plain = tl.zeros([B], tl.float32)
        for start in range(0, n, B):
            c = start + tl.arange(0, B)
            v = tl.load(x + row * n + c, mask=c < n, other=float("-inf"))
            now = tl.maximum(top, v)
            safe = tl.where(now == float("-inf"), 0.0, now)
            part = part * tl.exp(top - safe) + tl.exp(v - safe)
            plain += tl.where(c < n, v, 0.0)
            top = now
        high = tl.max(top, 0)
        log_sum = high + tl.log(tl.sum(part * tl.exp(top - high), 0))
        hit = log_sum - tl.load(x + row * n + goal)
        mean = log_sum - tl.sum(plain, 0) / n
        tl.atomic_add(total, (1 - smooth) * hit + smooth * mean)
        tl.atomic_add(total + 1, 1.0)


@triton.jit
def finish(total, o):
    tl.store(o, tl.load(total) / tl.load(total + 1))


def call(x, target):
    m, n = x.shape
    total = torch.zeros(2, device="cuda")
    o = torch.empty((), device="cuda")
    row_losses[(m,)](x, target, total, n, -100, 0.1, B=32)
    finish[(1,)](total, o)
    return o


BUGS = [
    ("wrong formula", "    if goal != ignored:\n", "    if goal >= 0 or goal == ignored:\n        goal = tl.maximum(goal, 0)\n"),
    ("wrong formula", "tl.sum(plain, 0) / n", "tl.sum(plain, 0) / B"),
    ("numerics", "part * tl.exp(top - high)", "part"),
    ("wrong formula", "n, -100, 0.1, B", "n, -100, 0.0, B"),
    ("empty", "total = torch.zeros(2", "total = torch.empty(2"),
    ("missing atomic", "tl.atomic_add(total + 1, 1.0)", "tl.store(total + 1, tl.load(total + 1) + 1.0)"),
    ("grid", "row_losses[(m,)]", "row_losses[(max(1, m - 1),)]"),
    ("wrong formula", "tl.load(total) / tl.load(total + 1)", "tl.load(total) / tl.maximum(tl.load(total + 1), 2.0)"),
    ("numerics", "part * tl.exp(top - safe) + tl.exp(v - safe)", "part + tl.exp(v - safe)"),
]
EQUIVALENT = [("-100, 0.1, B=32)", "-100, 0.1, B=64)")]
