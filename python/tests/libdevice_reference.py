"""What each function of CUDA's device library gives: exact values, from mpmath and from Python's integers, and the error that NVIDIA
documents, in units in the last place.

    reference("__nv_expm1f")(0.5), bound("__nv_expm1f")
"""
import math

import mpmath
from mpmath import mp, mpf

INF, NAN = math.inf, math.nan

# --- functions of reals: exact, where all operands are finite; at infinities and NaN; error in f32, in f64


def _inverse_erfc(y):
    if y == 0 or y == 2:
        return INF if y == 0 else -INF
    if not 0 < y < 2:
        return NAN
    if y > 1:
        return -_inverse_erfc(2 - y)
    x = mpmath.sqrt(-mpmath.log(y)) if y < 0.1 else mpmath.erfinv(1 - y)
    for _ in range(60):
        step = (mpmath.log(mpmath.erfc(x)) - mpmath.log(y)) * mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(x * x) * mpmath.erfc(x)
        x += step
        if abs(step) <= abs(x) * mpf(2) ** -150:
            break
    return x


def _erfcx(x):
    if x > 1e6:
        return (1 - 1 / (2 * x * x)) / (x * mpmath.sqrt(mpmath.pi))
    if x < -200:
        return INF
    with mp.workprec(2000 if x > 10 else 400):
        return mpmath.exp(x * x) * mpmath.erfc(x)


def _gamma(x):
    if x == 0:
        return INF  # or -INF, by the sign of zero
    if x == mpmath.floor(x) and x < 0:
        return NAN
    return INF if x > 200 else mpf(0) if x < -300 else mpmath.gamma(x)


def _lgamma(x):
    if x <= 0 and x == mpmath.floor(x):
        return INF
    return mpmath.loggamma(x).real if x > 0 else mpmath.log(abs(mpmath.pi / mpmath.sinpi(x))) - mpmath.loggamma(1 - x)


def _within(low, high, f):
    """NaN outside of the domain."""
    return lambda x: f(x) if low <= x <= high else NAN


def _positive(f, at_zero=-INF):
    return lambda x: f(x) if x > 0 else at_zero if x == 0 else NAN


def _pow(x, y):
    if x == 0:
        return INF if y < 0 else mpf(1) if y == 0 else mpf(0)
    if x < 0 and y != mpmath.floor(y):
        return NAN
    if abs(y * mpmath.log(abs(x))) > 2000:
        return (INF if y * mpmath.log(abs(x)) > 0 else mpf(0)) * (-1 if x < 0 and y % 2 == 1 else 1)
    return x ** int(y) if x < 0 else x ** y


def _exp(base):
    return lambda x: INF if x > 2000 else mpf(0) if x < -2000 else base(x)


def _hyperbolic(f, at_inf):
    return lambda x: f(x) if abs(x) < 2000 else mpf(at_inf) * (1 if x > 0 else f(mpf(-1)) / f(mpf(1)))


def _root_of_squares(*x):
    return mpmath.sqrt(sum(v * v for v in x))


def _reciprocal(f):
    return lambda *x: INF if f(*x) == 0 else 1 / f(*x)


def _bessel(f, order, at_zero):
    return lambda x: at_zero if x == 0 else (f(order, x) if abs(x) < 1e6 else None)


def _cbrt(x):
    return mpmath.cbrt(abs(x)) * (-1 if x < 0 else 1)


def _huge(f, limit=1e6):
    """Not computed for arguments beyond: they would need their own precision."""
    return lambda x: f(x) if abs(x) < limit else None


def _remainder(x, y):
    if y == 0:
        return NAN
    n = mpmath.nint(x / y)  # to even
    return x - n * y


