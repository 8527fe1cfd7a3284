"""Every function of Triton's libdevice: on the VM, against exact values, within the error that NVIDIA documents. Triton's own table says which
functions there are, so that one which is new, or refused, is seen."""
import ast
import importlib.util
import math
import pathlib

import numpy as np
import pytest
import tilevm
from conftest import is_installed

needs_triton = pytest.mark.skipif(not is_installed("triton") or not is_installed("mpmath"), reason="triton or mpmath is not installed")

NUMPY = {"fp32": np.float32, "fp64": np.float64, "int32": np.int32, "uint32": np.int32, "int64": np.int64, "uint64": np.int64}
TTIR = {"fp32": "f32", "fp64": "f64", "int32": "i32", "uint32": "i32", "int64": "i64", "uint64": "i64"}
ROUNDINGS = ("rn", "rz", "rd", "ru")
N = 128


def functions():
    """[(symbol, types of operands, type of the result)] of the installed Triton."""
    if not is_installed("triton"):
        return []
    folder = pathlib.Path(importlib.util.find_spec("triton").origin).parent
    found = []
    for table in ast.walk(ast.parse((folder / "language/extra/cuda/libdevice.py").read_text())):
        if not isinstance(table, ast.Dict):
            continue
        for key, value in zip(table.keys, table.values):
            names = [ast.unparse(t).split("'")[1] for t in key.elts]
            found.append((value.elts[0].value, names, ast.unparse(value.elts[1]).split("'")[1]))
    return found


def kernel(symbol, operands, result):
    """TTIR that stores the function of elements."""
    tile = {name: f"tensor<{N}x{TTIR[name]}>" for name in [*operands, result]}
    text = f"  tt.func public @k{symbol}("
    text += ", ".join(f"%p{i}: !tt.ptr<{TTIR[t]}>" for i, t in enumerate([*operands, result])) + ") {\n"
    text += f"    %at = tt.make_range {{end = {N} : i32, start = 0 : i32}} : tensor<{N}xi32>\n"
    for i, t in enumerate([*operands, result]):
        pointers = f"tensor<{N}x!tt.ptr<{TTIR[t]}>>"
        text += f"    %s{i} = tt.splat %p{i} : !tt.ptr<{TTIR[t]}> -> {pointers}\n"
        text += f"    %a{i} = tt.addptr %s{i}, %at : {pointers}, tensor<{N}xi32>\n"
        if i < len(operands):
            text += f"    %x{i} = tt.load %a{i} : {pointers}\n"
    args = ", ".join(f"%x{i}" for i in range(len(operands)))
    text += f"    %r = tt.extern_elementwise {args} {{libname = \"\", libpath = \"\", pure = true, symbol = \"{symbol}\"}} : "
    text += f"({', '.join(tile[t] for t in operands)}) -> {tile[result]}\n"
    text += f"    tt.store %a{len(operands)}, %r : tensor<{N}x!tt.ptr<{TTIR[result]}>>\n    tt.return\n  }}\n"
    return text


def operands_of(symbol, types):
    """Edge values and random ones, each operand in another order."""
    random = np.random.default_rng(len(symbol) + 31 * len(types))
    arrays = []
    for i, t in enumerate(types):
        if NUMPY[t] in (np.float32, np.float64):
            edges = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, math.inf, -math.inf, math.nan, 1e-40, -1e-45, 3e38, -7, 127, 2.0**31,
                     -(2.0**31) - 1, 2.0**32, 2.0**63, -(2.0**63), 2.0**64, 1e-310, 1e308, 88.7, -103, 0.96875, 1e-8]
            values = np.concatenate([edges, random.uniform(-1, 1, 30), random.uniform(-30, 30, 30), random.uniform(0, 1, 15),
                                     np.ldexp(random.uniform(-2, 2, N), random.integers(-120, 120, N))])[:N]
        else:
            info = np.iinfo(NUMPY[t])
            some = [0, 1, -1, 2, info.max, info.min, 255, 256, 65535, 31, 33]
            values = np.concatenate([np.array(some, NUMPY[t]), random.integers(-300, 300, 50), random.integers(info.min, info.max, N)])[:N]
            if symbol in ("__nv_jn", "__nv_jnf", "__nv_yn", "__nv_ynf"):
                values = random.integers(-1, 30, N)
        with np.errstate(all="ignore"):
            arrays.append(np.roll(values.astype(NUMPY[t]), 17 * i))
    return arrays


