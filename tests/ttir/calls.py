"""What the kernels of kernels.py are called with, and what NumPy says comes out.

CALLS names, for each TTIR file, the grid, the arguments, and what pointers hold afterwards: arrays, and `ulp` where the
order of a sum or the accuracy of a function is open. dump.py writes them as the comments that tests/harness/op_file.h reads.
"""

import dataclasses

import numpy as np

import library_calls


@dataclasses.dataclass
class Call:
    args: dict
    expect: dict
    grid: str = ""
    ulp: int = 0
    printed: str = ""


def _numbers(*shape, seed=1, low=-8, high=8, step=0.25):
    count = int(np.prod(shape))
    rng = np.random.default_rng(seed)
    return (rng.integers(int(low / step), int(high / step), count) * step).astype(np.float32).reshape(shape)


def _integers(count, low, high, seed=2):
    return np.random.default_rng(seed).integers(low, high, count).astype(np.int32)


def _matmul(ulp=0):
    m, n, k = 17, 19, 21
    a, b = _numbers(m, k), _numbers(k, n, seed=3)
    sizes = dict(m=m, n=n, k=k, sam=k, sak=1, sbk=n, sbn=1, scm=n, scn=1)
    return [Call(dict(a=a, b=b, **sizes), dict(c=a @ b), grid="2,2,1", ulp=ulp)]


def _report():
    return "".join(f"pid (0, 0, 0) idx () x and n: (operand {i}) {v}\\n" for i, v in enumerate((7, 3)))


def _prints():
    x, y, at = [0, -1, 2, 300, 5, 6, 7, 8], [1, 2, 3, -1], "pid (0, 0, 0) idx ({})"
    lines = [at.format(i) + f" 100% of: (operand 0) {x[i]}" for i in range(4)]
    lines += [at.format(i) + f" 100% of: (operand 1) {y[i] * 0.5:f}" for i in range(4)]
    lines += [at.format(i) + f" hex: 0x{x[i] & 65535:04x}" for i in range(4)]
    lines += [at.format(f"{i}, {j}") + f": {x[4 * i + j] & 255}" for i in range(2) for j in range(4)]
    return [Call(dict(x=x, y=y), dict(x=x), printed="\\n".join(lines + ["pid (0, 0, 0) done\\n"]))]


def _layer_norm():
    n, eps = 13, 1e-5
    x, w, b = _numbers(2, n), _numbers(n, seed=4), _numbers(n, seed=5)
    mean = x.astype(np.float64).mean(axis=1)
    rstd = 1 / np.sqrt(x.astype(np.float64).var(axis=1) + eps)
    y = (x - mean[:, None]) * rstd[:, None] * w + b
    return [
        Call(dict(x=x, w=w, b=b, n=n, eps=eps),
             dict(y=y.astype(np.float16), mean=mean.astype(np.float32), rstd=rstd.astype(np.float32)), grid="2,1,1", ulp=8)
    ]


def _softmax():
    x = _numbers(3, 11, low=-4, high=4)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return [Call(dict(x=x, stride=11, n=11), dict(out=(e / e.sum(axis=1, keepdims=True)).astype(np.float32)), grid="3,1,1", ulp=8)]


def _atomics():
    x = _integers(40, 0, 8)
    return [
        Call(dict(x=x, hist=np.zeros(8, np.int32), total=np.zeros(1, np.float32), largest=np.zeros(1, np.int32), old=np.zeros(3), n=40),
             dict(hist=np.bincount(x, minlength=8), total=np.float32([x.sum()]), largest=[x.max()]), grid="3,1,1")
    ]


def _collatz():
    def steps(n):
        count = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    x = [1, 2, 7, 27]
    return [Call(dict(x=x), dict(y=[steps(v) for v in x]), grid="4,1,1")]


def _shapes():
    v = np.float32([3, 1, 2, 5, 4, 7, 6, 0, 9, 8, 11, 10, 15, 13, 12, 14])
    y = v.reshape(8, 2)[:, ::-1].reshape(16)
    z = v.reshape(4, 4).T.reshape(16) + np.sort(v) + v[(np.arange(16) + 1) % 16]
    return [Call(dict(x=v), dict(y=y, z=z, h=np.bincount(v.astype(int), minlength=16)))]