REALS = {  # exact, {operand at infinity or NaN: result}, bounds
    "acos": (_within(-1, 1, mpmath.acos), {INF: NAN, -INF: NAN}, 2, 2),
    "acosh": (_within(1, INF, mpmath.acosh), {INF: INF, -INF: NAN}, 4, 3),
    "asin": (_within(-1, 1, mpmath.asin), {INF: NAN, -INF: NAN}, 2, 2),
    "asinh": (mpmath.asinh, {INF: INF, -INF: -INF}, 3, 3),
    "atan": (mpmath.atan, {INF: math.pi / 2, -INF: -math.pi / 2}, 2, 2),
    "atanh": (lambda x: NAN if abs(x) > 1 else INF * mpmath.sign(x) if abs(x) == 1 else mpmath.atanh(x), {INF: NAN, -INF: NAN}, 3, 2),
    "cbrt": (_cbrt, {INF: INF, -INF: -INF}, 1, 1),
    "cos": (_huge(mpmath.cos), {INF: NAN, -INF: NAN}, 2, 2),
    "cosh": (_hyperbolic(mpmath.cosh, INF), {INF: INF, -INF: INF}, 2, 1),
    "cospi": (_huge(mpmath.cospi), {INF: NAN, -INF: NAN}, 1, 2),
    "cyl_bessel_i0": (lambda x: mpmath.besseli(0, x) if abs(x) < 2000 else INF, {INF: INF, -INF: INF}, 6, 6),
    "cyl_bessel_i1": (lambda x: mpmath.besseli(1, x) if abs(x) < 2000 else INF * mpmath.sign(x), {INF: INF, -INF: -INF}, 6, 6),
    "erf": (mpmath.erf, {INF: 1, -INF: -1}, 2, 2),
    "erfc": (lambda x: mpmath.erfc(x) if x < 1000 else mpf(0), {INF: 0, -INF: 2}, 4, 5),
    "erfcinv": (_inverse_erfc, {INF: NAN, -INF: NAN}, 4, 6),
    "erfcx": (_erfcx, {INF: 0, -INF: INF}, 4, 4),
    "erfinv": (lambda x: NAN if abs(x) > 1 else INF * mpmath.sign(x) if abs(x) == 1 else mpmath.erfinv(x) if abs(x) < 0.9
               else mpmath.sign(x) * _inverse_erfc(1 - abs(x)), {INF: NAN, -INF: NAN}, 2, 5),
    "exp": (_exp(mpmath.exp), {INF: INF, -INF: 0}, 2, 1),
    "exp10": (_exp(lambda x: mpf(10) ** x), {INF: INF, -INF: 0}, 2, 1),
    "exp2": (_exp(lambda x: mpf(2) ** x), {INF: INF, -INF: 0}, 2, 1),
    "expm1": (lambda x: INF if x > 2000 else mpmath.expm1(x), {INF: INF, -INF: -1}, 2, 2),  # NVIDIA: 1, 1
    "j0": (_bessel(mpmath.besselj, 0, mpf(1)), {INF: 0, -INF: 0}, 9, 7),
    "j1": (_bessel(mpmath.besselj, 1, mpf(0)), {INF: 0, -INF: 0}, 9, 7),
    "lgamma": (_lgamma, {INF: INF, -INF: INF}, 6, 4),
    "log": (_positive(mpmath.log), {INF: INF, -INF: NAN}, 1, 1),
    "log10": (_positive(mpmath.log10), {INF: INF, -INF: NAN}, 2, 1),
    "log1p": (lambda x: mpmath.log1p(x) if x > -1 else -INF if x == -1 else NAN, {INF: INF, -INF: NAN}, 2, 2),  # NVIDIA: 1, 1
    "log2": (_positive(lambda x: mpmath.log(x, 2)), {INF: INF, -INF: NAN}, 1, 1),
    "normcdf": (lambda x: mpf(0) if x < -1000 else mpmath.erfc(-x / mpmath.sqrt(2)) / 2, {INF: 1, -INF: 0}, 5, 5),
    "normcdfinv": (lambda x: -mpmath.sqrt(2) * _inverse_erfc(2 * x), {INF: NAN, -INF: NAN}, 5, 8),
    "rcbrt": (lambda x: INF if x == 0 else 1 / _cbrt(x), {INF: 0, -INF: 0}, 1, 1),
    "rsqrt": (_positive(lambda x: 1 / mpmath.sqrt(x), INF), {INF: 0, -INF: NAN}, 2, 2),  # NVIDIA: 2, 1
    "sin": (_huge(mpmath.sin), {INF: NAN, -INF: NAN}, 2, 2),
    "sinh": (_hyperbolic(mpmath.sinh, INF), {INF: INF, -INF: -INF}, 3, 2),
    "sinpi": (_huge(mpmath.sinpi), {INF: NAN, -INF: NAN}, 1, 2),
    "sqrt": (_positive(mpmath.sqrt, mpf(0)), {INF: INF, -INF: NAN}, 0, 0),
    "tan": (_huge(mpmath.tan), {INF: NAN, -INF: NAN}, 4, 2),
    "tanh": (_hyperbolic(mpmath.tanh, 1), {INF: 1, -INF: -1}, 2, 2),
    "tgamma": (_gamma, {INF: INF, -INF: NAN}, 5, 10),
    "y0": (_positive(_bessel(mpmath.bessely, 0, -INF)), {INF: 0, -INF: NAN}, 9, 7),
    "y1": (_positive(_bessel(mpmath.bessely, 1, -INF)), {INF: 0, -INF: NAN}, 9, 7),
    # Of several operands, which are finite.
    "atan2": (lambda y, x: mpmath.atan2(y, x), None, 3, 2),
    "fdim": (lambda x, y: x - y if x > y else mpf(0), None, 0, 0),
    "fma": (lambda x, y, z: x * y + z, None, 0, 0),
    "fmod": (lambda x, y: NAN if y == 0 else mpmath.sign(x) * mpmath.fmod(abs(x), abs(y)), None, 0, 0),
    "hypot": (_root_of_squares, None, 3, 2),
    "norm3d": (_root_of_squares, None, 3, 2),
    "norm4d": (_root_of_squares, None, 3, 2),
    "pow": (_pow, None, 4, 2),
    "remainder": (_remainder, None, 0, 0),
    "rhypot": (_reciprocal(_root_of_squares), None, 2, 1),
    "rnorm3d": (_reciprocal(_root_of_squares), None, 2, 1),
    "rnorm4d": (_reciprocal(_root_of_squares), None, 2, 1),
}
# The fast ones promise less than ours give.
for _name in ("cos", "log", "log10", "log2", "sin", "tan", "tanh"):
    REALS["fast_" + _name] = (*REALS[_name][:2], 4, 4)
