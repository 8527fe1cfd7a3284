"""Atomic updates through tiles of pointers: the rules of CUDA Tile C++ that a Python frontend can have, against a scalar loop."""
import itertools

import numpy as np
import pytest
import tilevm
from tilevm import script
from tilevm.script import pointer

# First row of the function's rows in the coverage, and its new value.
FUNCTIONS = {"and": (54, lambda k, v: k & v), "or": (59, lambda k, v: k | v), "xor": (64, lambda k, v: k ^ v), "max": (69, max), "min": (74, min),
             "add": (79, lambda k, v: k + v), "sub": (87, lambda k, v: k - v), "xchg": (95, lambda k, v: v)}
INTEGERS = ("int32", "int64", "uint32", "uint64")
TYPES = {f: INTEGERS for f in ("and", "or", "xor", "max", "min")}
TYPES["add"] = TYPES["sub"] = (*INTEGERS, "float64", "float32", "float16")
TYPES["xchg"] = (*INTEGERS, "float64", "float32")
CASES = [pytest.param(f, t, marks=pytest.mark.source(*(f"S1-{FUNCTIONS[f][0] + n:03}" for n in range(8 if f in ("add", "sub") else 5))))
         for f in FUNCTIONS for t in TYPES[f]]
MASK = np.array([1, 0, 1, 1, 0, 0, 1, 1], bool)


@script.kernel("inout x: T[n], i: i32[8], v: T[8], m: i32[8] -> old: T[8]", grid=1)
def update(x, i, v, m, old, f, mask, order="relaxed", scope="device", T=None):
    p, value = x.ptr + script.load(i, 0, 8), script.load(v, 0, 8)
    if mask:
        active = script.load(m, 0, 8)
        p = script.where(active, p, p + 1_000_000_000)
        before = getattr(pointer, f"atomic_{f}_masked")(p, value, active, order, scope)
        script.store(old, 0, script.where(active, before, 0))
    else:
        script.store(old, 0, getattr(pointer, f"atomic_{f}")(p, value, order, scope))


def operands(rng, dtype):
    if np.dtype(dtype).kind == "f":
        return rng.integers(-64, 64, 8).astype(dtype), rng.integers(-64, 64, 8).astype(dtype)
    info = np.iinfo(dtype)
    x, v = (rng.integers(info.min, info.max, 8, dtype, endpoint=True) for _ in range(2))
    x[:2], v[:2] = (info.max, info.min), (1, info.min)
    return x, v


