"""Gumbel top-1: the largest perturbed logit of each row, and its index."""
import torch
import triton
import triton.language as tl


@triton.jit
def gumbel_kernel(l_ptr, u_ptr, v_ptr, i_ptr, n, sl0, sl1, su0, su1, temperature, B: tl.constexpr):
    row = tl.program_id(0)
    best = -float("inf")
    where = 0
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        live = i < n
        logit = tl.load(l_ptr + row * sl0 + i * sl1, mask=live, other=0.0)
        u = tl.load(u_ptr + row * su0 + i * su1, mask=live, other=1.0)
        noise = -tl.log(-tl.log(u / (1 + u)))
        score = tl.where(live, logit / temperature + noise, -float("inf"))
        top = tl.max(score, 0)
        at = start + tl.argmax(score, 0)
        where = tl.where(top > best, at, where)
        best = tl.maximum(best, top)
    tl.store(v_ptr + row, best)
    tl.store(i_ptr + row, where.to(tl.int64))


def reference(logits, u, temperature):
    m, n = logits.shape
    value = torch.empty(m, device=logits.device, dtype=torch.float32)
    index = torch.empty(m, device=logits.device, dtype=torch.int64)
    gumbel_kernel[(m,)](logits, u, value, index, n, logits.stride(0), logits.stride(1), u.stride(0), u.stride(1), temperature, B=64)
    return value, index


BUGS = [
    ("init", 'best = -float("inf")\n    where', "best = 0.0\n    where"),
    ("mask", 'tl.where(live, logit / temperature + noise, -float("inf"))', "tl.where(live, logit / temperature + noise, 0.0)"),
    ("argument", "logit / temperature + noise", "logit + noise"),
    ("index", "at = start + tl.argmax(score, 0)", "at = tl.argmax(score, 0)"),
    ("stride", "u_ptr + row * su0 + i * su1", "u_ptr + row * n + i"),
    ("sign", "noise = -tl.log(-tl.log(u / (1 + u)))", "noise = tl.log(-tl.log(u / (1 + u)))"),
    ("order", "top > best, at, where", "top >= best, at + 0 * where, where - 1"),
    ("loop", "for start in range(0, n, B)", "for start in range(0, n - 1, B)"),
]
EQUIVALENT = [("u / (1 + u)", "u * (1 / (1 + u))"), ("best = tl.maximum(best, top)", "best = tl.where(top > best, top, best)")]
