"""Calls of the kernels that use libdevice and instructions of PTX: what Python's integers, struct and mpmath say comes out.

calls.py takes them; mpmath is needed for `special` only.
"""

import math
import struct

import numpy as np

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def s32(n):
    n &= M32
    return n - (1 << 32) if n >> 31 else n


def s64(n):
    n &= M64
    return n - (1 << 64) if n >> 63 else n


def ones(n, bits):
    return bin(n & (1 << bits) - 1).count("1")


def clz(n, bits):
    return bits - (n & (1 << bits) - 1).bit_length()


def ffs(n):
    return (n & -n).bit_length()


def reverse(n, bits):
    return int(f"{n & (1 << bits) - 1:0{bits}b}"[::-1], 2)


def low24(n):
    return (n & 0xFFFFFF) - ((n & 0x800000) << 1)


def permuted(x, y, selector, with_sign):
    data = [(x & M32 | (y & M32) << 32) >> 8 * k & 255 for k in range(8)]
    out = 0
    for k in range(4):
        digit = selector >> 4 * k & 15
        byte = data[digit & 7]
        if with_sign and digit & 8:
            byte = 255 if byte & 128 else 0
        out |= byte << 8 * k
    return out


def bits():
    x = [0, 1, -1, 0x12345678, -0x12345678, 0x40000000, -(1 << 31), 77]
    y = [5, -1, 0x7FFFFFFF, 0x00FF00FF, 3, -(1 << 31), 1, -12345678]
    z = [0x4321, 0x7531, 0x0246, 0x7777, 1, 0xF0F0, 100, 0x3715]
    rows = [[] for _ in range(8)]
    for a, b, c in zip(x, y, z):
        w = s64((a << 20) ^ b)
        turned = s64(reverse(w, 64))
        for row, value in zip(rows, [
                clz(a, 32) + 64 * ones(a, 32) + 4096 * ffs(a),
                clz(w, 64) + 128 * ones(w, 64) + 16384 * ffs(w),
                reverse(a, 32), (turned >> 32) ^ turned, permuted(a, b, c, False), low24(a) * low24(b) ^ (a * b >> 32),
                abs(a - b) + c, (a + b >> 1) ^ (b + c + 1 >> 1)]):
            row.append(s32(value))
    return dict(x=x, y=y, z=z), dict(out=np.array(rows))


def f32(v):
    return struct.unpack("<i", struct.pack("<f", v))[0]


def f64(v):
    return struct.unpack("<q", struct.pack("<d", v))[0]


def toward(value, direction, mantissa):
    """An integer or float, exactly, as a number of so many bits: -1 down, 1 up, 0 to zero."""
    from fractions import Fraction
    exact = Fraction(value)
    if exact == 0:
        return 0.0
    exponent = math.floor(math.log2(abs(exact))) + 1 - mantissa
    while abs(exact) >= Fraction(2) ** (exponent + mantissa):
        exponent += 1
    while abs(exact) < Fraction(2) ** (exponent + mantissa - 1):
        exponent -= 1
    scaled = exact / Fraction(2) ** exponent
    whole = math.floor(scaled) if direction < 0 else math.ceil(scaled) if direction > 0 else math.trunc(scaled)
    return float(whole * Fraction(2) ** exponent)


def conversions():
    x = np.float32([-7.5, -2.5, -0.5, 0.375, 0.5, 2.5, 1000.25, -1234.75])
    n = [1, -1, 16777217, -16777219, 2147483647, -2147483647, 123456789, -987654321]
    rows = [[] for _ in range(8)]
    for v, k in zip(x, n):
        v = float(v)
        d = v * 1.0000000001
        w = s64(k * 1234567891)
        nearer = float(np.nextafter(np.float32(v), np.float32(0)))
        exponent = math.frexp(v)[1] - 1
        away = math.copysign(math.floor(abs(v) + 0.5), v)
        for row, value in zip(rows, [
                round(v) + 1000 * math.floor(v), math.ceil(v) - 1000 * max(0, math.trunc(v)), math.floor(d) ^ math.ceil(d),
                f32(toward(k, 0, 24)) ^ f32(toward(k, 1, 24)), f32(toward(w, -1, 24)) ^ f64(toward(w, 1, 53)) >> 32,
                f32(toward(d, -1, 24)) ^ f64(d), exponent + 1000 * int(away), f32(nearer) ^ f32(float(exponent))]):
            row.append(s32(value))
    return dict(x=x, n=n), dict(out=np.array(rows))


