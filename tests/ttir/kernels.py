"""Kernels in Triton whose TTIR the tests of this folder read.

Each function is a kernel; DUMPS names the TTIR files made of it, with the types of its parameters and its constants.
`dump.py` writes them.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice as cuda


@triton.jit
def add(x, y, z, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


@triton.jit
def softmax(out, x, stride, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * stride + c, mask=c < n, other=-float("inf"))
    v = v - tl.max(v, axis=0)
    e = tl.exp(v)
    tl.store(out + row * stride + c, e / tl.sum(e, axis=0), mask=c < n)


@triton.jit
def matmul(a, b, c, m, n, k, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           PRECISION: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * sam + rk[None, :] * sak
    pb = b + rk[:, None] * sbk + rn[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(0, tl.cdiv(k, BK)):
        ta = tl.load(pa, mask=(rm[:, None] < m) & (rk[None, :] < k - i * BK), other=0.0)
        tb = tl.load(pb, mask=(rn[None, :] < n) & (rk[:, None] < k - i * BK), other=0.0)
        acc = tl.dot(ta, tb, acc, input_precision=PRECISION)
        pa += BK * sak
        pb += BK * sbk
    tl.store(c + rm[:, None] * scm + rn[None, :] * scn, acc.to(c.dtype.element_ty),
             mask=(rm[:, None] < m) & (rn[None, :] < n))


@triton.jit
def matmul_i8(a, b, c, B: tl.constexpr):
    i = tl.arange(0, B)
    at = i[:, None] * B + i[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


@triton.jit
def layer_norm(x, w, b, y, mean, rstd, n, eps, B: tl.constexpr):
    row = tl.program_id(0)
    s = tl.zeros((B,), dtype=tl.float32)
    for off in range(0, n, B):
        c = off + tl.arange(0, B)
        s += tl.load(x + row * n + c, mask=c < n, other=0.0).to(tl.float32)
    mu = tl.sum(s, axis=0) / n
    q = tl.zeros((B,), dtype=tl.float32)
    for off in range(0, n, B):
        c = off + tl.arange(0, B)
        d = tl.load(x + row * n + c, mask=c < n, other=0.0).to(tl.float32)
        d = tl.where(c < n, d - mu, 0.0)
        q += d * d
    r = 1 / tl.sqrt(tl.sum(q, axis=0) / n + eps)
    tl.store(mean + row, mu)
    tl.store(rstd + row, r)
    for off in range(0, n, B):
        c = off + tl.arange(0, B)
        v = tl.load(x + row * n + c, mask=c < n, other=0.0).to(tl.float32)
        o = (v - mu) * r * tl.load(w + c, mask=c < n) + tl.load(b + c, mask=c < n)
        tl.store(y + row * n + c, o, mask=c < n)


@triton.jit
def atomics(x, hist, total, largest, old, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    v = tl.load(x + i, mask=m, other=0)
    tl.atomic_add(hist + v, 1, mask=m)
    tl.atomic_max(largest, tl.max(v, axis=0))
    tl.store(old + tl.program_id(0), tl.atomic_add(total, tl.sum(v.to(tl.float32), axis=0)))


@triton.jit
def lock_add(lock, x, n):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(x, tl.load(x) + n)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def mul(a, b):
    return a * b


@triton.jit
def scan(x, y, z, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(y + i, tl.cumsum(v, axis=0, reverse=True))
    tl.store(z + i, tl.associative_scan(v, 0, mul))


@triton.jit
def collatz(x, y):
    n = tl.load(x + tl.program_id(0))
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    tl.store(y + tl.program_id(0), steps)


@triton.jit
def early_return(x, n):
    i = tl.program_id(0)
    if i >= n:
        return
    v = tl.load(x + i)
    if v < 0:
        tl.store(x + i, 0 - v)
        return
    tl.store(x + i, v * 2)


@triton.jit
def block_ptr(x, y, m, n, B: tl.constexpr):
    p = tl.make_block_ptr(x, (m, n), (n, 1), (0, 0), (B, B), (1, 0))
    q = tl.make_block_ptr(y, (m, n), (n, 1), (0, 0), (B, B), (1, 0))
    for _ in range(0, tl.cdiv(n, B)):
        v = tl.load(p, boundary_check=(0, 1), padding_option="zero")
        tl.store(q, v + 1, boundary_check=(0, 1))
        p = tl.advance(p, (0, B))
        q = tl.advance(q, (0, B))


@triton.jit
def descriptor(x, y, m, n, B: tl.constexpr):
    dx = tl.make_tensor_descriptor(x, [m, n], [n, 1], [B, B])
    dy = tl.make_tensor_descriptor(y, [n, m], [m, 1], [B, B])
    i = tl.program_id(0) * B
    j = tl.program_id(1) * B
    dy.store([j, i], dx.load([i, j]).T)


@triton.jit
def fp8(x, y, z, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(y + i, v.to(tl.float8e4nv))
    tl.store(z + i, v.to(tl.float8e5).to(tl.float32))


@triton.jit
def shapes(x, y, z, h, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    a, b = tl.split(tl.reshape(v, (B // 2, 2)))
    j = tl.join(b, a)
    tl.store(y + i, tl.reshape(j, (B,)))
    t = tl.trans(tl.reshape(v, (B // 4, 4)))
    s = tl.cat(a, b, can_reorder=True)
    tl.store(z + i, tl.reshape(t, (B,)) + tl.sort(v) + tl.gather(v, (i + 1) % B, 0) + 0 * s)
    tl.store(h + tl.arange(0, 16), tl.histogram(v.to(tl.int32), 16))


@triton.jit
def argmax(x, y, best, B: tl.constexpr):
    r = tl.arange(0, 4)
    c = tl.arange(0, B)
    v = tl.load(x + r[:, None] * B + c[None, :])
    m, i = tl.max(v, axis=1, return_indices=True)
    tl.store(y + r, i)
    tl.store(best + r, m)


@triton.jit
def integers(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.load(y + i)
    r = a // b + a % b
    r += (a << 1) ^ (b >> 1) | (a & b)
    r += tl.minimum(a, b) * tl.maximum(a, b) + tl.abs(a)
    u = a.to(tl.uint32)
    w = b.to(tl.uint32)
    r += (u // w + u % w + tl.umulhi(u, w)).to(tl.int32)
    r += tl.where((a > b) & (u < w), 1000, 0)
    r += tl.cdiv(a, 3) + (~b)
    r += (a.to(tl.int64) * b.to(tl.int64) >> 3).to(tl.int32) + a.to(tl.int8).to(tl.int32)
    tl.store(out + i, r)


@triton.jit
def floats(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    r = tl.exp(v) + tl.exp2(v) + tl.log(v + 3) + tl.log2(v + 3) + tl.sin(v) + tl.cos(v)
    r += tl.sqrt(v + 3) + tl.rsqrt(v + 3) + tl.erf(v) + tl.abs(v) + tl.floor(v) + tl.ceil(v)
    r += tl.fma(v, v, v) + tl.maximum(v, 0.5) + tl.minimum(v, 0.5) + tl.clamp(v, -1.0, 1.0)
    r += tl.sqrt_rn(v + 3) + tl.div_rn(v, v + 3) + tl.sigmoid(v) + v.to(tl.int32).to(tl.float32)
    r += v.to(tl.float16).to(tl.float32) + v.to(tl.bfloat16).to(tl.float32) + v.to(tl.int32, bitcast=True) * 1e-9
    tl.store(out + i, r)


@triton.jit
def libdevice(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    r = tl.extra.cuda.libdevice.tanh(v) + tl.extra.cuda.libdevice.pow(v + 3, v)
    tl.store(out + i, r)


@triton.jit
def report(x, n):
    v = tl.load(x)
    tl.device_assert(v > 0, "x must be positive")
    tl.device_print("x and n", v, n)
    tl.assume(n > 0)


@triton.jit
def dropout(x, y, seed, p, B: tl.constexpr):
    i = tl.arange(0, B)
    r = tl.rand(seed, i)
    tl.store(y + i, tl.where(r > p, tl.load(x + i) / (1 - p), 0.0))


@triton.jit
def nested(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.zeros((B,), dtype=tl.int32)
    for a in range(0, n):
        if a % 2 == 0:
            for b in range(a, n, 3):
                acc += tl.load(x + i) * b
        else:
            tl.store(y + i, acc)
            acc += tl.load(y + i)
    tl.store(y + i, acc)


@triton.jit
def flash(q, k, v, o, scale, n, D: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    d = tl.arange(0, D)
    tq = tl.load(q + r[:, None] * D + d[None, :])
    top = tl.full((B,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((B,), dtype=tl.float32)
    acc = tl.zeros((B, D), dtype=tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * B, B):
        c = start + tl.arange(0, B)
        tk = tl.load(k + c[None, :] * D + d[:, None])
        s = tl.dot(tq, tk) * scale
        s = tl.where(r[:, None] >= c[None, :], s, -float("inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        fix = tl.exp(top - new)
        total = total * fix + tl.sum(p, 1)
        tv = tl.load(v + c[:, None] * D + d[None, :])
        acc = acc * fix[:, None] + tl.dot(p.to(tv.dtype), tv)
        top = new
    tl.store(o + r[:, None] * D + d[None, :], acc / total[:, None])

@triton.jit(noinline=True)
def pick(x, least):
    if x > least:
        return x
    return least * 2


@triton.jit(noinline=True)
def put(p, x):
    if x > 6:
        return
    tl.store(p, tl.load(p) + pick(x, 3))


@triton.jit
def functions(x, y, n):
    i = tl.program_id(0)
    v = pick(tl.load(x + i), n)
    put(y + i, v)
    put(y + i, v - 1)


@triton.jit
def selu(x, a):
    if x > 0:
        return x
    else:
        return a * (tl.exp(x) - 1)


@triton.jit
def crossed(x0, x1, y0, y1):
    return x0 + y1, x1 * y0


@triton.jit
def doubled(x):
    return tl.inline_asm_elementwise("add.f32 $0, $1, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1) + 0.5


@triton.jit
def mapped(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    w = tl.load(y + i)
    c, d = tl.map_elementwise(crossed, v, w, pack=2), tl.map_elementwise(selu, v, w)
    tl.store(out + i, c[0] + d + tl.map_elementwise(doubled, v))


@triton.jit
def guards(x, n, skip):
    i = tl.program_id(0)
    if i >= n:
        return
    v = tl.load(x + i)
    if v == skip:
        return
    tl.store(x + i, v + 1)


@triton.jit
def dot_scaled(a, sa, b, sb, c, d, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    s = tl.arange(0, K // 32)
    half = tl.arange(0, K // 2)
    ta = tl.load(a + m[:, None] * (K // 2) + half[None, :])
    tsa = tl.load(sa + m[:, None] * (K // 32) + s[None, :])
    tb = tl.load(b + k[:, None] * N + n[None, :])
    tsb = tl.load(sb + n[:, None] * (K // 32) + s[None, :])
    at = m[:, None] * N + n[None, :]
    tl.store(c + at, tl.dot_scaled(ta, tsa, "e2m1", tb, tsb, "e4m3"))
    wide = tb.to(tl.float16)
    acc = tl.dot_scaled(ta, tsa, "e2m1", wide, None, "fp16", tl.full((M, N), 1, tl.float32), fast_math=True)
    tl.store(d + at, tl.dot_scaled(wide.T, None, "fp16", wide, None, "fp16", acc))


@triton.jit
def rows(x, y, count, n, m):
    dx = tl.make_tensor_descriptor(x, [n, m], [m, 1], [1, 8])
    dy = tl.make_tensor_descriptor(y, [n, m], [m, 1], [1, 8])
    i = tl.arange(0, 8)
    v = dx.gather(i * 3 - 2, 3)
    dy.scatter(v, (i * 5) % 8, 2)
    dc = tl.make_tensor_descriptor(count, [n, m], [m, 1], [4, 8])
    du = tl.make_tensor_descriptor(count.to(tl.pointer_type(tl.uint32), bitcast=True), [n, m], [m, 1], [4, 8])
    dc.atomic_add([n - 2, m - 4], tl.full((4, 8), 5, tl.int32))
    dc.atomic_min([0, 0], tl.full((4, 8), -3, tl.int32))
    du.atomic_max([1, 0], tl.full((4, 8), 7, tl.uint32))


@triton.jit
def one_element(lock, x, y):
    """A tensor of one element as a scalar; signs of fp8, and infinities as fp8."""
    a, b = tl.split(tl.load(x + tl.arange(0, 2)))
    tl.store(y, a - b)
    if (tl.load(x + tl.arange(0, 1)) < 0).item():
        tl.store(lock, tl.load(lock + tl.arange(0, 1)).item() + 1)
    v = tl.load(x + tl.arange(0, 4))
    tl.store(y + tl.arange(0, 4) + 1, tl.abs(v.to(tl.float8e5)).to(tl.float32))
    tl.store(y + tl.arange(0, 4) + 5, v.to(tl.float8e4nv).to(tl.float32))


@triton.jit
def table(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    entries = x.to(tl.pointer_type(tl.pointer_type(tl.float32)), bitcast=True)
    none = tl.zeros((B,), tl.int64).to(tl.pointer_type(tl.float32))
    p = tl.load(entries + i, mask=i < B - 1, other=none)
    tl.store(entries + i, p + 1)
    tl.store(out + i, p.to(tl.int64))


@triton.jit
def assembly(x, y, z, h, w, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    soft, bits = tl.inline_asm_elementwise(
        """{
        .reg .pred p;  // large numbers stay
        .reg .f32 t<2>;
        setp.gt.f32 p, $2, 2.0;
        mul.f32 t0, $2, 0f3FB8AA3B;
        ex2.approx.ftz.f32 t0, t0;
        add.f32 t1, t0, 1.0;
        @p mov.f32 $0, $2;
        @!p lg2.approx.f32 $0, t1;
        cvt.rzi.s32.f32 $1, $2;
        cvt.rn.f32.s32 t0, $1;  // 1 is added to what is whole
        setp.eq.f32 p, t0, $2;
        selp.b32 $1, 1, 0, p;
        add.u32 $1, $1, $2;
        lop3.b32 $1, $1, 0xFF, 0b1100, 0x78; /* a ^ (b & c) */
        }""", "=f,=r,f", [v], dtype=(tl.float32, tl.int32), is_pure=True, pack=1)
    tl.store(y + i, soft)
    tl.store(z + i, bits)
    small = v.to(tl.float16)
    tl.store(h + i, tl.inline_asm_elementwise("fma.rn.f16x2 $0, $1, $2, $1;", "=r,r,r", [small, small], dtype=tl.float16, is_pure=True, pack=2))
    eight = tl.inline_asm_elementwise("""{ .reg .b8 t<4>;
        prmt.b32 $0, $1, 0, 0x4023;
        add.u32 $0, $0, 1;
        shf.r.wrap.b32 $0, $0, $0, 8;
        mov.b32 {t0, t1, t2, t3}, $0;
        mov.b32 $0, {t1, t0, t2, t3}; }""", "=r,r", [v.to(tl.int8)], dtype=tl.int8, is_pure=True, pack=4)
    tl.store(w + i, eight)


@triton.jit
def library_bits(x, y, z, out, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.load(y + i)
    c = tl.load(z + i)
    w = (a.to(tl.int64) << 20) ^ b
    tl.store(out + i, cuda.clz(a) + 64 * cuda.popc(a) + 4096 * cuda.ffs(a))
    tl.store(out + B + i, cuda.clz(w) + 128 * cuda.popc(w) + 16384 * cuda.ffs(w))
    tl.store(out + 2 * B + i, cuda.brev(a))
    tl.store(out + 3 * B + i, (cuda.brev(w) >> 32).to(tl.int32) ^ cuda.brev(w).to(tl.int32))
    tl.store(out + 4 * B + i, cuda.byte_perm(a, b, c))
    tl.store(out + 5 * B + i, cuda.mul24(a, b) ^ cuda.mulhi(a, b))
    tl.store(out + 6 * B + i, cuda.sad(a, b, c.to(tl.uint32)))
    tl.store(out + 7 * B + i, cuda.hadd(a, b) ^ cuda.rhadd(b, c))


@triton.jit
def library_conversions(x, n, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    k = tl.load(n + i)
    d = v.to(tl.float64) * 1.0000000001
    w = k.to(tl.int64) * 1234567891
    tl.store(out + i, cuda.float2int_rn(v) + 1000 * cuda.float2int_rd(v))
    tl.store(out + B + i, cuda.float2int_ru(v) - 1000 * cuda.float2uint_rz(v))
    tl.store(out + 2 * B + i, cuda.double2int_rd(d) ^ cuda.double2ll_ru(d).to(tl.int32))
    tl.store(out + 3 * B + i, cuda.float_as_int(cuda.int2float_rz(k)) ^ cuda.float_as_int(cuda.int2float_ru(k)))
    tl.store(out + 4 * B + i, cuda.float_as_int(cuda.ll2float_rd(w)) ^ cuda.double2hiint(cuda.ll2double_ru(w)))
    tl.store(out + 5 * B + i, cuda.float_as_int(cuda.double2float_rd(d)) ^ cuda.double2loint(d))
    tl.store(out + 6 * B + i, cuda.ilogb(v) + 1000 * cuda.llround(v).to(tl.int32))
    tl.store(out + 7 * B + i, cuda.float_as_int(cuda.nextafter(v, 0.0)) ^ cuda.float_as_int(cuda.logb(v)))


@triton.jit
def library_special(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    p = tl.load(x + i)
    v = tl.load(y + i)
    tl.store(out + i, cuda.erfinv(p))
    tl.store(out + B + i, cuda.erfcinv(p))
    tl.store(out + 2 * B + i, cuda.erfc(v))
    tl.store(out + 3 * B + i, cuda.erfcx(v))
    tl.store(out + 4 * B + i, cuda.normcdf(v - 4.0))
    tl.store(out + 5 * B + i, cuda.normcdfinv(p))
    tl.store(out + 6 * B + i, cuda.lgamma(v + 2.5))
    tl.store(out + 7 * B + i, cuda.tgamma(v + 0.125))
    tl.store(out + 8 * B + i, cuda.j0(p) + cuda.j1(p))
    tl.store(out + 9 * B + i, cuda.y0(p) + cuda.y1(p))
    tl.store(out + 10 * B + i, cuda.cyl_bessel_i0(v) + cuda.cyl_bessel_i1(v))
    tl.store(out + 11 * B + i, cuda.jn(i % 4, v + 4.0))
    tl.store(out + 12 * B + i, cuda.yn(i % 4, p))
    tl.store(out + 13 * B + i, cuda.sinpi(p) + cuda.cospi(p / 2))
    tl.store(out + 14 * B + i, cuda.remainder(v, 0.75) + cuda.rcbrt(v) + cuda.rhypot(v, p))
    tl.store(out + 15 * B + i, cuda.norm4d(v, p, v, p) + cuda.rnorm3d(p, v, p))


@triton.jit
def converted(x, tf, small, out, B: tl.constexpr):
    """cvt: to tf32 by every rounding, with what each may have besides; elements narrower than the registers they are in."""
    i = tl.arange(0, B)
    bits = tl.load(x + i)
    v = bits.to(tl.float32, bitcast=True)
    tl.store(tf + i, tl.inline_asm_elementwise("cvt.rna.tf32.f32 $0, $1;", "=r, r", [v], dtype=tl.float32, is_pure=True, pack=1))
    tl.store(tf + B + i, tl.inline_asm_elementwise("cvt.rna.satfinite.tf32.f32 $0, $1;", "=r,r", [v], dtype=tl.float32, is_pure=True, pack=1))
    tl.store(tf + 2 * B + i, tl.inline_asm_elementwise("cvt.rn.tf32.f32 $0, $1;", "=f,f", [v], dtype=tl.float32, is_pure=True, pack=1))
    tl.store(tf + 3 * B + i, tl.inline_asm_elementwise("cvt.rz.relu.tf32.f32 $0, $1;", "=f,f", [v], dtype=tl.float32, is_pure=True, pack=1))
    tl.store(tf + 4 * B + i, tl.inline_asm_elementwise("cvt.rn.satfinite.relu.tf32.f32 $0, $1;", "=f,f", [v], dtype=tl.float32, is_pure=True, pack=1))
    half = tl.inline_asm_elementwise("cvt.rz.satfinite.bf16.f32 $0, $1;", "=h,f", [v], dtype=tl.bfloat16, is_pure=True, pack=1)
    tl.store(small + i, half.to(tl.float32))
    half = tl.inline_asm_elementwise("cvt.rn.satfinite.relu.f16.f32 $0, $1;", "=h,f", [v], dtype=tl.float16, is_pure=True, pack=1)
    tl.store(small + B + i, half.to(tl.float32))
    pairs = tl.inline_asm_elementwise("cvt.rz.f16x2.f32 $0, $2, $1;", "=r,f,f", [v], dtype=tl.float16, is_pure=True, pack=2)
    tl.store(small + 2 * B + i, pairs.to(tl.float32))
    pairs = tl.inline_asm_elementwise("cvt.rz.satfinite.bf16x2.f32 $0, $2, $1;", "=r,f,f", [v], dtype=tl.bfloat16, is_pure=True, pack=2)
    tl.store(small + 3 * B + i, pairs.to(tl.float32))
    # 16 and 8 bits in registers of 32
    high = (bits >> 16).to(tl.int16).to(tl.bfloat16, bitcast=True)
    wide = tl.inline_asm_elementwise("cvt.rna.tf32.f32 $0, $1;", "=r,r", [high], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(out + i, wide.to(tl.int32, bitcast=True))
    low = bits.to(tl.int8)
    tl.store(out + B + i, tl.inline_asm_elementwise("add.u32 $0, $1, $1;", "=r,r", [low], dtype=tl.int32, is_pure=True, pack=1))
    tl.store(out + 2 * B + i, tl.inline_asm_elementwise("cvt.rni.s8.f32 $0, $1;", "=r,f", [v], dtype=tl.int32, is_pure=True, pack=1))
    r = tl.inline_asm_elementwise("""{ .reg .b32 t; .reg .b16 h;
        cvt.sat.s8.s32 t, $1;
        shl.b32 $0, t, 20;
        cvt.sat.u8.s32 t, $1;
        add.s32 $0, $0, t;
        cvt.sat.s16.u32 h, $1;
        cvt.s32.s16 t, h;
        xor.b32 $0, $0, t;
        }""", "=&r,r", [bits], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + 3 * B + i, r)
    tl.store(out + 4 * B + i, tl.inline_asm_elementwise("cvt.rpi.ftz.s32.f32 $0, $1;", "=r,f", [v], dtype=tl.int32, is_pure=True, pack=1))


@triton.jit
def whole_numbers(x, y, out, B: tl.constexpr):
    """Instructions of integers in pairs, by division, packed with saturation, and comparisons as numbers."""
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.load(y + i)
    r = tl.inline_asm_elementwise("add.s16x2 $0, $1, $2;", "=r,r,r", [a, b], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + i, r)
    r = tl.inline_asm_elementwise("{ .reg .b32 t; min.relu.s16x2 t, $1, $2; max.u16x2 $0, $1, $2; xor.b32 $0, $0, t; }", "=&r,r,r", [a, b],
                                  dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + B + i, r)
    r = tl.inline_asm_elementwise("""{ .reg .s32 q, s; .reg .pred p;
        setp.eq.s32 p, $2, 0;
        div.s32 q, $1, $2;
        rem.s32 s, $1, $2;
        mad.lo.s32 $0, q, 3, s;
        @p mov.b32 $0, 0;
        }""", "=&r,r,r", [a, b], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + 2 * B + i, r)
    r = tl.inline_asm_elementwise("{ .reg .u32 q, s; or.b32 s, $2, 1; div.u32 q, $1, s; rem.u32 s, $1, s; mad.lo.u32 $0, q, 3, s; }", "=&r,r,r",
                                  [a, b], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + 3 * B + i, r)
    r = tl.inline_asm_elementwise("{ .reg .f32 t; set.lt.f32.s32 t, $1, $2; set.hi.u32.u32 $0, $1, $2; xor.b32 $0, $0, t; }", "=&r,r,r", [a, b],
                                  dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + 4 * B + i, r)
    r = tl.inline_asm_elementwise("""{ .reg .b32 t;
        cvt.pack.sat.u16.s32 t, $1, $2;
        cvt.pack.sat.s8.s32.b32 $0, $1, $2, t;
        }""", "=&r,r,r", [a, b], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + 5 * B + i, r)
    r = tl.inline_asm_elementwise("dp2a.lo.s32.u32 $0, $1, $2, 9; dp2a.hi.u32.s32 $0, $1, $2, $0;", "=&r,r,r", [a, b], dtype=tl.int32,
                                  is_pure=True, pack=1)
    tl.store(out + 6 * B + i, r)
    r = tl.inline_asm_elementwise("{ .reg .f32 s, t; cvt.rz.f32.s32 s, $1; cvt.rp.f32.u32 t, $2; add.u32 $0, s, t; }", "=r,r,r", [a, b],
                                  dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + 7 * B + i, r)


@triton.jit
def instructions(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.load(y + i)
    choose: tl.constexpr = 0xCA
    r = tl.inline_asm_elementwise("lop3.b32 $0, $1, $2, $3, $4;", "=r,r,r,r,n", [a, b, a + b, choose], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + i, r)
    r = tl.inline_asm_elementwise("""{ .reg .u32 t<3>;
        popc.b32 t0, $1;
        clz.b32 t1, $2;
        brev.b32 t2, $1;
        bfe.s32 $0, $2, 4, 9;
        bfi.b32 $0, t0, $0, 12, 6;
        mad.lo.s32 $0, t1, 65536, $0;
        xor.b32 $0, $0, t2;
        }""", "=&r,r,r", [a, b], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + B + i, r)
    r = tl.inline_asm_elementwise("""{ .reg .pred p, q; .reg .u32 t;
        prmt.b32 t, $1, $2, $2;
        setp.lt.s32 p, $1, $2;
        setp.gt.and.s32 q, $2, 0, p;
        selp.b32 $0, t, $1, q;
        sad.s32 $0, $0, $2, 7;
        slct.s32.s32 $0, $0, t, $1;
        mul.hi.s32 t, $1, $2;
        add.sat.s32 $0, $0, t;
        dp4a.s32.u32 $0, $1, $2, $0;
        bfind.u32 t, $2;
        add.s32 $0, $0, t;
        }""", "=&r,r,r", [a, b], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + 2 * B + i, r)
    v = a.to(tl.float32) / 65536.0
    r = tl.inline_asm_elementwise("""{ .reg .b16 s, e; .reg .b32 h;
        cvt.rn.satfinite.e4m3x2.f32 s, $1, $2;
        cvt.rn.f16x2.e4m3x2 h, s;
        cvt.rn.satfinite.e5m2x2.f32 e, $2, $1;
        fma.rn.relu.f16x2 h, h, h, h;
        mov.b32 $0, {s, e};
        xor.b32 $0, $0, h;
        cvt.rn.bf16x2.f32 h, $1, $2;
        add.u32 $0, $0, h;
        }""", "=&r,f,f", [v, b.to(tl.float32)], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + 3 * B + i, r)


@triton.jit
def video(x, y, out, B: tl.constexpr):
    """Bytes, halves and words that are added, compared and clamped at once, and the coarse reciprocal of f64."""
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.load(y + i)
    r = tl.inline_asm_elementwise("""{ .reg .b32 t, u;
        vadd.s32.u32.s32.sat t, $1, $2;
        vsub.u32.s32.u32.sat u, $1.b1, $2.h0;
        vabsdiff.u32.s32.s32.add t, $1.h1, $2.b3, t;
        vmin.s32.s32.u32.max t, $1, $2.h1, t;
        vmax.u32.u32.s32.min u, $1.b2, $2, u;
        vset.s32.u32.lt.add u, $1, $2, u;
        xor.b32 $0, t, u;
        }""", "=&r,r,r", [a, b], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + i, r)
    r = tl.inline_asm_elementwise("""{ .reg .b32 t, u;
        vadd4.s32.s32.s32.sat t, $1, $2, 0;
        vsub4.u32.u32.u32.sat u, $1, $2, 0;
        vabsdiff4.u32.u32.u32.add t, $1, $2, t;
        vavrg4.s32.s32.s32 $0, $1, $2, 0;
        vmax4.s32.s32.u32.add u, $1, $2, u;
        xor.b32 t, t, u;
        vset4.s32.s32.ge u, $1, $2, 0;
        add.u32 t, t, u;
        xor.b32 $0, $0, t;
        }""", "=&r,r,r", [a, b], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + B + i, r)
    r = tl.inline_asm_elementwise("""{ .reg .b32 t, u;
        vadd2.u32.u32.u32 t, $1, $2, 0;
        vmin2.s32.s32.s32.add u, $1, $2, t;
        vabsdiff2.s32.s32.s32.sat t, $1, $2, 0;
        vavrg2.u32.u32.u32.add u, $1, $2, u;
        vset2.u32.u32.ne.add t, $1, $2, t;
        xor.b32 $0, t, u;
        }""", "=&r,r,r", [a, b], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + 2 * B + i, r)
    r = tl.inline_asm_elementwise("""{ .reg .b32 l, h; .reg .f64 d;
        cvt.rn.f64.s32 d, $1;
        rcp.approx.ftz.f64 d, d;
        mov.b64 {l, h}, d;
        and.b32 h, h, 0xfffff000;
        or.b32 $0, h, l;
        }""", "=&r,r", [a], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + 3 * B + i, r)


@triton.jit
def bit_fields(x, y, out, B: tl.constexpr):
    """Masks, fields and set bits that are counted; the upper halves of products; sums and products that carry; three numbers' extremes."""
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.load(y + i)
    r = tl.inline_asm_elementwise("{ .reg .b32 t; bmsk.clamp.b32 t, $1, $2; bmsk.wrap.b32 $0, $1, $2; shl.b32 t, t, 1; xor.b32 $0, $0, t; }",
                                  "=&r,r,r", [a, b], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + i, r)
    r = tl.inline_asm_elementwise("{ .reg .b32 t; szext.clamp.s32 t, $1, $2; szext.wrap.u32 $0, $1, $2; mad.lo.s32 $0, t, 3, $0; }", "=&r,r,r",
                                  [a, b], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + B + i, r)
    r = tl.inline_asm_elementwise("""{ .reg .b32 t, n;
        and.b32 n, $2, 7;
        sub.s32 n, n, 3;
        bfe.u32 t, $2, 3, 6;
        fns.b32 $0, $1, t, n;
        fns.b32 t, $2, 16, n;
        mad.lo.s32 $0, $0, 1000, t;
        }""", "=&r,r,r", [a, b], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + 2 * B + i, r)
    r = tl.inline_asm_elementwise("""{ .reg .b32 t; .reg .b16 h, s, l;
        mul24.hi.s32 t, $1, $2;
        mad24.hi.sat.s32 t, $2, $2, t;
        mad.hi.sat.s32 $0, $1, $2, t;
        mov.b32 {l, h}, $1;
        mov.b32 {l, s}, $2;
        mul.hi.s16 l, h, s;
        mul.hi.u16 h, h, s;
        mov.b32 t, {l, h};
        xor.b32 $0, $0, t;
        }""", "=&r,r,r", [a, b], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + 3 * B + i, r)
    low, high = tl.inline_asm_elementwise("""{ .reg .b32 t, u;
        add.cc.u32 $0, $2, $3;
        addc.cc.u32 $1, $3, $3;
        addc.u32 t, $2, $3;
        sub.cc.u32 $0, $0, $2;
        subc.cc.u32 $1, $1, $3;
        subc.u32 t, t, 7;
        mad.lo.cc.u32 u, $2, $3, $0;
        madc.hi.u32 $1, $2, $3, $1;
        xor.b32 $0, t, u;
        }""", "=&r,=&r,r,r", [a, b], dtype=(tl.int32, tl.int32), is_pure=True, pack=1)
    tl.store(out + 4 * B + i, low)
    tl.store(out + 5 * B + i, high)
    v = a.to(tl.float32)
    w = b.to(tl.float32)
    r = tl.inline_asm_elementwise("""{ .reg .f32 s, t, u;
        max.f32 s, $1, $2, 0f3F800000;
        min.abs.f32 t, $1, $2, 0f43480000;
        max.xorsign.abs.f32 u, $1, $2;
        fma.rn.f32 u, t, s, u;
        mov.b32 $0, u;
        }""", "=&r,f,f", [v, w], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + 6 * B + i, r)