def rounded(exact, dtype, rounding):
    """An exact number in a format, in a direction."""
    import mpmath

    with mpmath.mp.workprec(6500):
        return _rounded(exact, dtype, rounding, mpmath)


def _rounded(exact, dtype, rounding, mpmath):

    bits, least, most = (24, -149, 128) if dtype == np.float32 else (53, -1074, 1024)
    if not mpmath.isfinite(exact) or exact == 0:
        return float(exact)
    exponent = max(mpmath.frexp(exact)[1] - bits, least)
    scaled = exact * mpmath.mpf(2) ** -exponent
    whole = {"rn": mpmath.nint, "rz": lambda v: mpmath.mpf(int(v)), "rd": mpmath.floor, "ru": mpmath.ceil}[rounding](scaled)
    if abs(whole) * mpmath.mpf(2) ** exponent >= mpmath.mpf(2) ** most:
        largest = float(np.finfo(dtype).max)
        away = rounding == "rn" or (rounding == "ru") == (exact > 0) and rounding != "rz"
        return math.copysign(math.inf if away else largest, float(mpmath.sign(exact)))
    return math.copysign(math.ldexp(int(abs(whole)), exponent), float(mpmath.sign(exact)))


def error(got, exact, dtype, size):
    """In units in the last place of the exact value, or of `size` if that is more."""
    import mpmath

    if not mpmath.isfinite(exact):
        return 0 if (math.isnan(got) if mpmath.isnan(exact) else got == float(exact)) else math.inf
    if not math.isfinite(got):
        return 0 if abs(exact) >= float(np.finfo(dtype).max) * (1 + float(np.finfo(dtype).eps) / 8) else math.inf
    bits, least = (24, -149) if dtype == np.float32 else (53, -1074)
    magnitude = max(abs(exact), mpmath.mpf(size))
    last = max(mpmath.frexp(magnitude)[1] - bits, least) if magnitude else least
    return float(abs(mpmath.mpf(got) - exact) * mpmath.mpf(2) ** -last)


def split(symbol, reference):
    """Name and directions: ("add", "rd")."""
    name = symbol[len("__nv_"):]
    for rounding in ROUNDINGS:
        if name.endswith("_" + rounding):
            return name[:-3], rounding
    return name, ""


def real_name(name, dtype, reference):
    if dtype == np.float32 and name.endswith("f") and name[:-1] in reference.REALS:
        return name[:-1]
    return name if name in reference.REALS else ""


def check(symbol, types, result, arrays, got):
    """Compares all elements; returns what is wrong."""
    import libdevice_reference as reference
    from mpmath import mp, mpf

    mp.prec = 300
    name, rounding = split(symbol, reference)
    dtype = NUMPY[result]
    expected = expected_of(name, rounding, types, dtype, reference)
    wrong = []
    for row in zip(*[a.tolist() for a in arrays], got.tolist()):
        operands, g = row[:-1], row[-1]
        want = expected(*operands)
        if want is None:
            continue
        exact, bound, size = want
        if isinstance(exact, int):
            bad = g != exact
        elif bound == 0:
            nearest = rounded(exact if isinstance(exact, mpf) else mpf(exact), dtype, rounding or "rn")
            bad = not (g == nearest or math.isnan(g) and math.isnan(nearest))
        else:
            bad = error(g, mpf(exact), dtype, size) > bound
        if bad:
            wrong.append(f"{symbol}{operands} = {g}, not {float(exact) if not isinstance(exact, int) else exact}")
    return wrong


