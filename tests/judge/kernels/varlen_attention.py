"""Attention within sequences of different lengths that lie one behind the other."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def _varlen_fwd(Q, K, V, O, CU, stride_t, stride_h, scale, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr):
    pid_m = tl.program_id(0)
    head = tl.program_id(1)
    seq = tl.program_id(2)
    start = tl.load(CU + seq)
    end = tl.load(CU + seq + 1)
    length = end - start
    if pid_m * BLOCK_M >= length:
        return
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    q_ptrs = Q + (start + offs_m[:, None]) * stride_t + head * stride_h + offs_d[None, :]
    q = tl.load(q_ptrs, mask=offs_m[:, None] < length, other=0.0)
    m_i = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    for first in range(0, length, BLOCK_N):
        cols = first + offs_n
        k = tl.load(K + (start + cols[None, :]) * stride_t + head * stride_h + offs_d[:, None], mask=cols[None, :] < length, other=0.0)
        v = tl.load(V + (start + cols[:, None]) * stride_t + head * stride_h + offs_d[None, :], mask=cols[:, None] < length, other=0.0)
        s = tl.dot(q, k, input_precision="ieee") * scale
        s = tl.where(cols[None, :] < length, s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(s - m_new[:, None])
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p, v, input_precision="ieee")
        m_i = m_new
    acc = acc / l_i[:, None]
    tl.store(O + (start + offs_m[:, None]) * stride_t + head * stride_h + offs_d[None, :], acc, mask=offs_m[:, None] < length)


def varlen_attention(q, k, v, cu_seqlens, max_seqlen):
    total, heads, dim = q.shape
    out = torch.zeros_like(q)
    grid = (triton.cdiv(max_seqlen, 16), heads, cu_seqlens.numel() - 1)
    _varlen_fwd[grid](q, k, v, out, cu_seqlens, q.stride(0), q.stride(1), 1.0 / math.sqrt(dim), BLOCK_M=16, BLOCK_N=16, D=dim)
    return out


BUGS = [
    ("mask", "        s = tl.where(cols[None, :] < length, s, float(\"-inf\"))\n", ""),
    ("rescale", "acc = acc * alpha[:, None] + tl.dot", "acc = acc + tl.dot"),
    ("offset", "v = tl.load(V + (start + cols[:, None])", "v = tl.load(V + (cols[:, None])"),
    ("grid", "triton.cdiv(max_seqlen, 16), heads", "max_seqlen // 16 + (max_seqlen < 16), heads"),
    ("mask", "acc, mask=offs_m[:, None] < length)", "acc, mask=offs_m[:, None] < length + 1)"),
    ("init", "m_i = tl.full([BLOCK_M], float(\"-inf\"), tl.float32)", "m_i = tl.zeros([BLOCK_M], tl.float32)"),
    ("loop", "range(0, length, BLOCK_N)", "range(0, pid_m * BLOCK_M + BLOCK_M, BLOCK_N)"),
    ("unwritten", "torch.zeros_like(q)", "torch.empty_like(q)"),
    ("head", "k = tl.load(K + (start + cols[None, :]) * stride_t + head * stride_h", "k = tl.load(K + (start + cols[None, :]) * stride_t + 0 * stride_h"),
    ("hack", "    return out\n", "    return out.to(torch.float16).to(torch.float32)\n"),
]
EQUIVALENT = [("BLOCK_M=16, BLOCK_N=16", "BLOCK_M=16, BLOCK_N=32"), ("acc = acc / l_i[:, None]", "acc = acc * (1 / l_i)[:, None]"),
              ("alpha = tl.exp(m_i - m_new)", "alpha = tl.math.exp2((m_i - m_new) * 1.4426950408889634)")]