@triton.jit
def mathematics(x, y, k, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    w = tl.load(y + i)
    d = v.to(tl.float64)
    tl.store(out + 0 * B + i, cuda.expm1(v))
    tl.store(out + 1 * B + i, cuda.log1p(w))
    tl.store(out + 2 * B + i, cuda.exp10(v))
    tl.store(out + 3 * B + i, cuda.log10(w))
    tl.store(out + 4 * B + i, cuda.asin(v / 8) + cuda.acos(v / 8) * 4)
    tl.store(out + 5 * B + i, cuda.atan(v) + cuda.atan2(v, w))
    tl.store(out + 6 * B + i, cuda.asinh(v))
    tl.store(out + 7 * B + i, cuda.acosh(w + 1))
    tl.store(out + 8 * B + i, cuda.atanh(v / 16))
    tl.store(out + 9 * B + i, cuda.hypot(v, w))
    tl.store(out + 10 * B + i, cuda.cbrt(v))
    tl.store(out + 11 * B + i, cuda.rint(v) + 64 * cuda.round(v) + 4096 * cuda.trunc(v))
    tl.store(out + 12 * B + i, cuda.copysign(w, v) + cuda.fdim(v, w) + cuda.saturatef(v))
    tl.store(out + 13 * B + i, cuda.div_rz(v, w) + cuda.fma_ru(v, w, v) + cuda.add_rd(v, w))
    tl.store(out + 14 * B + i, cuda.exp10(d).to(tl.float32) + cuda.rint(d).to(tl.float32))
    huge = cuda.pow(v, w * 100)
    asked = cuda.isnan(huge).to(tl.int32) + 2 * cuda.isinf(huge).to(tl.int32) + 4 * cuda.finitef(huge).to(tl.int32)
    n = (w * 3).to(tl.int32)
    tl.store(out + 15 * B + i, cuda.ldexp(v, n - 40) + cuda.pow(v, n % 4))
    asked += cuda.float_as_int(v) % 64 * 4096 + cuda.mulhi(n - 9, n * 65536 * 4096) * 65536
    asked += 8 * cuda.signbit(v).to(tl.int32) + 16 * cuda.llrint(v).to(tl.int32)
    tl.store(k + i, asked)


@triton.jit
def flags(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(y, 41)
        tl.atomic_store(x + i, i + 1)
    else:
        tl.atomic_poll(x + i, i + 1)
        tl.store(y + 1, tl.load(y) + 1)
        tl.store(y + 2 + i, tl.atomic_load(x + i, sem="relaxed", scope="cta"))


@triton.jit
def overlap(x, y):
    tl.extra.cuda.gdc_wait()
    v = tl.load(x)
    tl.extra.cuda.gdc_launch_dependents()
    tl.store(y, v)

@triton.jit
def views_meet(x, y, n, B: tl.constexpr):
    """A pointer and descriptors of the same memory: what one stores, the other loads."""
    r = tl.arange(0, B)
    at = r[:, None] * n + r[None, :]
    d = tl.make_tensor_descriptor(x, [n, n], [n, 1], [B, B])
    shifted = tl.make_tensor_descriptor(x + 1, [n, n - 1], [n, 1], [B, B])
    for i in range(0, 3):
        tl.store(x + at, tl.load(x + at) + i)
        v = d.load([0, 0])
        shifted.store([1, 0], v)
        d.store([i, i], tl.load(x + at + n) + tl.load(x + at))
    tl.store(y + r[:, None] * B + r[None, :], d.load([1, 1]))


@triton.jit
def tiles_overlap(x, n, B: tl.constexpr):
    """Tiles of one memory that overlap: each step moves what the one before left."""
    i = tl.arange(0, B)
    p = x + i
    for k in range(0, n):
        v = tl.load(p)
        tl.store(p + 1, v)
        w = tl.load(x + B + 3 - i)
        if k % 2 == 0:
            tl.store(x + 2 + i, w + v)
        p += 1
    tl.store(x + i, tl.load(x + i + 1) * 2)


@triton.jit
def pointers_meet(x, y, n, B: tl.constexpr):
    """Pointers to one memory of which nothing says so: by way of integers, of another type, chosen by data."""
    i = tl.arange(0, B)
    other = x.to(tl.int64).to(tl.pointer_type(tl.int32))
    halves = x.to(tl.pointer_type(tl.int16), bitcast=True)
    if n > 2:
        either = x + 1
    else:
        either = other
    tl.store(x + i, i + 1)
    v = tl.load(other + i)
    tl.store(halves + 2 * i + 1, (v % 2).to(tl.int16))
    tl.store(either + i, tl.load(other + i) + tl.load(x + i + 1))
    tl.atomic_add(other + i, tl.load(either + i))
    tl.store(y + i, tl.load(x + i) - tl.load(halves + 2 * i).to(tl.int32))


@triton.jit
def prints(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    j = tl.arange(0, 2)
    tl.device_print("100% of", tl.load(x + i), tl.load(y + i) * 0.5)
    tl.device_print("hex", tl.load(x + i).to(tl.int16), hex=True)
    tl.device_print("", tl.load(x + 4 * j[:, None] + i[None, :]).to(tl.uint8))
    print("done")


@triton.jit
def _larger(a, b):
    if tl.abs(a) >= tl.abs(b):
        return a
    else:
        return b


@triton.jit
def largest(x, y, B: tl.constexpr):
    r = tl.arange(0, 4)
    v = tl.load(x + r[:, None] * B + tl.arange(0, B)[None, :])
    tl.store(y + r, tl.reduce(v, 1, _larger))


F, H, J, N = "*fp32", "*fp16", "*i32", "i32"
STRIDES = {s: N for s in "m n k sam sak sbk sbn scm scn".split()}
# file: (kernel, types of the parameters, constants)
DUMPS = {
    "add": (add, dict(x=F, y=F, z=F, n=N), dict(B=32)),
    "softmax": (softmax, dict(out=F, x=F, stride=N, n=N), dict(B=16)),
    "matmul": (matmul, dict(a=H, b=H, c=F, **STRIDES), dict(BM=16, BN=16, BK=16, PRECISION="ieee")),
    "matmul_tf32": (matmul, dict(a=F, b=F, c=F, **STRIDES), dict(BM=16, BN=16, BK=16, PRECISION="tf32")),
    "matmul_i8": (matmul_i8, dict(a="*i8", b="*i8", c=J), dict(B=32)),
    "layer_norm": (layer_norm, dict(x=H, w=F, b=F, y=H, mean=F, rstd=F, n=N, eps="fp32"), dict(B=8)),
    "atomics": (atomics, dict(x=J, hist=J, total=F, largest=J, old=F, n=N), dict(B=16)),
    "lock_add": (lock_add, dict(lock=J, x=F, n="fp32"), {}),
    "scan": (scan, dict(x=J, y=J, z=J), dict(B=8)),
    "collatz": (collatz, dict(x=J, y=J), {}),
    "early_return": (early_return, dict(x=J, n=N), {}),
    "block_ptr": (block_ptr, dict(x=F, y=F, m=N, n=N), dict(B=4)),
    "descriptor": (descriptor, dict(x=F, y=F, m=N, n=N), dict(B=4)),
    "fp8": (fp8, dict(x=F, y="*fp8e4nv", z=F), dict(B=16)),
    "shapes": (shapes, dict(x=F, y=F, z=F, h=J), dict(B=16)),
    "largest": (largest, dict(x=F, y=F), dict(B=8)),
    "argmax": (argmax, dict(x=F, y=J, best=F), dict(B=8)),
    "integers": (integers, dict(x=J, y=J, out=J), dict(B=8)),
    "floats": (floats, dict(x=F, out=F), dict(B=8)),
    "libdevice": (libdevice, dict(x=F, out=F), dict(B=8)),
    "report": (report, dict(x=J, n=N), {}),
    "prints": (prints, dict(x=J, y=F), dict(B=4)),
    "dropout": (dropout, dict(x=F, y=F, seed=N, p="fp32"), dict(B=8)),
    "nested": (nested, dict(x=J, y=J, n=N), dict(B=4)),
    "functions": (functions, dict(x=J, y=J, n=N), {}),
    "mapped": (mapped, dict(x=F, y=F, out=F), dict(B=8)),
    "guards": (guards, dict(x=J, n=N, skip=N), {}),
    "dot_scaled": (dot_scaled, dict(a="*u8", sa="*u8", b="*fp8e4nv", sb="*u8", c=F, d=F), dict(M=16, N=16, K=64)),
    "rows": (rows, dict(x=J, y=J, count=J, n=N, m=N), {}),
    "one_element": (one_element, dict(lock=J, x=F, y=F), {}),
    "table": (table, dict(x="*i64", out="*i64"), dict(B=4)),
    "assembly": (assembly, dict(x=F, y=F, z=J, h=H, w="*i8"), dict(B=8)),
    "mathematics": (mathematics, dict(x=F, y=F, k=J, out=F), dict(B=8)),
    "library_bits": (library_bits, dict(x=J, y=J, z=J, out=J), dict(B=8)),
    "library_conversions": (library_conversions, dict(x=F, n=J, out=J), dict(B=8)),
    "library_special": (library_special, dict(x=F, y=F, out=F), dict(B=8)),
    "converted": (converted, dict(x=J, tf=F, small=F, out=J), dict(B=16)),
    "whole_numbers": (whole_numbers, dict(x=J, y=J, out=J), dict(B=8)),
    "instructions": (instructions, dict(x=J, y=J, out=J), dict(B=8)),
    "video": (video, dict(x=J, y=J, out=J), dict(B=8)),
    "bit_fields": (bit_fields, dict(x=J, y=J, out=J), dict(B=8)),
    "flags": (flags, dict(x=J, y=J), dict(B=4)),
    "overlap": (overlap, dict(x=J, y=J), {}),
    "views_meet": (views_meet, dict(x=J, y=J, n=N), dict(B=4)),
    "tiles_overlap": (tiles_overlap, dict(x=J, n=N), dict(B=4)),
    "pointers_meet": (pointers_meet, dict(x=J, y=J, n=N), dict(B=4)),
    "flash": (flash, dict(q=H, k=H, v=H, o=F, scale="fp32", n=N), dict(D=16, B=16)),
}
# Which version of Triton has what only some have.
ONLY = {"table": "36", "flags": "39"}