def expected_of(name, rounding, types, dtype, reference):
    """f(operands) = (exact result, error that is allowed, size that it counts in), or None: not compared."""
    from mpmath import mp, mpf

    mp.prec = 300
    bits = np.dtype(dtype).itemsize * 8
    first = NUMPY[types[0]]
    if name in reference.INTEGERS and first not in (np.float32, np.float64):
        return lambda *x: (reference._signed(reference.INTEGERS[name](*x), bits), 0, 0)
    if name in CASTS:
        return lambda *x: (CASTS[name](*x), 0, 0)
    if "2" in name and name.split("2")[1] in ("int", "uint", "ll", "ull"):
        target = name.split("2")[1]
        return lambda x: (reference.convert_to_integer(x, target, reference.WHOLE[rounding], first == np.float64), 0, 0)
    if name in ("llrint", "llrintf", "llround", "llroundf"):
        whole = reference.half_away if "round" in name else reference.WHOLE["rn"]
        return lambda x: (reference.convert_to_integer(x, "ll", whole, first == np.float64), 0, 0)
    if name.split("2")[0] in ("int", "uint", "ll", "ull") or name == "double2float":
        source = name.split("2")[0]
        unsigned = {"uint": 32, "ull": 64}.get(source, 0)
        return lambda x: (x if not np.isfinite(x) else mpf(reference._unsigned(x, unsigned) if unsigned else x), 0, 0)
    base = name[:-1] if first == np.float32 and name.endswith("f") or name in ("jnf", "ynf") else name
    if base in EXACT and base not in reference.REALS:
        return lambda *x: EXACT[base](dtype, *x)
    if rounding and name[0] in "fd" and name[1:] in ARITHMETIC:
        return finite_only(lambda *x: (ARITHMETIC[name[1:]](*x), 0, 0))
    if base in ("jn", "yn"):
        return bessel_of_order(base, reference, dtype)
    real = real_name(name, dtype, reference)
    assert real, f"{name} has no reference"
    exact, special, *bounds = reference.REALS[real]
    bound = bounds[dtype == np.float64]
    size = reference.SIZES.get(real, lambda *x: 0)
    absolute = real in ("j0", "j1", "y0", "y1", "lgamma")

    def one(*x):
        if all(map(math.isfinite, x)):
            with mp.workprec(6500 if bound == 0 else 300):
                value = exact(*map(mpf, x))
            if real in ("rcbrt", "rsqrt", "tgamma") and x[0] == 0:
                value = math.copysign(math.inf, x[0])
            if real == "fast_fdivide" and x[1] == 0:
                value = math.nan if x[0] == 0 else math.copysign(math.inf, x[0]) * math.copysign(1, x[1])
            if real in reference.FLUSHED:
                if any(0 < abs(v) < 2.0**-126 for v in x):
                    return None
                if value is not None and abs(value) < 2.0**-126:
                    value = mpf(0) if abs(value) < 0.999 * 2.0**-126 else None
            if real == "atan2" and x[0] == 0:
                return None  # the sign of zero counts
            if value is not None and mpf(value) == 0 and bound == 0:
                return (0.0, 0, 0)
            return None if value is None else (value, bound, size(x[0]) if absolute else 0)
        if special is None:
            return None
        return (special.get(x[0], math.nan), max(bound, 1), 0)

    return one


def finite_only(f):
    """Of operands of which no bit of the exact result may be lost: products of doubles and a third one."""
    from mpmath import mp

    def one(*x):
        if not all(map(math.isfinite, x)):
            return None
        with mp.workprec(6500):
            return f(*x)

    return one


def bessel_of_order(base, reference, dtype):
    import mpmath

    def one(n, x):
        if n < 0 or math.isnan(x) or base == "yn" and x < 0:
            return (math.nan, 1, 0)
        if not math.isfinite(x) or abs(x) > 1e6 or x == 0:
            return None
        value = (mpmath.besselj if base == "jn" else mpmath.bessely)(n, mpmath.mpf(x))
        return (value, 64, math.sqrt(2 / (math.pi * abs(x))) if abs(x) > 8 else 0)

    return one


def _bits(value, dtype):
    return int(np.array(value, dtype).view(np.int32 if dtype == np.float32 else np.int64))


def _from_bits(value, dtype):
    return float(np.array(value, np.int32 if dtype == np.float32 else np.int64).view(dtype))


CASTS = {
    "float_as_int": lambda x: _bits(x, np.float32), "float_as_uint": lambda x: _bits(x, np.float32),
    "double_as_longlong": lambda x: _bits(x, np.float64),
    "int_as_float": lambda x: _from_bits(x, np.float32), "uint_as_float": lambda x: _from_bits(x, np.float32),
    "longlong_as_double": lambda x: _from_bits(x, np.float64),
    "double2hiint": lambda x: _bits(x, np.float64) >> 32,
    "double2loint": lambda x: (_bits(x, np.float64) + 2**31) % 2**32 - 2**31,
    "hiloint2double": lambda high, low: _from_bits((high << 32) + (low & 0xFFFFFFFF), np.float64),
    "isnanf": lambda x: int(math.isnan(x)), "isnand": lambda x: int(math.isnan(x)),
    "isinff": lambda x: int(math.isinf(x)), "isinfd": lambda x: int(math.isinf(x)),
    "finitef": lambda x: int(math.isfinite(x)), "isfinited": lambda x: int(math.isfinite(x)),
    "signbitf": lambda x: int(math.copysign(1, x) < 0), "signbitd": lambda x: int(math.copysign(1, x) < 0),
}