@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("f,dtype", CASES)
def test_update(run, rng, f, dtype, mask):
    x, v = operands(rng, dtype)
    i = rng.permutation(8).astype("int32")
    expected, wanted = x.copy(), np.zeros(8, dtype)
    with np.errstate(over="ignore"):
        for at, value, active, j in zip(i, v, MASK, range(8)):
            if active or not mask:
                wanted[j] = expected[at]
                expected[at] = np.dtype(dtype).type(FUNCTIONS[f][1](expected[at], value))
    assert np.array_equal(run(update, x, i, v, MASK.astype("int32"), f=f, mask=mask), wanted)
    assert np.array_equal(x, expected)


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.source(*(f"S1-{first + 2:03}" for first, _ in FUNCTIONS.values()))
def test_contended(run, f):
    """Many blocks update one word: each takes effect, whole, and the old values are those of some order."""
    @script.kernel("inout x: i32[1] -> old: i32[64]", grid=64)
    def contend(x, old, f):
        i = script.bid()
        value = (script.int32(1) << (i % 31)) if f in ("and", "or", "xor") else i + 1
        if f == "and":
            value = ~value
        pointer.atomic_store(old.ptr + i, getattr(pointer, f"atomic_{f}")(x.ptr, value, "relaxed", "device"), "relaxed")

    x = np.array([-1 if f == "and" else 0], "int32")
    begin = x[0]
    old = run(contend, x, f=f)
    values = [int(np.int32(1) << (i % 31)) if f in ("and", "or", "xor") else i + 1 for i in range(64)]
    total = begin
    for v in values:
        total = FUNCTIONS[f][1](total, ~v if f == "and" else v)
    assert f == "xchg" or x[0] == total
    assert begin in old and (f != "xchg" or sorted([*old, x[0]]) == list(range(65)))
    if f in ("add", "sub"):
        assert len(set(old)) == 64


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.source(*(f"S1-{first + 2:03}" for first, _ in FUNCTIONS.values()))
def test_orders_and_scopes(built, refused, ops, f):
    for order, (scope, word) in itertools.product(("relaxed", "acquire", "release", "acq_rel"),
                                                  {"block": "tl_blk", "cluster": "cluster", "device": "device", "sys": "sys"}.items()):
        for body in (lambda x, y: getattr(pointer, f"atomic_{f}")(y.ptr, 1, order, scope),
                     lambda x, y: getattr(pointer, f"atomic_{f}_masked")(y.ptr, 1, True, order, scope)):
            assert f"atomic_rmw_tko {order} {word} " in ops(built(body), "atomic_rmw_tko")[0]
    assert "atomic_rmw_tko relaxed sys " in built(lambda x, y: getattr(pointer, f"atomic_{f}")(y.ptr, 1, "relaxed"))
    refused("script.arguments", lambda x, y: getattr(pointer, f"atomic_{f}")(y.ptr, 1))
    refused("script.memory_order", lambda x, y: getattr(pointer, f"atomic_{f}")(y.ptr, 1, "weak"))


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.source(*(f"S1-{first + 3:03}" for first, _ in FUNCTIONS.values()), "S1-023")
def test_the_result_of_a_masked_element_is_unspecified(f):
    @script.kernel("inout x: i32[4] -> old: i32[4]", grid=1)
    def relies(x, old, f):
        lane = script.arange(4)
        script.store(old, 0, getattr(pointer, f"atomic_{f}_masked")(x.ptr + lane, 1, lane - 1.0, "relaxed"))

    with pytest.raises(tilevm.TrapError) as e:
        relies(np.zeros(4, "int32"), f=f, check="full")
    assert e.value.code == "vm.uninitialized" and e.value.file == __file__


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.source(*(f"S1-{first + 4:03}" for first, _ in FUNCTIONS.values()), "S1-082", "S1-092", "S1-093", "S1-094")
def test_element_types(built, refused, f):
    named = {"int32": "i32", "int64": "i64", "uint32": "u32", "uint64": "u64", "float64": "f64", "float32": "f32", "float16": "f16"}
    takes = {named[t] for t in TYPES[f]}
    for t in ("i8", "u8", "i16", "u16", "bool", *named.values()):
        body = lambda x, y: getattr(pointer, f"atomic_{f}")(y.ptr, 1, "relaxed")  # noqa: E731
        if t in takes:
            built(body, t, t)
        else:
            assert f"atomic_{f} of {t}" in refused("script.dtype", body, t, t).message


@pytest.mark.source("S1-100", "S1-102")
def test_integers_wrap(run):
    x, v = np.array([2**31 - 1, -(2**31), -1, 0] * 2, "int32"), np.array([1, -1, -(2**31), 5] * 2, "int32")
    i, m = np.arange(8, dtype="int32"), np.ones(8, "int32")
    for f, wanted in (("add", [-(2**31), 2**31 - 1, 2**31 - 1, 5]), ("sub", [-(2**31) - 2 + 2**32, -(2**31) + 1, 2**31 - 1, -5])):
        y = x.copy()
        run(update, y, i, v, m, f=f, mask=False)
        assert y[:4].tolist() == wanted


@pytest.mark.source("S1-101", "S1-103")
def test_floats_round_to_nearest_even(run):
    i, m = np.arange(8, dtype="int32"), np.ones(8, "int32")
    x, v = np.array([2048, 2048, 65504, 65504, np.inf, 1, np.nan, -0.0], "float16"), np.array([1, 3, 15, 16, -np.inf, 0.5, 1, 0.0], "float16")
    run(update, y := x.copy(), i, v, m, f="add", mask=False)
    assert np.array_equal(y, np.array([2048, 2052, 65504, np.inf, np.nan, 1.5, np.nan, 0], "float16"), equal_nan=True)
    run(update, y := x.copy(), i, -v, m, f="sub", mask=False)
    assert np.array_equal(y, np.array([2048, 2052, 65504, np.inf, np.nan, 1.5, np.nan, 0], "float16"), equal_nan=True)
    x, v = np.full(8, 16777216, "float32"), np.array([1, 3, 2, 0, 5, -1, 1.5, 0.5], "float32")
    run(update, y := x.copy(), i, v, m, f="add", mask=False)
    assert np.array_equal(y, x + v)


# --- compare-and-swap

