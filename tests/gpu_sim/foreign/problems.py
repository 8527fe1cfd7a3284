"""What the foreign programs compute: inputs, and the results by NumPy.

    problem = make(json["problem"], random)
    problem.arguments     # arrays (NumPy) and scalars in the order of the kernel's parameters
    problem.output        # which of them is the result
    problem.expected      # float64
    problem.tolerance     # the largest error, relative to the largest expected value

Operands of products are small numbers whose sums are exact in f32, so that the order of additions does not matter.
"""

import dataclasses

import numpy

E2M1 = numpy.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], numpy.float32)


@dataclasses.dataclass
class Problem:
    arguments: list
    output: int
    expected: numpy.ndarray
    tolerance: float
    decode: object  # from the array's bits to values


def small_float_table(exponent_bits, mantissa_bits, has_infinity):
    """The values of an 8-bit format."""
    bias = 2 ** (exponent_bits - 1) - 1
    table = numpy.zeros(256, numpy.float32)
    for code in range(256):
        exponent, mantissa = code >> mantissa_bits & 2**exponent_bits - 1, code & 2**mantissa_bits - 1
        value = (mantissa if exponent == 0 else mantissa + 2**mantissa_bits) * 2.0 ** (max(exponent, 1) - bias - mantissa_bits)
        if has_infinity and exponent == 2**exponent_bits - 1:
            value = numpy.nan if mantissa else numpy.inf
        if not has_infinity and code & 127 == 127:
            value = numpy.nan
        table[code] = -value if code & 128 else value
    return table


E4M3, E5M2 = small_float_table(4, 3, False), small_float_table(5, 2, True)


def to_bf16(values):
    bits = values.astype(numpy.float32).view(numpy.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def from_bf16(codes):
    return (codes.astype(numpy.uint32) << 16).view(numpy.float32)


def identity(values):
    return values


def codes_of(table, values):
    """Of values that the table has."""
    order = numpy.argsort(table[:128])
    found = order[numpy.searchsorted(table[:128], numpy.abs(values), sorter=order)]
    return (found | numpy.where(values < 0, 128, 0)).astype(numpy.uint8)


# name: (to the array's elements, back, an array's dtype, the error of rounding once)
FORMATS = {
    "f32": (lambda v: v.astype(numpy.float32), identity, numpy.float32, 0.0),
    "f16": (lambda v: v.astype(numpy.float16), lambda c: c.astype(numpy.float32), numpy.float16, 2.0**-10),
    "bf16": (to_bf16, from_bf16, numpy.uint16, 2.0**-7),
    "e4m3": (lambda v: codes_of(E4M3, v), lambda c: E4M3[c], numpy.uint8, 2.0**-3),
    "e5m2": (lambda v: codes_of(E5M2, v), lambda c: E5M2[c], numpy.uint8, 2.0**-2),
    "i8": (lambda v: v.astype(numpy.int8), identity, numpy.int8, 0.0),
    "i32": (lambda v: v.astype(numpy.int32), identity, numpy.int32, 0.0),
}


def small_values(random, shape, name):
    if name == "i8":
        return random.integers(-128, 128, shape).astype(numpy.float64)
    return random.integers(-4, 5, shape).astype(numpy.float64) / (1 if name in ("e5m2",) else 4) * (0.25 if name == "e5m2" else 1)


def matmul(p, random):
    """C = factor · A · B + plus; A is M × K or transposed, B is N × K if transposed, else K × N."""
    m, n, k = p["m"], p["n"], p["k"]
    encode = FORMATS[p["operand"]][0]
    a, b = small_values(random, (m, k), p["operand"]), small_values(random, (n, k), p["operand"])
    encode_out, decode, dtype, error = FORMATS[p["out"]]
    out = numpy.full((m, n), 7, dtype)
    expected = p.get("factor", 1) * (a @ b.T) + p.get("plus", 0)
    arguments = [encode(a.T if p.get("a_transposed") else a), encode(b if p.get("b_transposed", True) else b.T), out, m, n, k]
    if p.get("factor") == 4:  # A + A, and twice the product
        expected = 2 * ((2 * a) @ b.T) + p.get("plus", 0)
    return Problem(arguments, 2, expected, error, decode)


def attention(p, random):
    n, d = p["n"], p["d"]
    encode, decode, dtype, error = FORMATS[p["operand"]]
    q, k, v = (random.normal(size=(n, d)).astype(numpy.float32) for _ in range(3))
    codes = [encode(x) for x in (q, k, v)]
    q, k, v = (decode(c).astype(numpy.float64) for c in codes)
    scale = float(numpy.float32(1.4427 / d**0.5))
    s = q @ k.T * scale
    if p["causal"]:
        s = numpy.where(numpy.tri(n, dtype=bool), s, -numpy.inf)
    weights = 2.0 ** (s - s.max(1, keepdims=True))
    expected = weights @ v / weights.sum(1, keepdims=True)
    return Problem([*codes, numpy.zeros((n, d), dtype), n, scale], 3, expected, 4 * error, decode)


def in_blocks_of_128(scales):
    """Rows × scales in the order of cuBLAS: blocks of 128 rows and four scales, byte 16 (row mod 32) + 4 (row div 32) + scale."""
    rows, count = scales.shape
    return numpy.ascontiguousarray(scales.reshape(rows // 128, 4, 32, count // 4, 4).transpose(0, 3, 2, 1, 4))


def scaled(p, random):
    m, n, k, block = p["m"], p["n"], p["k"], p["block"]
    arguments, values = [], []
    for rows in (m, n):
        if p["operand"] == "e2m1":
            codes = random.integers(0, 16, (rows, k)).astype(numpy.uint8)
            v = E2M1[codes].astype(numpy.float64)
            codes = codes[:, ::2] | codes[:, 1::2] << 4
        else:
            v = small_values(random, (rows, k), p["operand"])
            codes = FORMATS[p["operand"]][0](v)
        if p["scale"] == "ue8m0":
            s = random.integers(125, 130, (rows, k // block)).astype(numpy.uint8)
            factors = 2.0 ** (s.astype(numpy.float64) - 127)
        else:
            s = random.integers(0x30, 0x40, (rows, k // block)).astype(numpy.uint8)
            factors = E4M3[s].astype(numpy.float64)
        arguments += [numpy.ascontiguousarray(codes), s if p["in_rows"] else in_blocks_of_128(s)]
        values.append(v * numpy.repeat(factors, block, 1))
    _, decode, dtype, error = FORMATS[p["out"]]
    return Problem([*arguments, numpy.zeros((m, n), dtype), m, n, k], 4, values[0] @ values[1].T, error, decode)


def softmax(p, random):
    rows, n = p["rows"], p["n"]
    x = to_bf16(random.normal(size=(rows, n)))
    e = numpy.exp(from_bf16(x).astype(numpy.float64))
    return Problem([x, numpy.zeros((rows, n), numpy.float32), n], 1, e / e.sum(1, keepdims=True), 1e-5, identity)


KINDS = {"matmul": matmul, "attention": attention, "scaled": scaled, "softmax": softmax}


def make(problem, random):
    return KINDS[problem["name"]](problem, random)


def error_of(problem, values):
    """The largest error, relative to the largest expected value; NaN counts as infinite."""
    got = problem.decode(values).astype(numpy.float64)
    error = numpy.abs(got - problem.expected).max() / max(numpy.abs(problem.expected).max(), 1e-30)
    return numpy.inf if numpy.isnan(error) else float(error)
