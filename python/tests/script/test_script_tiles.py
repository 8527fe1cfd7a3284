"""Arithmetic, conversions, shapes and reductions of tiles, against NumPy."""
import itertools
import math
import operator

import numpy as np
import pytest
from tilevm import script


@script.kernel("x: T[8], y: U[8] -> z: V[8]", grid=1)
def binary(x, y, z, f, T=None, U=None, V=None):
    script.store(z, 0, f(script.load(x, 0, 8), script.load(y, 0, 8)))


@script.kernel("x: T[8] -> z: V[8]", grid=1)
def unary(x, z, f, T=None, V=None):
    script.store(z, 0, f(script.load(x, 0, 8)))


def kind(f, *types):
    """The type of a result."""
    found = []

    @script.kernel("inout x: i32[1]", grid=1)
    def look(x):
        found.append(f(*(script.ones(8, t) for t in types)).dtype.name)

    look.specialize()
    return found[0]


X, Y = np.array([7, -7, 7, -7, 0, 100, -128, 1], "int32"), np.array([3, 3, -3, -3, 5, 7, 127, -1], "int32")
INTEGER = {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod, "&": operator.and_, "|": operator.or_,
           "^": operator.xor, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}


@pytest.mark.parametrize("op", INTEGER)
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint32"])
def test_integers(run, op, dtype):
    x, y = X.astype(dtype), Y.astype(dtype)
    wanted = INTEGER[op](x, y)
    got = run(binary, x, y, f=INTEGER[op], V="bool" if wanted.dtype == bool else dtype)
    assert np.array_equal(got, wanted)
    assert np.array_equal(run(binary, x, y, f=lambda a, b: INTEGER[op](a, 3), V="bool" if wanted.dtype == bool else dtype), INTEGER[op](x, np.array(3, dtype)))
    assert np.array_equal(run(binary, x, y, f=lambda a, b: INTEGER[op](100, b), V="bool" if wanted.dtype == bool else dtype),
                          INTEGER[op](np.array(100, dtype), y))


@pytest.mark.parametrize("op", ["+", "-", "*", "//", "%", "/", "<", "<=", ">", ">=", "==", "!="])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats(run, op, dtype):
    f = {**INTEGER, "/": operator.truediv}[op]
    x, y = (X / 4).astype(dtype), (Y / 2).astype(dtype)
    x[4] = np.nan
    wanted = f(x, y)
    assert np.array_equal(run(binary, x, y, f=f, V="bool" if wanted.dtype == bool else dtype), wanted, equal_nan=wanted.dtype != bool)


@pytest.mark.parametrize("dtype", ["int16", "uint16", "int64"])
def test_shifts_and_unary(run, dtype):
    x, s = X.astype(dtype), np.array([0, 1, 2, 3, 4, 5, 6, 7], dtype)
    for f in (operator.lshift, operator.rshift):
        assert np.array_equal(run(binary, x, s, f=f, V=dtype), f(x, s))
    assert np.array_equal(run(unary, x, f=operator.invert, V=dtype), ~x) and np.array_equal(run(unary, x, f=operator.neg, V=dtype), -x)
    assert np.array_equal(run(unary, x, f=abs, V=dtype), abs(x)) and np.array_equal(run(unary, x, f=operator.pos, V=dtype), x)


def test_bools(run):
    x, y = np.array([0, 1] * 4, bool), np.array([0, 0, 1, 1] * 2, bool)
    for f in (operator.and_, operator.or_, operator.xor, operator.eq, operator.ne):
        assert np.array_equal(run(binary, x, y, f=f, V="bool"), f(x, y))
    assert np.array_equal(run(unary, x, f=operator.invert, V="bool"), ~x)
    assert np.array_equal(run(binary, x, y, f=operator.add, V="i32"), x.astype(int) + y)


def test_division_of_integers(run):
    assert np.allclose(run(binary, X, Y, f=operator.truediv, V="f32"), X / Y)
    assert kind(operator.truediv, "i32", "i32") == "f32" and kind(operator.truediv, "i64", "i8") == "f64"


def test_powers(run):
    for n in (0, 1, 2, 5):
        assert np.array_equal(run(unary, X, f=lambda x: x**n, V="int32"), X**n)
    x = np.array([0.5, 1, 2, 3, 4, 9, 16, 100], "float32")
    assert np.allclose(run(unary, x, f=lambda x: x**0.5, V="float32"), np.sqrt(x))
    assert np.allclose(run(unary, x / 4, f=lambda x: 2.0**x, V="float32"), 2**(x / 4), rtol=1e-5)