def _ilogb(x):
    if x == 0 or math.isnan(x):
        return -2**31
    return 2**31 - 1 if math.isinf(x) else math.frexp(x)[1] - 1


def _plain(f):
    return lambda dtype, *x: (f(*x), 0, 0)


def _mp(x):
    import mpmath

    return mpmath.mpf(x)


def _ldexp(dtype, x, n):
    return (x if not math.isfinite(x) or x == 0 else _mp(x) * _mp(2) ** n, 0, 0)


def _powi(dtype, x, n):
    if not math.isfinite(x) or x == 0 or abs(n) > 1e6:
        return None
    return (_mp(x) ** n, 4 if dtype == np.float32 else 2, 0)


def _rcp64h(dtype, x):  # of the high half, a coarse one
    if not math.isfinite(x) or abs(x) < 1e-290 or abs(x) > 1e290:
        return None
    return (1 / _mp(x), 2.0**34, 0)


EXACT = {
    "rcp64h": _rcp64h, "ldexp": _ldexp, "scalbn": _ldexp, "powi": _powi,
    "ilogb": _plain(_ilogb),
    "logb": _plain(lambda x: -math.inf if x == 0 else abs(x) if not math.isfinite(x) else float(math.frexp(x)[1] - 1)),
    "fabs": _plain(abs), "floor": _plain(lambda x: x if not math.isfinite(x) else float(math.floor(x))),
    "ceil": _plain(lambda x: x if not math.isfinite(x) else float(math.ceil(x))),
    "trunc": _plain(lambda x: x if not math.isfinite(x) else float(math.trunc(x))),
    "rint": _plain(lambda x: x if not math.isfinite(x) else float(round(x))),
    "nearbyint": _plain(lambda x: x if not math.isfinite(x) else float(round(x))),
    "round": _plain(lambda x: x if not math.isfinite(x) else math.copysign(math.floor(abs(x)) + (abs(x) - math.floor(abs(x)) >= 0.5), x)),
    "saturate": _plain(lambda x: 0.0 if math.isnan(x) else min(max(x, 0.0), 1.0)),
    "copysign": _plain(lambda x, y: math.nan if math.isnan(x) else math.copysign(x, y)),
    "nextafter": lambda dtype, x, y: (float(np.nextafter(dtype(x), dtype(y))), 0, 0),
}


def _divided(x, y):
    if y == 0:
        return math.nan if x == 0 else math.copysign(math.inf, x) * math.copysign(1, y)
    return _mp(x) / _mp(y)


def _root(x):
    import mpmath

    return math.nan if x < 0 else mpmath.sqrt(_mp(x))


ARITHMETIC = {
    "add": lambda x, y: _mp(x) + _mp(y), "sub": lambda x, y: _mp(x) - _mp(y), "mul": lambda x, y: _mp(x) * _mp(y),
    "div": _divided, "rcp": lambda x: _divided(1.0, x), "sqrt": _root,
    "rsqrt": lambda x: math.nan if x < 0 else math.copysign(math.inf, x) if x == 0 else 1 / _root(x),
    "ma": lambda x, y, z: _mp(x) * _mp(y) + _mp(z), "maf": lambda x, y, z: _mp(x) * _mp(y) + _mp(z),
}


@pytest.fixture(scope="module")
def module():
    return tilevm.load(("module {\n" + "".join(kernel(*f) for f in functions()) + "}\n").encode(), name="libdevice.ttir")


@needs_triton
def test_the_table_is_that_of_triton():
    assert len(functions()) >= 313


@needs_triton
@pytest.mark.parametrize("symbol, types, result", functions(), ids=[f[0] for f in functions()])
def test_function(module, symbol, types, result):
    arrays = operands_of(symbol, types)
    got = np.zeros(N, NUMPY[result])
    module[f"k{symbol}"](*arrays, got, grid=1)
    wrong = check(symbol, types, result, arrays, got)
    assert not wrong, "\n".join(wrong[:5])
