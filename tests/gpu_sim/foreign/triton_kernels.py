"""Kernels in Triton whose programs for Blackwell the simulator runs: products, attention, products with block scales, and what stands
around them."""

import triton
import triton.language as tl


@triton.jit
def matmul_pointers(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A and B by pointers: cp.async into shared memory."""
    pid = tl.program_id(0)
    columns = tl.cdiv(N, BN)
    rows = pid // columns * BM + tl.arange(0, BM)
    cols = pid % columns * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a = a_ptr + rows[:, None] * K + depth[None, :]
    b = b_ptr + depth[:, None] + cols[None, :] * K
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, tl.cdiv(K, BK)):
        acc = tl.dot(tl.load(a), tl.load(b), acc)
        a += BK
        b += BK
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr, AT: tl.constexpr,
           BT: tl.constexpr, SUM: tl.constexpr):
    """A and B by TMA; AT, BT: the contiguous dimension is K (B) or M (A)."""
    if AT:
        a = tl.make_tensor_descriptor(a_ptr, [K, M], [M, 1], [BK, BM])
    else:
        a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    if BT:
        b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    else:
        b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    columns = tl.cdiv(N, BN)
    m = tl.program_id(0) // columns
    n = tl.program_id(0) % columns
    acc = tl.zeros((BM, BN), SUM)
    for k in tl.range(0, tl.cdiv(K, BK), warp_specialize=WS):
        if AT:
            x = a.load([k * BK, m * BM]).T
        else:
            x = a.load([m * BM, k * BK])
        if BT:
            y = b.load([n * BN, k * BK]).T
        else:
            y = b.load([k * BK, n * BN])
        acc = tl.dot(x, y, acc, out_dtype=SUM)
    c.store([m * BM, n * BN], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def matmul_persistent(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    columns = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * columns
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True, warp_specialize=WS):
        m = tile // columns
        n = tile % columns
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            acc = tl.dot(a.load([m * BM, k * BK]), b.load([n * BN, k * BK]).T, acc)
        c.store([m * BM, n * BN], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def matmul_of_sums(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A + A in registers before the product, 2 C + 1 after it: operands that threads write."""
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    columns = tl.cdiv(N, BN)
    m = tl.program_id(0) // columns
    n = tl.program_id(0) % columns
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = a.load([m * BM, k * BK])
        acc = tl.dot(x + x, b.load([n * BN, k * BK]).T, acc)
    c.store([m * BM, n * BN], (acc * 2 + 1).to(c_ptr.dtype.element_ty))


@triton.jit
def matmul_of_rhs_sums(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """B + B in registers: it goes through shared memory, behind a fence."""
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    columns = tl.cdiv(N, BN)
    m = tl.program_id(0) // columns
    n = tl.program_id(0) % columns
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        y = b.load([n * BN, k * BK])
        acc = tl.dot(a.load([m * BM, k * BK]), (y + y).T, acc)
    c.store([m * BM, n * BN], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, o_ptr, N, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, WS: tl.constexpr, CAUSAL: tl.constexpr):
    q_rows = tl.make_tensor_descriptor(q_ptr, [N, D], [D, 1], [BM, D])
    k_rows = tl.make_tensor_descriptor(k_ptr, [N, D], [D, 1], [BN, D])
    v_rows = tl.make_tensor_descriptor(v_ptr, [N, D], [D, 1], [BN, D])
    o_rows = tl.make_tensor_descriptor(o_ptr, [N, D], [D, 1], [BM, D])
    first = tl.program_id(0) * BM
    q = q_rows.load([first, 0])
    largest = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    end = first + BM if CAUSAL else N
    for j in tl.range(0, end, BN, warp_specialize=WS):
        s = tl.dot(q, k_rows.load([j, 0]).T) * scale
        if CAUSAL:
            s = tl.where((first + tl.arange(0, BM))[:, None] >= (j + tl.arange(0, BN))[None, :], s, -float("inf"))
        new = tl.maximum(largest, tl.max(s, 1))
        p = tl.math.exp2(s - new[:, None])
        factor = tl.math.exp2(largest - new)
        total = total * factor + tl.sum(p, 1)
        v = v_rows.load([j, 0])
        acc = tl.dot(p.to(v.dtype), v, acc * factor[:, None])
        largest = new
    o_rows.store([first, 0], (acc / total[:, None]).to(o_ptr.dtype.element_ty))


@triton.jit
def matmul_scaled(a_ptr, sa_ptr, b_ptr, sb_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FORMAT: tl.constexpr,
                  PACK: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    """Scales in the order that cuBLAS has: blocks of 128 rows and four scales."""
    columns = tl.cdiv(N, BN)
    m = tl.program_id(0) // columns
    n = tl.program_id(0) % columns
    a = tl.make_tensor_descriptor(a_ptr, [M, K // PACK], [K // PACK, 1], [BM, BK // PACK])
    b = tl.make_tensor_descriptor(b_ptr, [N, K // PACK], [K // PACK, 1], [BN, BK // PACK])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    RM: tl.constexpr = BM // 128
    RN: tl.constexpr = BN // 128
    RK: tl.constexpr = BK // BLOCK // 4
    deep = K // BLOCK // 4
    sa = tl.make_tensor_descriptor(sa_ptr, [1, M // 128, deep, 2, 256], [M // 128 * deep * 512, deep * 512, 512, 256, 1], [1, RM, RK, 2, 256])
    sb = tl.make_tensor_descriptor(sb_ptr, [1, N // 128, deep, 2, 256], [N // 128 * deep * 512, deep * 512, 512, 256, 1], [1, RN, RK, 2, 256])
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, tl.cdiv(K, BK), num_stages=STAGES):
        x = a.load([m * BM, k * (BK // PACK)])
        y = b.load([n * BN, k * (BK // PACK)])
        s = sa.load([0, m * RM, k * RK, 0, 0]).reshape(RM, RK, 32, 4, 4).trans(0, 3, 2, 1, 4).reshape(BM, BK // BLOCK)
        t = sb.load([0, n * RN, k * RK, 0, 0]).reshape(RN, RK, 32, 4, 4).trans(0, 3, 2, 1, 4).reshape(BN, BK // BLOCK)
        acc = tl.dot_scaled(x, s, FORMAT, y.T, t, FORMAT, acc)
    c.store([m * BM, n * BN], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def matmul_scaled_rows(a_ptr, sa_ptr, b_ptr, sb_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FORMAT: tl.constexpr,
                       PACK: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    """Scales in rows along K, which threads load: B may have fewer than 128 columns."""
    columns = tl.cdiv(N, BN)
    m = tl.program_id(0) // columns
    n = tl.program_id(0) % columns
    a = tl.make_tensor_descriptor(a_ptr, [M, K // PACK], [K // PACK, 1], [BM, BK // PACK])
    b = tl.make_tensor_descriptor(b_ptr, [N, K // PACK], [K // PACK, 1], [BN, BK // PACK])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    deep = K // BLOCK
    of_a = sa_ptr + (m * BM + tl.arange(0, BM))[:, None] * deep + tl.arange(0, BK // BLOCK)[None, :]
    of_b = sb_ptr + (n * BN + tl.arange(0, BN))[:, None] * deep + tl.arange(0, BK // BLOCK)[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, tl.cdiv(K, BK), num_stages=STAGES):
        x = a.load([m * BM, k * (BK // PACK)])
        y = b.load([n * BN, k * (BK // PACK)])
        s = tl.load(of_a + k * (BK // BLOCK))
        t = tl.load(of_b + k * (BK // BLOCK))
        acc = tl.dot_scaled(x, s, FORMAT, y.T, t, FORMAT, acc)
    c.store([m * BM, n * BN], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def row_softmax(x_ptr, y_ptr, N, BN: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, BN)
    x = tl.load(x_ptr + at, mask=tl.arange(0, BN) < N, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + at, e / tl.sum(e, 0), mask=tl.arange(0, BN) < N)