def _c_div(a, b):
    return np.trunc(a / b).astype(np.int64)


def _integers_case():
    x = np.int64([7, -7, 100, -100, 2147480000, 5, -1, 0])
    y = np.int64([2, 3, -7, -9, 1234, 5, 1, 17])

    def low(v):
        return np.int64(v).astype(np.int32).astype(np.int64)

    u, w = x & 0xFFFFFFFF, y & 0xFFFFFFFF
    mulhi = [int(p) * int(q) >> 32 for p, q in zip(u, w)]
    r = _c_div(x, y) + (x - _c_div(x, y) * y)
    r = r + (low(x << 1) ^ (y >> 1) | (x & y))
    r = r + low(np.minimum(x, y) * np.maximum(x, y)) + np.abs(x)
    r = r + low(u // w) + low(u % w) + low(mulhi)
    r = r + np.where((x > y) & (u < w), 1000, 0)
    r = r + _c_div(low(x + 2), 3) + ~y
    r = r + low(x * y >> 3) + x.astype(np.int8)
    return [Call(dict(x=x, y=y), dict(out=low(r)))]


def _floats():
    import math
    v = np.float32([0.5, -0.75, 1.25, 2.5, -2.25, 0, 3, -1])
    d = v.astype(np.float64)
    bits = v.view(np.int32).astype(np.float64)
    r = np.exp(d) + np.exp2(d) + np.log(d + 3) + np.log2(d + 3) + np.sin(d) + np.cos(d)
    r += np.sqrt(d + 3) + 1 / np.sqrt(d + 3) + [math.erf(t) for t in d] + abs(d) + np.floor(d) + np.ceil(d)
    r += d * d + d + np.maximum(d, 0.5) + np.minimum(d, 0.5) + np.clip(d, -1, 1)
    r += np.sqrt(d + 3) + d / (d + 3) + 1 / (1 + np.exp(-d)) + np.trunc(d)
    r += 2 * d + bits * 1e-9
    return [Call(dict(x=v), dict(out=r.astype(np.float32)), ulp=64)]


def _dropout():
    """Philox 4x32-10, the first of four words, as the paper has it."""
    x, seed, p = _numbers(8), 123, 0.5
    out = []
    for i in range(8):
        c, k = [i, 0, 0, 0], [seed, 0]
        for _ in range(10):
            a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
            c = [(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFF]
            k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
        signed = c[0] - (1 << 32) if c[0] >> 31 else c[0]
        uniform = (-signed - 1 if signed < 0 else signed) * 4.6566127342e-10
        out.append(float(x[i]) / (1 - p) if uniform > p else 0.0)
    return [Call(dict(x=x, seed=seed, p=p), dict(y=np.float32(out)))]


def _nested():
    n, x = 5, np.int32([1, 2, 3, 4])
    acc = np.zeros(4, np.int64)
    for a in range(n):
        if a % 2 == 0:
            for b in range(a, n, 3):
                acc = acc + x * b
        else:
            acc = acc + acc
    return [Call(dict(x=x, y=np.zeros(4, np.int32), n=n), dict(y=acc))]


def _flash():
    n, d, scale = 32, 16, 0.25
    q, k, v = (_numbers(n, d, seed=s, low=-1, high=1) for s in (6, 7, 8))
    v = abs(v) + 0.25  # sums without cancellation
    s = np.where(np.tri(n, dtype=bool), q.astype(np.float64) @ k.T * scale, -np.inf)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    # The weights are rounded to f16, hence the distance.
    return [Call(dict(q=q, k=k, v=v, scale=scale, n=n), dict(o=(e / e.sum(axis=1, keepdims=True) @ v).astype(np.float32)), grid="2,1,1", ulp=16384)]


def _functions():
    def pick(x, least):
        return x if x > least else least * 2

    x, y, n = [9, 1, 4, 5], [100, 100, 100, 100], 2
    out = list(y)
    for i in range(4):
        v = pick(x[i], n)
        for w in (v, v - 1):
            out[i] += 0 if w > 6 else pick(w, 3)
    return [Call(dict(x=x, y=y, n=n), dict(y=out), grid="4,1,1")]


def _mapped():
    x, y = _numbers(8, low=-2, high=2), _numbers(8, seed=9, low=-2, high=2)
    c = (x + np.roll(y, -1)) * (np.arange(8) % 2 == 0) + x * np.roll(y, 1) * (np.arange(8) % 2)
    c[0::2], c[1::2] = x[0::2] + y[1::2], x[1::2] * y[0::2]
    d = np.where(x > 0, x, y * (np.exp(x.astype(np.float64)) - 1))
    return [Call(dict(x=x, y=y), dict(out=(c + d + 2 * x + 0.5).astype(np.float32)), ulp=64)]


def _e4m3(v):
    """The value of a byte of f8E4M3FN."""
    s, e, m = v >> 7, v >> 3 & 15, v & 7
    return (-1)**s * (m / 8 * 2.0**-6 if e == 0 else (1 + m / 8) * 2.0**(int(e) - 7))


def _dot_scaled():
    m, n, k = 16, 16, 64
    rng = np.random.default_rng(11)
    # Few powers of two, so that every sum is exact.
    a, b = rng.integers(0, 256, (m, k // 2)), rng.integers(48, 72, (k, n))
    b = np.where(rng.integers(0, 2, (k, n)) == 1, b | 0x80, b)
    sa, sb = rng.integers(126, 129, (m, k // 32)), rng.integers(126, 129, (n, k // 32))
    values = np.float64([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
    wide = np.stack([values[a & 15], values[a >> 4]], axis=2).reshape(m, k)
    fb = np.vectorize(_e4m3)(b)
    scaled = wide * np.repeat(2.0**(sa - 127), 32, axis=1)
    c = scaled @ (fb * np.repeat(2.0**(sb - 127), 32, axis=1).T)
    d = scaled @ fb + 1 + fb.T @ fb
    return [Call(dict(a=a, sa=sa, b=fb, sb=sb), dict(c=c.astype(np.float32), d=d.astype(np.float32)))]


def _rows():
    n, m = 7, 13
    x = np.arange(n * m).reshape(n, m) + 1
    y, count = np.zeros((n, m), np.int64), np.arange(n * m).reshape(n, m) - 9
    out, counted = y.copy(), count.copy()
    for i in range(8):
        row, to = i * 3 - 2, (i * 5) % 8
        line = [x[row, 3 + c] if 0 <= row < n and 3 + c < m else 0 for c in range(8)]
        for c in range(8):
            if to < n and 2 + c < m:
                out[to, 2 + c] = line[c]
    counted[n - 2:, m - 4:] += 5
    counted[:4, :8] = np.minimum(counted[:4, :8], -3)
    unsigned = counted[1:5, :8] & 0xFFFFFFFF
    largest = np.maximum(unsigned, 7)
    counted[1:5, :8] = np.where(largest >> 31, largest - (1 << 32), largest)
    return [Call(dict(x=x, y=y, count=count, n=n, m=m), dict(y=out, count=counted))]


def _assembly():
    x = np.float32([-3, -1, -0.5, 0, 0.25, 1, 2, 5])
    soft = np.where(x > 2, x, np.log2(1 + np.exp(x.astype(np.float64))))
    half = x.astype(np.float16)
    small = x.astype(np.int8).view(np.uint8).reshape(2, 4)
    word = np.stack([small[:, 3], small[:, 2], small[:, 0], np.zeros(2, np.uint8)], axis=1).copy().view(np.uint32) + np.uint32(1)
    word = (word >> 8 | word << 24).view(np.uint8)[:, [1, 0, 2, 3]].copy()
    return [Call(dict(x=x), dict(y=soft.astype(np.float32), z=x.view(np.int32) + (x == np.trunc(x)) ^ 12, h=half * half + half,
                                 w=word.view(np.int8).reshape(8)), ulp=8)]


def _mathematics():
    v = np.float32([-7.5, -2.5, -0.5, -1e-4, 1e-3, 0.5, 1.5, 6.25])
    w = np.float32([1e-5, 0.125, 1, 2, 3.5, 7, 20, 4])
    a, b = v.astype(np.float64), w.astype(np.float64)
    away = np.copysign(np.floor(abs(a) + 0.5), a)

    def toward(x, direction):
        """x as f32, rounded down (-1), up (1) or to zero (0)."""
        near = x.astype(np.float32)
        down = np.where(near > x, np.nextafter(near, np.float32(-np.inf)), near)
        up = np.where(near < x, np.nextafter(near, np.float32(np.inf)), near)
        return {-1: down, 1: up, 0: np.where(x < 0, up, down)}[direction].astype(np.float32)

    rounded = toward(a / b, 0) + toward(a * b + a, 1)
    lines = [
        np.expm1(a), np.log1p(b), 10**a, np.log10(b), np.arcsin(a / 8) + 4 * np.arccos(a / 8), np.arctan(a) + np.arctan2(a, b),
        np.arcsinh(a), np.arccosh((w + np.float32(1)).astype(np.float64)), np.arctanh(a / 16), np.hypot(a, b), np.cbrt(a),
        np.rint(a) + 64 * away + 4096 * np.trunc(a), np.copysign(b, a) + np.maximum(a - b, 0) + np.clip(a, 0, 1),
        rounded + toward(a + b, -1), 10**a + np.rint(a)
    ]
    n = (w * 3).astype(np.int32)
    lines.append(np.ldexp(a, n - 40) + a**(n % 4))
    with np.errstate(all="ignore"):
        huge = np.power(v, w * np.float32(100))
    k = np.isnan(huge) + 2 * np.isinf(huge) + 4 * np.isfinite(huge) + 8 * np.signbit(v) + 16 * np.rint(v)
    bits = v.view(np.int32).astype(np.int64)
    high = (n.astype(np.int64) - 9) * (n * np.int32(65536) * np.int32(4096)).astype(np.int64) >> 32
    k = k.astype(np.int64) + (bits - np.trunc(bits / 64).astype(np.int64) * 64) * 4096 + high * 65536
    return [Call(dict(x=v, y=w), dict(out=np.stack(lines).astype(np.float32), k=k.astype(np.int32)), ulp=16)]


def _views_meet():
    n, b = 8, 4
    x = np.arange(n * n, dtype=np.int64).reshape(n, n) % 11
    start, flat = x.copy(), x.reshape(-1)
    square = (slice(0, b), slice(0, b))

    def descriptor(move, i, j, tile=None):
        """A tile at i, j of the memory from `move` on; stored if given. The last column of the moved one lies outside."""
        out = np.zeros((b, b), np.int64)
        for r in range(b):
            for c in range(b):
                if i + r < n and j + c < n - move:
                    at = move + (i + r) * n + j + c
                    out[r, c] = flat[at]
                    if tile is not None:
                        flat[at] = tile[r, c]
        return out

    for k in range(3):
        x[square] += k
        descriptor(1, 1, 0, x[square].copy())
        descriptor(0, k, k, x[1:1 + b, :b] + x[square])
    return [Call(dict(x=start, n=n), dict(x=x, y=x[1:1 + b, 1:1 + b]))]


def _tiles_overlap():
    n, b = 4, 4
    x = np.arange(16, dtype=np.int64) * 3 % 7
    start = x.copy()
    for k in range(n):
        v = x[k:k + b].copy()
        x[k + 1:k + 1 + b] = v
        w = x[b + 3 - np.arange(b)]
        if k % 2 == 0:
            x[2:2 + b] = w + v
    x[:b] = x[1:1 + b] * 2
    return [Call(dict(x=start, n=n), dict(x=x))]


def _pointers_meet():
    calls = []
    for n, move in ((3, 1), (1, 0)):
        x = np.zeros(8, np.int32)
        i = np.arange(4)
        x[:4] = i + 1
        x.view(np.int16)[2 * i + 1] = x[:4] % 2
        x[move:move + 4] = x[:4] + x[1:5]
        x[:4] += x[move:move + 4].copy()
        y = x[:4] - x.view(np.int16)[2 * i]
        calls.append(Call(dict(x=np.zeros(8, np.int32), n=n), dict(x=x, y=y)))
    return calls


_X = _numbers(32)
_S = np.int32([1, 2, 3, -1, 2, 1, 1, 5])
_T = _numbers(5, 6)
_A = np.float32([[1, 5, 2, 5, 0, 0, 0, 0], [9, 1, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0, 0, 3], [-1, -2, -1, -3, -4, -5, -6, -7]])
_I8 = _integers(2048, -128, 128).reshape(2, 32, 32)
_F = np.float32([0, 1, -1, 0.3, 448, 449, 1000, -1e6, 0.001, 1.0625, 17, 18, 19, 240, 3.3, -0.1])
_F4 = np.float32([0, 1, -1, 0.3125, 448, 448, 448, -448, 0.001953125, 1, 16, 18, 20, 240, 3.25, -0.1015625])
_F5 = np.float32([0, 1, -1, 0.3125, 448, 448, 1024, -57344, 0.0009765625, 1, 16, 16, 20, 256, 3.5, -0.09375])

CALLS = {
    "add": [Call(dict(x=_X[:30], y=_X[1:31], n=30), dict(z=_X[:30] + _X[1:31]))],
    "softmax": _softmax(),
    "matmul": _matmul(),
    "matmul_tf32": _matmul(),
    "matmul_i8": [Call(dict(a=_I8[0], b=_I8[1]), dict(c=_I8[0] @ _I8[1]))],
    "layer_norm": _layer_norm(),
    "atomics": _atomics(),
    "lock_add": [Call(dict(lock=[0], x=[1.5], n=0.25), dict(x=[2.5], lock=[0]), grid="4,1,1")],
    "scan": [Call(dict(x=_S), dict(y=_S[::-1].cumsum()[::-1], z=_S.cumprod()))],
    "collatz": _collatz(),
    "early_return": [Call(dict(x=[3, -4, 5, -6], n=3), dict(x=[6, 4, 10, -6]), grid="4,1,1")],
    "block_ptr": [Call(dict(x=_T[:3], m=3, n=6), dict(y=_T[:3] + 1))],
    "descriptor": [Call(dict(x=_T, m=5, n=6), dict(y=_T.T), grid="2,2,1")],
    "fp8": [Call(dict(x=_F), dict(y=_F4, z=_F5))],
    "shapes": _shapes(),
    "largest": [Call(dict(x=_A), dict(y=np.take_along_axis(_A, np.abs(_A).argmax(axis=1)[:, None], 1)[:, 0]))],
    "argmax": [Call(dict(x=_A), dict(y=_A.argmax(axis=1), best=_A.max(axis=1)))],
    "integers": _integers_case(),
    "floats": _floats(),
    "libdevice": [
        Call(dict(x=_X[:8] / 8), dict(out=(np.tanh(_X[:8] / 8.0) + np.power(_X[:8] / 8.0 + 3, _X[:8] / 8.0)).astype(np.float32)), ulp=8)
    ],
    "library_bits": [Call(*library_calls.bits())],
    "library_conversions": [Call(*library_calls.conversions())],
    "library_special": [Call(*library_calls.special(), ulp=32)],
    "converted": [Call(*library_calls.converted())],
    "whole_numbers": [Call(*library_calls.whole_numbers())],
    "instructions": [Call(*library_calls.instructions())],
    "video": [Call(*library_calls.video())],
    "bit_fields": [Call(*library_calls.bit_fields())],
    "report": [Call(dict(x=[7], n=3), dict(x=[7]), printed=_report())],
    "prints": _prints(),
    "dropout": _dropout(),
    "nested": _nested(),
    "functions": _functions(),
    "mapped": _mapped(),
    "guards": [Call(dict(x=[3, -4, 5, -6], n=3, skip=5), dict(x=[4, -3, 5, -6]), grid="4,1,1")],
    "dot_scaled": _dot_scaled(),
    "rows": _rows(),
    "one_element": [
        Call(dict(lock=[5], x=[-1.5, 2.25, float("inf"), -float("inf")]),
             dict(lock=[6], y=[-3.75, 1.5, 2, 57344, 57344, -1.5, 2.25, 448, -448]))
    ],
    "table": [Call(dict(x=[1 << 40, 2 << 40, 4096, 12]), dict(x=[(1 << 40) + 4, (2 << 40) + 4, 4100, 4], out=[1 << 40, 2 << 40, 4096, 0]))],
    "assembly": _assembly(),
    "mathematics": _mathematics(),
    "flags": [Call(dict(x=np.zeros(4, int), y=np.zeros(6, int)), dict(x=[1, 2, 3, 4], y=[41, 42, 1, 2, 3, 4]), grid="2,1,1")],
    "overlap": [Call(dict(x=[7]), dict(y=[7]))],
    "views_meet": _views_meet(),
    "tiles_overlap": _tiles_overlap(),
    "pointers_meet": _pointers_meet(),
    "flash": _flash(),
}
