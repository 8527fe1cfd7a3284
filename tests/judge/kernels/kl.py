"""Divergence of two distributions that are given by logits, for each row."""
import torch
import triton
import triton.language as tl


@triton.jit
def kl_kernel(p_ptr, q_ptr, o_ptr, n, sp, sq, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    live = c < n
    p = tl.load(p_ptr + row * sp + c, mask=live, other=float("-inf")).to(tl.float32)
    q = tl.load(q_ptr + row * sq + c, mask=live, other=float("-inf")).to(tl.float32)
    p_top = tl.max(p, 0)
    q_top = tl.max(q, 0)
    p_log = p - p_top - tl.log(tl.sum(tl.exp(p - p_top), 0))
    q_log = q - q_top - tl.log(tl.sum(tl.exp(q - q_top), 0))
    terms = tl.where(live, tl.exp(p_log) * (p_log - q_log), 0.0)
    tl.store(o_ptr + row, tl.sum(terms, 0))


def reference(p, q):
    m, n = p.shape
    o = torch.empty(m, device=p.device)
    kl_kernel[(m,)](p, q, o, n, p.stride(0), q.stride(0), B=triton.next_power_of_2(n))
    return o


BUGS = [
    ("overflow", "q_top = tl.max(q, 0)", "q_top = 0.0"),
    ("exchanged", "tl.exp(p_log) * (p_log - q_log)", "tl.exp(q_log) * (q_log - p_log)"),
    ("padding", "q = tl.load(q_ptr + row * sq + c, mask=live, other=float(\"-inf\"))", "q = tl.load(q_ptr + row * sq + c, mask=live, other=0.0)"),
    ("stride", "q_ptr + row * sq + c", "q_ptr + row * n + c"),
    ("block", "B=triton.next_power_of_2(n)", "B=min(1024, triton.next_power_of_2(n))"),
]
EQUIVALENT = [("p - p_top - tl.log(tl.sum(tl.exp(p - p_top), 0))", "p - (p_top + tl.log(tl.sum(tl.exp(p - p_top), 0)))"),
              ("B=triton.next_power_of_2(n)", "B=max(32, triton.next_power_of_2(n))")]