def special():
    import mpmath as m
    m.mp.prec = 200
    p = np.float32([0.0625, 0.125, 0.3125, 0.40625, 0.625, 0.75, 0.875, 0.96875])
    v = np.float32([0.25, 0.5, 1.25, 2, 3.5, 4.75, 5.5, 7])
    rows = []
    P, V = [m.mpf(float(t)) for t in p], [m.mpf(float(t)) for t in v]
    for f in [lambda p, v, i: m.erfinv(p), lambda p, v, i: m.erfinv(1 - p), lambda p, v, i: m.erfc(v),
              lambda p, v, i: m.exp(v * v) * m.erfc(v), lambda p, v, i: m.ncdf(v - 4), lambda p, v, i: -m.sqrt(2) * m.erfinv(1 - 2 * p),
              lambda p, v, i: m.loggamma(v + m.mpf("2.5")), lambda p, v, i: m.gamma(v + m.mpf("0.125")),
              lambda p, v, i: m.besselj(0, p) + m.besselj(1, p), lambda p, v, i: m.bessely(0, p) + m.bessely(1, p),
              lambda p, v, i: m.besseli(0, v) + m.besseli(1, v), lambda p, v, i: m.besselj(i % 4, v + 4),
              lambda p, v, i: m.bessely(i % 4, p), lambda p, v, i: m.sinpi(p) + m.cospi(p / 2),
              lambda p, v, i: v - m.mpf("0.75") * m.nint(v / m.mpf("0.75")) + 1 / m.cbrt(v) + 1 / m.hypot(v, p),
              lambda p, v, i: m.sqrt(2 * v * v + 2 * p * p) + 1 / m.sqrt(2 * p * p + v * v)]:
        rows.append([float(f(P[i], V[i], i)) for i in range(8)])
    return dict(x=p, y=v), dict(out=np.array(rows).astype(np.float32))


def fp8(v, mantissa, bias, most):
    """The code of the nearest number, the largest one beyond."""
    sign, v = (128 if math.copysign(1, v) < 0 else 0), min(abs(v), most)
    if v == 0:
        return sign
    exponent = max(math.frexp(v)[1] - 1, 1 - bias) - mantissa
    steps = round(v / 2.0**exponent)  # to even
    value = steps * 2.0**exponent
    if value == 0:
        return sign
    e = max(math.frexp(value)[1] - 1, 1 - bias)
    fraction = int(value / 2.0 ** (e - mantissa))
    if fraction >> mantissa:
        return sign | (e + bias) << mantissa | (fraction & (1 << mantissa) - 1)
    return sign | fraction


def value_of_e4m3(code):
    e, fraction = code >> 3 & 15, code & 7
    value = fraction * 2.0**-9 if e == 0 else (8 + fraction) * 2.0 ** (e - 10)
    return -value if code & 128 else value


def bf16(v):
    n = f32(v) & M32
    return n + 0x7FFF + (n >> 16 & 1) >> 16 & 0xFFFF


def f16(v):
    return int(np.float16(v).view(np.uint16))


def byte(n, k):
    return n >> 8 * k & 255


def shortened(bits, drop, how, finite=False, relu=False):
    """The bits of an f32 without the lowest `drop` of its fraction: "away" and "even" say where a tie goes, "zero" cuts."""
    sign, rest = bits & 1 << 31, bits & (1 << 31) - 1
    if rest > 0x7F800000:
        return bits
    if relu and sign:
        return 0
    most = 0x7F800000 - (1 << drop)
    if rest == 0x7F800000:
        return sign | (most if finite else rest)
    half = {"away": 1 << drop - 1, "even": (1 << drop - 1) - 1 + (rest >> drop & 1), "zero": 0}[how]
    rest = (rest + half) >> drop << drop
    return sign | (min(rest, most) if finite else rest)