PROMOTIONS = [("i8", "i32", "i32"), ("u8", "u64", "u64"), ("u8", "i16", "i16"), ("u32", "i64", "i64"), ("bool", "i8", "i8"), ("bool", "f16", "f16"),
              ("i64", "f16", "f16"), ("u8", "f32", "f32"), ("f16", "f32", "f32"), ("f16", "bf16", "f32"), ("bf16", "f64", "f64"), ("i32", "i32", "i32")]


@pytest.mark.parametrize("a,b,c", PROMOTIONS)
def test_promotion(a, b, c):
    assert kind(operator.add, a, b) == kind(operator.mul, b, a) == kind(lambda x, y: script.where(x != 0, x, y), a, b) == c


def test_what_is_not_promoted(refused):
    for a, b in (("u32", "i32"), ("i32", "u64"), ("i8", "u8"), ("tf32", "f32"), ("f8E5M2", "f8E4M3FN")):
        assert "astype" in refused("script.dtype", lambda x, y: script.ones(4, a) + script.ones(4, b)).fix
    refused("script.dtype", lambda x, y: script.ones(4, "f8E5M2") + script.ones(4, "f8E5M2"))
    refused("script.dtype", lambda x, y: script.zeros(4) & script.zeros(4))
    refused("script.dtype", lambda x, y: script.zeros(4) << 1)
    refused("script.number", lambda x, y: script.bid() << 0.5)
    refused("script.dtype", lambda x, y: ~script.zeros(4))
    refused("script.dtype", lambda x, y: -script.full(4, True))
    refused("script.dtype", lambda x, y: x.ptr * 2)
    refused("script.dtype", lambda x, y: x.ptr + 0.5)
    refused("script.dtype", lambda x, y: x.ptr == x.ptr)


def test_numbers_take_the_type_of_the_tile(refused):
    for t, number, wanted in (("i8", 5, "i8"), ("f16", 5, "f16"), ("f16", 0.1, "f16"), ("i32", 0.5, "f32"), ("bool", 2, "i32"), ("i64", True, "i64"),
                              ("bf16", np.float64(0.5), "bf16"), ("u8", np.int64(7), "u8")):
        assert kind(lambda x: x + number, t) == kind(lambda x: number + x, t) == wanted
    for t, number in (("i8", 128), ("u8", -1), ("u32", 1 << 32)):
        refused("script.number", lambda x, y: script.ones(4, t) + number)
    refused("script.type", lambda x, y: script.ones(4) + "1")
    refused("script.type", lambda x, y: script.ones(4) + [1, 2])


def test_shapes_meet(run, refused):
    @script.kernel("x: i32[4], y: i32[2] -> z: i32[2, 4]", grid=1)
    def outer(x, y, z):
        a, b = script.load(x, 0, 4), script.load(y, 0, 2)
        script.store(z, (0, 0), a * 10 + b[:, None])

    x, y = np.arange(4, dtype="int32"), np.array([7, 9], "int32")
    assert np.array_equal(run(outer, x, y), x * 10 + y[:, None])
    refused("script.shape", lambda x, y: script.arange(4) + script.arange(8))


CONVERSIONS = list(itertools.product(["bool", "int8", "uint8", "int32", "uint32", "int64", "float16", "float32", "float64"], repeat=2))


@pytest.mark.parametrize("source,into", CONVERSIONS)
def test_astype(run, source, into):
    x = np.array([0, 1, 2, 100, 127, 3, 5, 7]).astype(source)
    if np.dtype(source).kind in "if" and np.dtype(into).kind != "u":
        x[5] = -3
    assert np.array_equal(run(unary, x, f=lambda v: v.astype(into), V=into), x.astype(into))


def test_astype_truncates_and_wraps(run):
    x = np.array([1.9, -1.9, 0.3, -0.3, 2.5, 0, 7.99, -8], "float32")
    assert run(unary, x, f=lambda v: v.astype("int32"), V="int32").tolist() == [1, -1, 0, 0, 2, 0, 7, -8]
    assert run(unary, x, f=lambda v: v.astype("bool"), V="bool").tolist() == [True] * 5 + [False, True, True]
    assert run(unary, X * 1000, f=lambda v: v.astype("uint8"), V="uint8").tolist() == (X * 1000).astype("uint8").tolist()


