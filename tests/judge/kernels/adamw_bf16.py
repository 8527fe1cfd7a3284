"""A step of AdamW on bfloat16 parameters, in place."""
import triton
import triton.language as tl


@triton.jit
def adamw_kernel(p_ptr, g_ptr, m_ptr, v_ptr, n, lr, decay, c1, c2, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    live = i < n
    p = tl.load(p_ptr + i, mask=live).to(tl.float32)
    g = tl.load(g_ptr + i, mask=live).to(tl.float32)
    m = tl.load(m_ptr + i, mask=live) * 0.9 + g * 0.1
    v = tl.load(v_ptr + i, mask=live) * 0.95 + g * g * 0.05
    tl.store(m_ptr + i, m, mask=live)
    tl.store(v_ptr + i, v, mask=live)
    step = lr * (m / c1) / (tl.sqrt(v / c2) + 1e-6)
    tl.store(p_ptr + i, (p * (1 - lr * decay) - step).to(tl.bfloat16), mask=live)


def reference(p, g, m, v, lr, decay, step):
    n = p.numel()
    adamw_kernel[(triton.cdiv(n, 256),)](p, g, m, v, n, lr, decay, 1 - 0.9**step, 1 - 0.95**step, B=256)
    return p


BUGS = [
    ("rounding",
     "(p * (1 - lr * decay) - step).to(tl.bfloat16)",
     "((p * (1 - lr * decay) - step).to(tl.int32, bitcast=True) & 0xFFFF0000).to(tl.float32, bitcast=True).to(tl.bfloat16)"),
    ("argument", "1 - 0.95**step, B=256", "1 - 0.95, B=256"),
    ("missing store", "    tl.store(v_ptr + i, v, mask=live)\n", ""),
    ("formula", "tl.sqrt(v / c2) + 1e-6", "tl.sqrt(v / c2 + 1e-6)"),
    ("precision", "g * g * 0.05", "(g.to(tl.bfloat16) * g.to(tl.bfloat16)).to(tl.float32) * 0.05"),
    ("mask", "tl.store(m_ptr + i, m, mask=live)", "tl.store(m_ptr + i, m)"),
    ("argument", "(1 - lr * decay)", "(1 - decay)"),
    ("grid", "triton.cdiv(n, 256)", "max(n // 256, 1)"),
]
EQUIVALENT = [("m / c1) / (tl.sqrt", "m / c1) * 1.0 / (tl.sqrt"), ("B=256)", "B=256, num_warps=2)")]