def clamp(n, low, high):
    return max(low, min(high, n))


def as_f32(bits):
    return np.array(bits, dtype=np.uint32).view(np.float32)


def f16_toward_zero(v):
    if not math.isfinite(v):
        return v
    h = np.float16(v)
    return float(h if abs(float(h)) <= abs(v) else np.nextafter(h, np.float16(0)))


def converted():
    x = [0x3F801000, 0xBF803000, 0x3F800FFF, 0xBF801001, 0x7F7FFFFF, 0xFF7FF000, 0x7F800000, 0xFF800000]
    x += [0x7FC00000, 0x00001000, 0x80000FFF, 0x42FE8123, 0xC3010000, 0x000000C8, 0x80000085, 0x477FF000]
    values = [float(v) for v in as_f32(x)]
    tf = [[shortened(b, 13, how, **more) for b in x]
          for how, more in (("away", {}), ("away", dict(finite=True)), ("even", {}), ("zero", dict(relu=True)), ("even", dict(finite=True, relu=True)))]
    with np.errstate(over="ignore"):
        halves = [v if math.isnan(v) else clamp(float(np.float16(v)), 0.0, 65504.0) for v in values]
        cut = [f16_toward_zero(v) for v in values]
    bfloat = [shortened(b, 16, "zero", finite=True) for b in x]
    small = np.concatenate([as_f32(bfloat), halves, cut, as_f32(bfloat)]).astype(np.float32)
    rows = [[shortened(b >> 16, 13, "away") for b in x], [2 * (b & 255) for b in x]]
    whole = [0 if math.isnan(v) else clamp(v, -1e9, 1e9) for v in values]
    rows.append([int(clamp(round(v), -128, 127)) for v in whole])
    rows.append([s32(s32((clamp(s32(b), -128, 127) << 20) + clamp(s32(b), 0, 255)) ^ min(b, 32767)) for b in x])
    rows.append([0 if math.isnan(v) or abs(v) < 2.0**-126 else int(clamp(math.ceil(clamp(v, -1e10, 1e10)), -(1 << 31), (1 << 31) - 1)) for v in values])
    return dict(x=[s32(b) for b in x]), dict(tf=as_f32(sum(tf, [])), small=small, out=np.array(rows))


def half(n, k, signed):
    n = n >> 16 * k & 65535
    return n - 65536 if signed and n >> 15 else n


def f32_bits(n, up):
    """Of the f32 that is nearest to an integer towards zero, or from above."""
    v = np.float32(n)
    if up and int(v) < n:
        v = np.nextafter(v, np.float32(np.inf))
    if not up and abs(int(v)) > abs(n):
        v = np.nextafter(v, np.float32(0))
    return int(v.view(np.uint32))


