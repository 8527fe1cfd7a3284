"""Discounted sums from the end of each row: r[i] = x[i] + gamma r[i + 1], where a flag ends an episode at its element."""
import torch
import triton
import triton.language as tl


@triton.jit
def returns_kernel(x_ptr, done_ptr, o_ptr, m, n, gamma, B: tl.constexpr):
    row = tl.program_id(0) * B + tl.arange(0, B)
    live = row < m
    carry = tl.zeros((B,), tl.float32)
    for step in range(n):
        i = n - 1 - step
        x = tl.load(x_ptr + row * n + i, mask=live, other=0.0)
        done = tl.load(done_ptr + row * n + i, mask=live, other=0)
        carry = x + tl.where(done != 0, 0.0, gamma * carry)
        tl.store(o_ptr + row * n + i, carry, mask=live)


def reference(x, done, gamma, B=16):
    m, n = x.shape
    o = torch.empty_like(x)
    returns_kernel[(triton.cdiv(m, B),)](x, done, o, m, n, gamma, B=B)
    return o


BUGS = [
    ("order", "i = n - 1 - step", "i = step"),
    ("formula", "tl.where(done != 0, 0.0, gamma * carry)", "gamma * carry"),
    ("formula", "carry = x + tl.where(done != 0, 0.0, gamma * carry)", "carry = tl.where(done != 0, 0.0, x + gamma * carry)"),
    ("argument", "m, n, gamma, B=B)", "m, n, 0.99, B=B)"),
    ("loop", "for step in range(n):", "for step in range(n - 1):"),
    ("mask missing", "tl.store(o_ptr + row * n + i, carry, mask=live)", "tl.store(o_ptr + row * n + i, carry)"),
]
EQUIVALENT = [("B=16):", "B=32):"), ("done != 0, 0.0, gamma * carry", "done == 0, gamma * carry, 0.0")]
