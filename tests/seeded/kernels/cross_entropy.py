"""Cross entropy of rows of logits, with an index that is ignored; the loss of each row."""
import torch
import triton
import triton.language as tl


@triton.jit
def cross_entropy(x, target, loss, n, ignored, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    t = tl.load(target + row)
    if t == ignored:
        tl.store(loss + row, 0.0)
    else:
        top = tl.full([], float("-inf"), tl.float32)
        total = tl.full([], 0.0, tl.float32)
        for start in range(0, n, B):
            c = start + tl.arange(0, B)
            v = tl.load(x + row * n + c, mask=c < n, other=float("-inf")).to(tl.float32)
            now = tl.maximum(top, tl.max(v, 0))
            total = total * tl.exp(top - now) + tl.sum(tl.exp(v - now), 0)
            top = now
        tl.store(loss + row, top + tl.log(total) - tl.load(x + row * n + t))


def call(x, target):
    m, n = x.shape
    loss = torch.empty(m, device="cuda")
    cross_entropy[(m,)](x, target, loss, n, -100, B=64)
    return loss


CASES = {"friendly": [(8, 128, 0)], "odd": [(1, 1, 0), (5, 65, 2), (4, 100, 1), (3, 63, 3)]}
BOUND = 1e-4


def inputs(m, n, ignored):
    target = torch.randint(0, n, (m,), device="cuda")
    target[:ignored] = -100
    return torch.randn(m, n, device="cuda") * 4, target


def expected(x, target):
    return torch.nn.functional.cross_entropy(x, target, reduction="none", ignore_index=-100)


BUGS = [
    ("unwritten", "        tl.store(loss + row, 0.0)\n", "        pass\n"),
    ("past the end", "if t == ignored:", "if t == -1:"),
    ("wrong other", 'other=float("-inf")).to(tl.float32)', "other=0.0).to(tl.float32)"),
    ("wrong other", ', other=float("-inf")).to(tl.float32)', ").to(tl.float32)"),
    ("mask missing", 'mask=c < n, other=float("-inf")).to', 'mask=c < n + 1, other=float("-inf")).to'),
    ("numerics", "total = total * tl.exp(top - now) +", "total = total +"),
    ("hard-coded size", "for start in range(0, n, B):", "for start in range(0, 128, B):"),
    ("off by one", "tl.load(x + row * n + t))", "tl.load(x + row * n + t + 1))"),
    ("empty", "top = tl.full([], float(\"-inf\"), tl.float32)", "top = tl.load(loss + row)"),
    ("wrong formula", "top + tl.log(total) -", "tl.log(total) -"),
    ("dtype too low", "total = total * tl.exp(top - now) + tl.sum(tl.exp(v - now), 0)",
     "total = (total * tl.exp(top - now) + tl.sum(tl.exp(v - now), 0)).to(tl.bfloat16).to(tl.float32)"),
]