def test_bitcast(run, refused):
    x = np.array([0.0, -0.0, 1.5, np.inf, -1, 2, 3, 4], "float32")
    assert np.array_equal(run(unary, x, f=lambda v: v.bitcast(script.uint32), V="u32"), x.view("u4"))
    assert np.array_equal(run(unary, x.view("u4"), f=lambda v: script.bitcast(v, "f32"), V="f32"), x)
    refused("script.dtype", lambda x, y: script.arange(4).bitcast("i64"))


MATH = {"exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "sin": np.sin, "cos": np.cos,
        "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "floor": np.floor, "ceil": np.ceil, "abs": np.abs, "erf": np.vectorize(math.erf)}


@pytest.mark.parametrize("name", MATH)
@pytest.mark.parametrize("dtype,tolerance", [("float32", 1e-5), ("float64", 1e-12)])
def test_math(run, refused, name, dtype, tolerance):
    x = np.array([0.1, 0.5, 1, 1.7, 2, 3.3, 4, 0.25], dtype)
    assert np.allclose(run(unary, x, f=lambda v: getattr(script, name)(v), V=dtype), MATH[name](x), rtol=tolerance)
    if name != "abs":
        assert kind(getattr(script, name), "i32") == "f32" and kind(getattr(script, name), "i64") == "f64"
    refused("script.dtype", lambda x, y: getattr(script, name)(script.ones(4, "f8E5M2")))


def test_math_of_two_and_three(run):
    x, y = np.array([1, -1, 2, 0.5, 3, 9, -4, 8], "float32"), np.array([2, 2, -1, 0.5, -3, 0.5, 1, 1], "float32")
    assert np.allclose(run(binary, x, y, f=script.atan2, V="f32"), np.arctan2(x, y))
    assert np.allclose(run(binary, abs(x), y, f=script.pow, V="f32"), abs(x)**y)
    assert np.array_equal(run(binary, x, y, f=lambda a, b: script.fma(a, b, 1.0), V="f32"), x * y + 1)
    assert np.array_equal(run(binary, x, y, f=script.maximum, V="f32"), np.maximum(x, y))
    assert np.array_equal(run(binary, x, y, f=script.minimum, V="f32"), np.minimum(x, y))
    x[0] = np.nan
    assert run(binary, x, y, f=script.maximum, V="f32")[0] == 2
    assert np.isnan(run(binary, x, y, f=lambda a, b: script.maximum(a, b, propagate_nan=True), V="f32")[0])
    for dtype in ("int32", "uint32"):
        assert np.array_equal(run(binary, X.astype(dtype), Y.astype(dtype), f=script.maximum, V=dtype), np.maximum(X.astype(dtype), Y.astype(dtype)))
    n = np.arange(8, dtype="int32")
    assert np.array_equal(run(unary, n, f=lambda v: script.cdiv(v, 3), V="i32"), -(-n // 3)) and script.cdiv(7, 2) == 4


# --- shapes

@script.kernel("x: T[4, 8] -> z: T[R, C]", grid=1)
def shaped(x, z, f, R, C, T=None):
    out = f(script.load(x, (0, 0), (4, 8)))
    assert out.shape == (R, C), out.shape
    script.store(z, (0, 0), out)


SHAPED = {
    "reshape": (lambda v: v.reshape(8, 4), lambda v: v.reshape(8, 4)), "reshape -1": (lambda v: script.reshape(v, (2, -1)), lambda v: v.reshape(2, 16)),
    "transpose": (lambda v: script.transpose(v), lambda v: v.T), "T": (lambda v: v.T, lambda v: v.T), "permute": (lambda v: v.permute(1, 0), lambda v: v.T),
    "expand": (lambda v: script.expand_dims(v, 0).reshape(4, 8), lambda v: v),
    "cat": (lambda v: script.cat(v, v + 1, 1), lambda v: np.concatenate([v, v + 1], 1)),
    "extract": (lambda v: script.extract(v, (1, 2), (2, 2)), lambda v: v[2:4, 4:6]),
    "transpose 3": (lambda v: script.transpose(v.reshape(2, 2, 8), 0, 2).reshape(8, 4),
                                                                                                  lambda v: v.reshape(2, 2, 8).swapaxes(0, 2).reshape(8, 4)),
    "broadcast": (lambda v: script.broadcast_to(v.sum(0), (2, 8)), lambda v: np.broadcast_to(v.sum(0), (2, 8))),
    "[None]": (lambda v: v[:, None].reshape(4, 8), lambda v: v),
    "[..., None]": (lambda v: v[..., None].reshape(8, 4), lambda v: v.reshape(8, 4)), "flip": (lambda v: v + 0 * v.reshape(8, 4).T, lambda v: v),
}


@pytest.mark.parametrize("name", SHAPED)
def test_shapes(run, name):
    f, reference = SHAPED[name]
    x = np.arange(32, dtype="int32").reshape(4, 8)
    wanted = reference(x)
    assert np.array_equal(run(shaped, x, f=f, R=wanted.shape[0], C=wanted.shape[1]), wanted)


def test_wrong_shapes(refused):
    v = lambda: script.arange(8)  # noqa: E731
    for code, body in [("script.shape", lambda x, y: script.reshape(v(), 4)), ("script.shape", lambda x, y: script.reshape(v(), (3, 3))),
                       ("script.shape", lambda x, y: script.broadcast_to(v(), (4, 4))), ("script.order", lambda x, y: script.permute(v(), (0, 1))),
                       ("script.axis", lambda x, y: script.expand_dims(v(), 3)), ("script.axis", lambda x, y: script.transpose(v())),
                       ("script.shape", lambda x, y: script.cat(v(), script.arange(4))), ("script.shape", lambda x, y: script.extract(v(), 0, 16)),
                       ("script.index", lambda x, y: script.extract(v(), 0.5, 4)), ("script.shape", lambda x, y: script.arange(12)),
                       ("script.number", lambda x, y: script.arange(512, dtype=script.int8)),
                       ("script.dtype", lambda x, y: script.arange(4, dtype=script.float32)),
                       ("script.shape", lambda x, y: script.zeros((1 << 13, 1 << 12))), ("script.dtype", lambda x, y: script.zeros(4, "f33")),
                       ("script.number", lambda x, y: script.full(4, 300, script.uint8)), ("script.axis", lambda x, y: script.bid(3)),
                       ("script.axis", lambda x, y: script.num_blocks(-1)), ("script.axis", lambda x, y: script.sum(v(), 1)),
                       ("script.constant", lambda x, y: script.zeros(x.shape[0]))]:
        refused(code, body)


# --- reductions

@script.kernel("x: T[4, 8] -> z: V[R]", grid=1)
def reduced(x, z, f, R, T=None, V=None):
    script.store(z, 0, f(script.load(x, (0, 0), (4, 8))).reshape(R))


REDUCTIONS = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "any": np.any, "all": np.all, "argmax": np.argmax, "argmin": np.argmin}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", ["int32", "uint32", "float32"])
@pytest.mark.parametrize("axis", [0, 1, -1, None, (0, 1)])
def test_reductions(run, rng, name, dtype, axis):
    if "arg" in name and axis in (None, (0, 1)):
        return
    x = rng.integers(0 if dtype == "uint32" else -3, 4, (4, 8)).astype(dtype)
    wanted = np.array(REDUCTIONS[name](x, axis=axis)).reshape(-1)
    into = "bool" if name in ("any", "all") else "i32" if "arg" in name else dtype
    with np.errstate(over="ignore"):
        wanted = wanted.astype({"i32": "int32"}.get(into, into))
    for keepdims in (False, True):
        assert np.array_equal(run(reduced, x, f=lambda v: getattr(script, name)(v, axis, keepdims=keepdims), R=wanted.size, V=into), wanted)


def test_reductions_keep_dimensions():
    shapes = []

    @script.kernel("inout x: i32[1]", grid=1)
    def look(x):
        v = script.zeros((4, 8, 2))
        shapes.extend(t.shape for t in (v.sum(1), v.sum(1, keepdims=True), v.max((0, 2)), v.min((0, 2), keepdims=True), v.sum(), v.sum(keepdims=True)))

    look.specialize()
    assert shapes[-6:] == [(4, 2), (4, 1, 2), (8,), (1, 8, 1), (), (1, 1, 1)]


def test_reductions_of_bools_and_nan(run):
    x = np.arange(32).reshape(4, 8).astype("float32")
    assert run(reduced, x, f=lambda v: script.sum(v > 10), R=1, V="i32")[0] == 21
    x[1, 2] = np.nan
    assert run(reduced, x, f=lambda v: script.max(v), R=1, V="f32")[0] == 31


def test_scans(run, rng):
    x = rng.integers(-3, 4, (4, 8)).astype("int32")
    for axis, reverse in itertools.product((0, 1), (False, True)):
        turn = (lambda a: np.flip(a, axis)) if reverse else (lambda a: a)
        assert np.array_equal(run(reduced, x, f=lambda v: script.cumsum(v, axis, reverse=reverse), R=32, V="i32"), turn(np.cumsum(turn(x), axis)).ravel())
    assert np.array_equal(run(reduced, x, f=lambda v: script.cumprod(v, 1), R=32, V="i32"), np.cumprod(x, 1).ravel())


def test_any_function(run, refused):
    x = np.array([[3, 9, 2, 7, 8, 1, 4, 6]] * 4, "int32")
    assert run(reduced, x, f=lambda v: script.reduce(v, 1, lambda a, b: script.minimum(a, b), 1 << 30), R=4, V="i32").tolist() == [1] * 4

    def minmax(v):
        low, high = script.reduce((v, v), 1, lambda a, c, b, d: (script.minimum(a, c), script.maximum(b, d)), (1 << 30, -(1 << 30)))
        return high - low

    assert run(reduced, x, f=minmax, R=4, V="i32").tolist() == [8] * 4
    refused("script.type", lambda x, y: script.reduce(script.arange(4), 0, lambda a, b: 3, 0))
    refused("script.type", lambda x, y: script.reduce((script.arange(4), script.arange(8)), 0, lambda a, b, c, d: (a, c), (0, 0)))


def test_scans_of_any_function(run, rng):
    x = rng.integers(-9, 9, (4, 8)).astype("int32")
    for axis, reverse in itertools.product((0, 1, -1), (False, True)):
        turn = (lambda a: np.flip(a, axis)) if reverse else (lambda a: a)
        wanted = turn(np.maximum.accumulate(turn(x), axis)).ravel()
        assert np.array_equal(run(reduced, x, f=lambda v: script.scan(v, axis, script.maximum, -(1 << 31), reverse), R=32, V="i32"), wanted)
        assert np.array_equal(run(reduced, x, f=lambda v: script.scan(v, axis, lambda a, b: a + b, 0, reverse=reverse), R=32, V="i32"),
                              turn(np.cumsum(turn(x), axis)).ravel())
    assert run(reduced, x, f=lambda v: script.reduce(v, 1, script.maximum, -99, keepdims=True).broadcast_to((4, 8)), R=32, V="i32").tolist() == \
        np.repeat(x.max(1), 8).tolist()


def test_functions_that_do_not_commute_see_elements_in_order(run):
    x = np.array([[3, 0, 2, 0, 0, 1, 4, 0]] * 4, "int32")

    def last(a, b):  # that is not 0
        return script.where(b != 0, b, a)

    assert run(reduced, x, f=lambda v: script.reduce(v, 1, last, 0), R=4, V="i32").tolist() == [4] * 4
    assert run(reduced, x, f=lambda v: script.scan(v, 1, last, 0), R=32, V="i32").tolist() == [3, 3, 2, 2, 2, 1, 4, 4] * 4
    assert run(reduced, x, f=lambda v: script.scan(v, 1, last, 0, reverse=True), R=32, V="i32").tolist() == [3, 2, 2, 1, 1, 1, 4, 0] * 4

    # h = a * h + b, as a scan of pairs: the first factor and summand, then the second
    def after(a0, a1, b0, b1):
        return a0 * a1, b0 * a1 + b1

    h, wanted = 0, []
    for value in x[0]:
        h = 2 * h + int(value)
        wanted.append(h)
    got = run(reduced, x, f=lambda v: script.scan((script.full((1, 8), 2), v), 1, after, (1, 0))[1], R=32, V="i32")
    assert got.tolist() == wanted * 4


def test_a_scan_with_places(run, rng):
    x = rng.integers(-9, 9, (4, 8)).astype("int32")

    def greater(a, b, i, j):
        return script.where(b > a, b, a), script.where(b > a, j, i)

    def places(v):
        best, place = script.scan((v, script.arange(8)), 1, greater, (-(1 << 31), 0))
        return best * 100 + place

    wanted = [[max(row[:n + 1]) * 100 + list(row).index(max(row[:n + 1])) for n in range(8)] for row in x.tolist()]
    assert run(reduced, x, f=places, R=32, V="i32").tolist() == np.ravel(wanted).tolist()


# --- products

@pytest.mark.parametrize("dtype,into", [("float16", "f32"), ("float32", "f32"), ("float64", "f64"), ("int8", "i32"), ("uint8", "i32")])
def test_products(run, rng, dtype, into):
    @script.kernel("a: T[8, 16], b: T[16, 4] -> c: V[8, 4], d: V[8, 4]", grid=1)
    def product(a, b, c, d, V, T=None):
        x, y = script.load(a, (0, 0), (8, 16)), script.load(b, (0, 0), (16, 4))
        script.store(c, (0, 0), x @ y)
        script.store(d, (0, 0), script.mma(x, y, script.ones((8, 4), V)))

    a, b = (rng.integers(0, 9, s).astype(dtype) for s in ((8, 16), (16, 4)))
    c, d = run(product, a, b, V=into)
    wanted = a.astype("float64") @ b.astype("float64")
    assert np.array_equal(c, wanted) and np.array_equal(d, wanted + 1)


def test_products_of_batches_and_tf32(run, rng):
    @script.kernel("a: f32[2, 4, 8], b: f32[2, 8, 4] -> c: f32[2, 4, 4]", grid=1)
    def product(a, b, c):
        x, y = (script.load(t, (0, 0, 0), t.shape).astype(script.tfloat32) for t in (a, b))
        script.store(c, (0, 0, 0), x @ y)

    a, b = rng.integers(-9, 9, (2, 4, 8)).astype("float32"), rng.integers(-9, 9, (2, 8, 4)).astype("float32")
    assert np.array_equal(run(product, a, b), a @ b)


def test_wrong_products(refused):
    for code, body in [("script.shape", lambda x, y: script.zeros((4, 8)) @ script.zeros((4, 8))),
                       ("script.shape", lambda x, y: script.zeros(4) @ script.zeros(4)),
                       ("script.dtype", lambda x, y: script.zeros((4, 4)) @ script.zeros((4, 4), "f16")),
                       ("script.dtype", lambda x, y: script.zeros((4, 4), "i32") @ script.zeros((4, 4), "i32")),
                       ("script.dtype", lambda x, y: script.mma(script.zeros((4, 4), "f16"), script.zeros((4, 4), "f16"), script.zeros((4, 4), "f64"))),
                       ("script.shape", lambda x, y: script.mma(script.zeros((4, 4)), script.zeros((4, 4)), script.zeros((4, 8))))]:
        refused(code, body)


def test_grid(run):
    @script.kernel("-> y: i32[3, 2]", grid=(3, 2))
    def where(y):
        script.store(y, (script.bid(0), script.bid(1)), script.bid(0) * 100 + script.bid(1) * 10 + script.num_blocks(0) + script.num_blocks(2))

    assert run(where).tolist() == [[4, 14], [104, 114], [204, 214]]


def test_gather_and_scatter(run, refused):
    @script.kernel("x: f32[m, n], i: i32[8] -> y: f32[8, 4]", grid=1)
    def rows(x, i, y, CHECK=True):
        script.store(y, (0, 0), script.gather(x, (script.load(i, 0, 8)[:, None], script.arange(4)), padding_value=-1, check_bounds=CHECK))

    x, i = np.arange(20, dtype="float32").reshape(5, 4), np.array([4, 0, -1, 5, 2, 2, 3, 1], "int32")
    assert np.array_equal(run(rows, x, i), np.array([x[k] if 0 <= k < 5 else [-1] * 4 for k in i]))

    @script.kernel("inout x: i32[n]", grid=1)
    def put(x):
        lane = script.arange(8)
        script.scatter(x, lane * 2, lane + 1, mask=lane != 1)

    x = np.zeros(10, "int32")
    run(put, x)
    assert x.tolist() == [1, 0, 0, 0, 3, 0, 4, 0, 5, 0]
    refused("script.const", lambda x, y: script.scatter(x, 0, 1))
    refused("script.space", lambda x, y: script.gather(script.shared(4, script.int32), 0))
    refused("script.constant", lambda x, y: script.gather(x, 0, check_bounds=1))
    refused("script.index", lambda x, y: script.gather(x, "0"))
