"""Mean cross entropy with an ignored label and z-loss; the gradient replaces the logits."""
import torch
import triton
import triton.language as tl


@triton.jit
def ce_kernel(X, Y, loss, V, stride, n_valid, ignore, lse_scale, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    y = tl.load(Y + row)
    X += row * stride
    if y == ignore:
        for i in range(0, V, BLOCK):
            c = i + tl.arange(0, BLOCK)
            tl.store(X + c, 0.0, mask=c < V)
        return
    m = float("-inf")
    d = 0.0
    xy = tl.load(X + y).to(tl.float32)
    for i in range(0, V, BLOCK):
        c = i + tl.arange(0, BLOCK)
        x = tl.load(X + c, mask=c < V, other=float("-inf")).to(tl.float32)
        top = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - top) + tl.sum(tl.exp(x - top))
        m = top
    lse = m + tl.log(d)
    for i in range(0, V, BLOCK):
        c = i + tl.arange(0, BLOCK)
        x = tl.load(X + c, mask=c < V, other=float("-inf")).to(tl.float32)
        p = tl.exp(x - m) / d
        g = p + 2 * lse_scale * lse * p
        g = tl.where(c == y, g - 1, g) / n_valid
        tl.store(X + c, g, mask=c < V)
    tl.store(loss + row, (lse - xy + lse_scale * lse * lse) / n_valid)


def cross_entropy_(logits, target, ignore_index, lse_scale):
    rows, V = logits.shape
    n_valid = max(int((target != ignore_index).sum()), 1)
    loss = torch.zeros(rows, dtype=torch.float32, device=logits.device)
    ce_kernel[(rows,)](logits, target, loss, V, logits.stride(0), n_valid, ignore_index, lse_scale, BLOCK=64)
    return loss.sum()


BUGS = [
    ("rescale", "d = d * tl.exp(m - top) + ", "d = d + "),
    ("wrong other", "x = tl.load(X + c, mask=c < V, other=float(\"-inf\")).to(tl.float32)\n        top",
     "x = tl.load(X + c, mask=c < V, other=0.0).to(tl.float32)\n        top"),
    ("formula", "tl.where(c == y, g - 1, g) / n_valid", "tl.where(c == y, g - 1, g) / tl.num_programs(0)"),
    ("formula", "(lse - xy + lse_scale * lse * lse) / n_valid", "(lse - xy) / n_valid"),
    ("formula", "g = p + 2 * lse_scale * lse * p", "g = p + lse_scale * lse * p"),
    ("missing", "            tl.store(X + c, 0.0, mask=c < V)\n        return",
     "            tl.store(X + c, tl.load(X + c, mask=c < V), mask=c < V)\n        return"),
    ("hard-coded", "n_valid, ignore_index, lse_scale, BLOCK", "n_valid, 0, lse_scale, BLOCK"),
    ("unwritten", "loss = torch.zeros(rows,", "loss = torch.empty(rows,"),
    ("stride", "V, logits.stride(0), n_valid", "V, V, n_valid"),
    ("mask", "        tl.store(X + c, g, mask=c < V)", "        tl.store(X + c, g)"),
    ("order", "- xy + lse_scale", "- tl.load(X + y) + lse_scale"),
]
EQUIVALENT = [("lse_scale, BLOCK=64", "lse_scale, BLOCK=128"), ("p = tl.exp(x - m) / d", "p = tl.exp(x - lse)")]