@script.kernel("inout x: T[n], i: i32[8], c: T[8], v: T[8], m: bool[8] -> old: T[8]", grid=1)
def cas(x, i, c, v, m, old, mask, order="relaxed", scope="device", T=None):
    p, compare, value = x.ptr + script.load(i, 0, 8), script.load(c, 0, 8), script.load(v, 0, 8)
    if mask:
        active = script.load(m, 0, 8)
        p = script.where(active, p, p + 1_000_000_000)
        script.store(old, 0, pointer.atomic_compare_exchange_masked(p, compare, value, active, order, scope))
    else:
        script.store(old, 0, pointer.atomic_compare_exchange(p, compare, value, order, scope))


def bits(a):
    return a.view(f"u{a.itemsize}")


@pytest.mark.source("S1-041", "S1-042", "S1-043", "S1-044", "S1-045", "S1-048", "S1-049", "S1-050", "S1-051")
@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64", "float32", "float64"])
def test_compare_exchange(run, rng, dtype, mask):
    x, c, v = (rng.integers(0, 2, 8).astype(dtype) for _ in range(3))
    if np.dtype(dtype).kind == "f":
        nan = np.array([np.nan], dtype)
        x[:4], c[:4] = (0.0, -0.0, nan[0], nan[0]), (-0.0, -0.0, nan[0], nan[0])
        bits(c)[3] += 1  # another NaN
    v += 5
    i = np.arange(8, dtype="int32")[::-1].copy()
    x = x[::-1].copy()
    expected, wanted = x.copy(), np.zeros(8, dtype)
    for j in range(8):
        wanted[j] = c[j] if mask and not MASK[j] else expected[i[j]]
        bits(wanted)[j] = bits(c)[j] if mask and not MASK[j] else bits(expected)[i[j]]
        if (MASK[j] or not mask) and bits(expected)[i[j]] == bits(c)[j]:
            expected[i[j]] = v[j]
    assert np.array_equal(bits(run(cas, x, i, c, v, MASK, mask=mask)), bits(wanted))
    assert np.array_equal(bits(x), bits(expected))


@pytest.mark.source("S1-041")
def test_orders_and_scopes_of_compare_exchange(built, refused, ops):
    for order, (scope, word) in itertools.product(("relaxed", "acquire", "release", "acq_rel"), {"block": "tl_blk", "device": "device", "sys": "sys"}.items()):
        assert f"atomic_cas_tko {order} {word} " in ops(built(lambda x, y: pointer.atomic_compare_exchange(y.ptr, 0, 1, order, scope)), "atomic_cas_tko")[0]
    refused("script.memory_order", lambda x, y: pointer.atomic_compare_exchange(y.ptr, 0, 1, "weak"))
    refused("script.shape", lambda x, y: pointer.atomic_compare_exchange(y.ptr, script.arange(4), 1, "relaxed"))


@pytest.mark.source("S1-046")
def test_a_failed_exchange_is_a_write():
    @script.kernel("inout x: i32[1] -> y: i32[2]", grid=2)
    def race(x, y):
        if script.bid() == 0:
            script.store(y, 0, pointer.load(x.ptr))
        else:
            script.store(y, 1, pointer.atomic_compare_exchange(x.ptr, 7, 8, "relaxed", "device"))

    with pytest.raises(tilevm.TrapError) as e:
        race(np.zeros(1, "int32"), check="full")
    assert e.value.code == "vm.race" and e.value.file == __file__


@pytest.mark.source("S1-052")
def test_element_types_of_compare_exchange(built, refused):
    for t in ("i8", "i16", "u8", "u16", "f16", "bf16", "bool"):
        refused("script.dtype", lambda x, y: pointer.atomic_compare_exchange(y.ptr, 0, 1, "relaxed"), t, t)
    for t in ("i32", "u32", "i64", "u64", "f32", "f64"):
        built(lambda x, y: pointer.atomic_compare_exchange(y.ptr, 0, 1, "relaxed"), t, t)


@pytest.mark.source("S1-053")
def test_success_is_equality_of_bits(run):
    @script.kernel("inout x: f32[4], c: f32[4] -> floats: bool[4], words: bool[4]", grid=1)
    def success(x, c, floats, words):
        compare = script.load(c, 0, 4)
        old = pointer.atomic_compare_exchange(x.ptr + script.arange(4), compare, 9.0, "relaxed")
        script.store(floats, 0, old == compare)
        script.store(words, 0, old.bitcast(script.uint32) == compare.bitcast(script.uint32))

    x, c = np.array([1, np.nan, 0.0, 2], "float32"), np.array([1, np.nan, -0.0, 3], "float32")
    floats, words = run(success, x, c)
    assert floats.tolist() == [True, False, True, False] and words.tolist() == [True, True, False, False]
    assert np.array_equal(x, np.array([9, 9, 0, 2], "float32"))