# 2 + 1.173 |x| in CUDA, up to 104: the exponent is rounded.
for _name in ("exp", "exp10"):
    REALS["fast_" + _name] = (*REALS[_name][:2], 124, 124)
# CUDA states no bound for this one; the error of the logarithm grows with the power, of numbers that are finite up to 2^150.
REALS["fast_pow"] = (lambda x, y: NAN if x < 0 or x == y == 0 else _pow(x, y), None, 160, 160)
REALS["fast_fdivide"] = (lambda x, y: (NAN if x == 0 else INF * mpmath.sign(x)) if y == 0 else mpf(0) if abs(y) > 2**126 else x / y, None, 2, 2)
# Subnormal numbers are zero for these.
FLUSHED = {"fast_exp", "fast_exp10", "fast_fdivide", "fast_pow"}

# Where results cross zero, errors count in the last place of this size: NVIDIA states an absolute error there.
SIZES = {"lgamma": lambda x: 1 if x < 0 else 0}
for _name in ("j0", "j1", "y0", "y1"):
    SIZES[_name] = lambda x: math.sqrt(2 / (math.pi * abs(x))) if abs(x) > 8 else 0

# --- whole numbers

_WIDTHS = {"int": 32, "uint": 32, "ll": 64, "ull": 64}


def _signed(n, bits):
    n &= (1 << bits) - 1
    return n - (1 << bits) if n >> (bits - 1) else n


def _unsigned(n, bits):
    return n & ((1 << bits) - 1)


def _low24(n, signed):
    return _signed(n, 24) if signed else n & 0xFFFFFF


def _byte_perm(x, y, selector):
    data = _unsigned(x, 32) | _unsigned(y, 32) << 32
    return sum((data >> 8 * (selector >> 4 * k & 7) & 255) << 8 * k for k in range(4))


def _reverse(n, bits):
    return int(f"{_unsigned(n, bits):0{bits}b}"[::-1], 2)


INTEGERS = {  # of signed operands: the result, of which the low bits count
    "abs": abs, "llabs": abs,
    "clz": lambda x: 32 - _unsigned(x, 32).bit_length(), "clzll": lambda x: 64 - _unsigned(x, 64).bit_length(),
    "popc": lambda x: bin(_unsigned(x, 32)).count("1"), "popcll": lambda x: bin(_unsigned(x, 64)).count("1"),
    "ffs": lambda x: (x & -x).bit_length(), "ffsll": lambda x: (x & -x).bit_length(),
    "brev": lambda x: _reverse(x, 32), "brevll": lambda x: _reverse(x, 64),
    "byte_perm": _byte_perm,
    "mulhi": lambda x, y: x * y >> 32, "mul64hi": lambda x, y: x * y >> 64,
    "umulhi": lambda x, y: _unsigned(x, 32) * _unsigned(y, 32) >> 32,
    "umul64hi": lambda x, y: _unsigned(x, 64) * _unsigned(y, 64) >> 64,
    "mul24": lambda x, y: _low24(x, True) * _low24(y, True), "umul24": lambda x, y: _low24(x, False) * _low24(y, False),
    "sad": lambda x, y, z: abs(x - y) + z, "usad": lambda x, y, z: abs(_unsigned(x, 32) - _unsigned(y, 32)) + z,
    "hadd": lambda x, y: x + y >> 1, "uhadd": lambda x, y: _unsigned(x, 32) + _unsigned(y, 32) >> 1,
    "rhadd": lambda x, y: x + y + 1 >> 1, "urhadd": lambda x, y: _unsigned(x, 32) + _unsigned(y, 32) + 1 >> 1,
}


def convert_to_integer(x, target, whole, is_double):
    """cvt: out of range the nearest integer; NaN is 0 from f32 to 32 bits, otherwise the highest bit alone."""
    bits = _WIDTHS[target]
    if math.isnan(x):
        return 0 if bits == 32 and not is_double else _signed(1 << (bits - 1), bits)
    low, high = (0, (1 << bits) - 1) if target.startswith("u") else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    n = low if x == -INF else high if x == INF else max(low, min(high, whole(mpf(x))))
    return _signed(int(n), bits)


def half_away(x):
    return int(mpmath.floor(abs(x) + mpf(1) / 2)) * (-1 if x < 0 else 1)


WHOLE = {"rn": lambda x: int(mpmath.nint(x)), "rz": lambda x: int(x), "rd": lambda x: int(mpmath.floor(x)),
         "ru": lambda x: int(mpmath.ceil(x))}