def whole_numbers():
    x = [0, 1, -65536, 0x12345678, -(1 << 31), 0x7FFF8000, -(1 << 30) - 77, 77]
    y = [5, -1, 0x7FFFFFFF, 0x00FF00FF, -1, 0x00018001, 0, -12345678]
    rows = [[] for _ in range(8)]
    for a, b in zip(x, y):
        ua, ub = a & M32, b & M32
        rows[0].append(s32(sum((half(a, k, True) + half(b, k, True) & 65535) << 16 * k for k in range(2))))
        least = sum(max(0, min(half(a, k, True), half(b, k, True))) << 16 * k for k in range(2))
        most = sum(max(half(a, k, False), half(b, k, False)) << 16 * k for k in range(2))
        rows[1].append(s32(least ^ most))
        q = 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        rows[2].append(0 if b == 0 else s32(3 * s32(q) + a - q * b))
        rows[3].append(s32(3 * (ua // (ub | 1)) + ua % (ub | 1)))
        rows[4].append(s32((0x3F800000 if a < b else 0) ^ (M32 if ua > ub else 0)))
        words = clamp(a, 0, 65535) << 16 | clamp(b, 0, 65535)
        rows[5].append(s32((words & 65535) << 16 | (clamp(a, -128, 127) & 255) << 8 | clamp(b, -128, 127) & 255))
        low = sum(half(a, k, True) * byte(b, k) for k in range(2))
        high = sum(half(a, k, False) * (byte(b, k + 2) - (byte(b, k + 2) & 128) * 2) for k in range(2))
        rows[6].append(s32(9 + low + high))
        rows[7].append(s32(f32_bits(a, False) + f32_bits(ub, True)))
    return dict(x=x, y=y), dict(out=np.array(rows))


def instructions():
    x = [0, 1, -65536, 0x12345678, -0x12345678, 0x30000, -(1 << 30), 77]
    y = [5, -1, 0x7FFFFFFF, 0x00FF00FF, 3, 300, 1, -12345678]
    rows = [[] for _ in range(4)]
    for a, b in zip(x, y):
        c = s32(a + b)
        rows[0].append(s32(a & b | ~a & c))
        field = b >> 4 & 511
        field = field - 512 if field & 256 else field
        mixed = (field & ~(63 << 12)) | (ones(a, 32) & 63) << 12
        rows[1].append(s32(s32(clz(b, 32) * 65536 + mixed) ^ reverse(a, 32)))
        t = s32(permuted(a, b, b, True))
        chosen = t if b > 0 and a < b else a
        chosen = s32(abs(chosen - b) + 7)
        chosen = chosen if a >= 0 else t
        chosen = max(-(1 << 31), min((1 << 31) - 1, chosen + (a * b >> 32)))
        chosen += sum((byte(a, k) - (byte(a, k) & 128) * 2) * byte(b, k) for k in range(4))
        rows[2].append(s32(chosen + (b & M32).bit_length() - 1))
        v, w = float(np.float32(a) / np.float32(65536)), float(np.float32(b))
        high, low = fp8(v, 3, 7, 448), fp8(w, 3, 7, 448)
        first, second = fp8(w, 2, 15, 57344), fp8(v, 2, 15, 57344)
        halves = [max(0.0, float(np.float16(t * t + t))) for t in map(value_of_e4m3, (low, high))]
        h = f16(halves[0]) | f16(halves[1]) << 16
        both = (high << 8 | low) | (first << 8 | second) << 16
        rows[3].append(s32((both ^ h) + (bf16(v) << 16 | bf16(w))))
    return dict(x=x, y=y), dict(out=np.array(rows))


def nth_set(mask, base, n):
    """As the loop of PTX's manual finds it."""
    mask, base = mask & M32, base & M32
    if n == 0:
        return base if base < 32 and mask >> base & 1 else -1
    count, step = abs(n) - 1, 1 if n > 0 else -1
    while 0 <= base < 32:
        if mask >> base & 1:
            if count == 0:
                return base
            count -= 1
        base += step
    return -1


def field(n, width, signed):
    n &= (1 << width) - 1
    return n - (1 << width) if signed and width and n >> width - 1 else n


RANGES = {True: lambda n: (-(1 << n - 1), (1 << n - 1) - 1), False: lambda n: (0, (1 << n) - 1)}


def lanes(n, width, signed):
    return [field(n >> k, width, signed) for k in range(0, 32, width)]


def joined(values, width):
    return sum((v & (1 << width) - 1) << width * k for k, v in enumerate(values))


def average(v, w):
    return (v + w + (v + w >= 0)) // 2


def video():
    x = [0, 1, -65536, 0x12345678, -0x12345678, 0x7FFFFFFF, -(1 << 31), 0x80FF7F01 - (1 << 32)]
    y = [5, -1, 0x7FFFFF96, 0x00FF0059, -3, 0x7FFFFFFF, -(1 << 31), 0x017F80FF]
    rows = [[] for _ in range(4)]
    for a, b in zip(x, y):
        ua, ub = a & M32, b & M32
        t = clamp(ua + b, *RANGES[True](32))
        u = clamp(field(a >> 8, 8, True) - field(b, 16, False), *RANGES[False](32))
        t = abs(field(a >> 16, 16, True) - field(b >> 24, 8, True)) + t
        t = max(s32(min(a, field(b >> 16, 16, False))), s32(t))
        u = min(s32(max(field(a >> 16, 8, False), b)) & M32, u & M32)
        u = (a < ub) + u
        rows[0].append(s32(t ^ u))
        t = joined([clamp(v + w, -128, 127) for v, w in zip(lanes(a, 8, True), lanes(b, 8, True))], 8)
        u = joined([clamp(v - w, 0, 255) for v, w in zip(lanes(a, 8, False), lanes(b, 8, False))], 8)
        t += sum(abs(v - w) for v, w in zip(lanes(a, 8, False), lanes(b, 8, False)))
        middle = joined([average(v, w) for v, w in zip(lanes(a, 8, True), lanes(b, 8, True))], 8)
        u += sum(max(v, w) for v, w in zip(lanes(a, 8, True), lanes(b, 8, False)))
        not_below = joined([v >= w for v, w in zip(lanes(a, 8, True), lanes(b, 8, True))], 8)
        rows[1].append(s32(middle ^ (t ^ u) + not_below))
        t = joined([v + w for v, w in zip(lanes(a, 16, False), lanes(b, 16, False))], 16)
        u = t + sum(min(v, w) for v, w in zip(lanes(a, 16, True), lanes(b, 16, True)))
        t = joined([clamp(abs(v - w), *RANGES[True](16)) for v, w in zip(lanes(a, 16, True), lanes(b, 16, True))], 16)
        u += sum(average(v, w) for v, w in zip(lanes(a, 16, False), lanes(b, 16, False)))
        t += sum(v != w for v, w in zip(lanes(a, 16, False), lanes(b, 16, False)))
        rows[2].append(s32(t ^ u))
        upper = f64(a) >> 32 << 32  # what the instruction reads
        value = np.array(upper, dtype=np.int64).view(np.float64)
        rows[3].append(s32((f64(1 / float(value)) if a else f64(math.inf)) >> 32 & 0xFFFFF000))
    return dict(x=x, y=y), dict(out=np.array(rows))


def bit_fields():
    x = [0, 1, -65536, 0x12345678, -0x12345678, 0x30000, 33, 5]
    y = [5, -1, 0x7FFFFF96, 0x00FF0059, -3, 300, 32, 31]
    rows = [[] for _ in range(7)]
    for a, b in zip(x, y):
        ua, ub = a & M32, b & M32
        clamped = 0 if ua > 31 else ((1 << min(ub, 32)) - 1 << ua) & M32
        wrapped = ((1 << (ub & 31)) - 1 << (ua & 31)) & M32
        rows[0].append(s32(clamped << 1 ^ wrapped))
        rows[1].append(s32(field(a, min(ub, 32), True) * 3 + field(a, ub & 31, False)))
        rows[2].append(s32(nth_set(a, b >> 3 & 63, (b & 7) - 3) * 1000 + nth_set(b, 16, (b & 7) - 3)))
        t = field(a, 24, True) * field(b, 24, True) >> 16
        t = clamp((field(b, 24, True) ** 2 >> 16) + s32(t), -(1 << 31), (1 << 31) - 1)
        t = clamp((a * b >> 32) + t, -(1 << 31), (1 << 31) - 1)
        products = (half(a, 1, True) * half(b, 1, True) >> 16 & 65535) | (half(a, 1, False) * half(b, 1, False) >> 16) << 16
        rows[3].append(s32(t ^ products))
        # Sums and differences of 96 bits, then a product of 64.
        total = (ua << 64 | ub << 32 | ua) + (ub << 64 | ub << 32 | ub) & (1 << 96) - 1
        total = total - (7 << 64 | ub << 32 | ua) & (1 << 96) - 1
        product = ua * ub + (total & (1 << 64) - 1)
        rows[4].append(s32(total >> 64 ^ product & M32))
        rows[5].append(s32(product >> 32))
        v, w = np.float32(a), np.float32(b)
        most, least = max(v, w, np.float32(1)), min(abs(v), abs(w), np.float32(200))
        signed = max(abs(v), abs(w)) * (-1 if (v < 0) != (w < 0) else 1)
        rows[6].append(s32(int(np.float32(float(least) * float(most) + float(signed)).view(np.uint32))))
    return dict(x=x, y=y), dict(out=np.array(rows))
