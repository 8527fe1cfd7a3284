"""The classic atomic functions: every rule of the document, against a scalar loop, on global and shared memory."""
import inspect

import numpy as np
import pytest
from tilevm import script

FUNCTIONS = {
    "atomicAdd": lambda k, v: k + v, "atomicSub": lambda k, v: k - v, "atomicExch": lambda k, v: v, "atomicMin": min, "atomicMax": max,
    "atomicInc": lambda k, v: 0 if k >= v else k + 1, "atomicDec": lambda k, v: v if k == 0 or k > v else k - 1,
    "atomicAnd": lambda k, v: k & v, "atomicOr": lambda k, v: k | v, "atomicXor": lambda k, v: k ^ v,
}
ROWS = {"atomicAdd": "S2-005", "atomicSub": "S2-006", "atomicExch": "S2-007", "atomicMin": "S2-008", "atomicMax": "S2-009", "atomicInc": "S2-010",
        "atomicDec": "S2-011", "atomicCAS": "S2-012", "atomicAnd": "S2-013", "atomicOr": "S2-014", "atomicXor": "S2-015"}
INTEGERS = ("int32", "uint32", "int64", "uint64")
TYPES = {f: INTEGERS for f in FUNCTIONS} | {"atomicInc": ("uint32",), "atomicDec": ("uint32",)}
TYPES["atomicExch"] = (*INTEGERS, "float32")
TYPES["atomicAdd"] = (*INTEGERS, "float32", "float64")
CASES = [pytest.param(f, t, marks=pytest.mark.source(ROWS[f])) for f in FUNCTIONS for t in TYPES[f]]


def apply(f, k, v, dtype):
    with np.errstate(over="ignore"):
        return np.array(FUNCTIONS[f](k, v)).astype(dtype)


@script.kernel("inout x: T[8], v: T[8] -> old: T[8]", grid=1)
def of_pointers(x, v, old, f, T=None):
    script.store(old, 0, getattr(script, f)(x.at(script.arange(8)), script.load(v, 0, 8)))


@script.kernel("inout x: T[8], v: T[8] -> old: T[8]", grid=1)
def of_arrays(x, v, old, f, T=None):
    script.store(old, 0, getattr(script, f)(x, script.load(v, 0, 8)))


@script.kernel("inout x: T[8], v: T[8] -> old: T[8]", grid=1)
def of_shared(x, v, old, f, T=None):
    own = script.shared(8, T)
    script.store(own, 0, script.load(x, 0, 8))
    script.store(old, 0, getattr(script, f)(own, script.load(v, 0, 8)))
    script.store(x, 0, script.load(own, 0, 8))


@script.kernel("inout x: T[8], v: T[8] -> old: T[8]", grid=1)
def of_shared_elements(x, v, old, f, T=None):
    own = script.shared(8, T)
    script.store(own, 0, script.load(x, 0, 8))
    for i in script.range(8):
        script.store(old, i, getattr(script, f)(own.at(i), script.load(v, i, ())))
    script.store(x, 0, script.load(own, 0, 8))


@pytest.mark.source("S2-002", "S2-003", "S2-004", "S2-016", "S2-019", "S2-017", "S2-018", "S2-020", "S2-025")
@pytest.mark.parametrize("kernel", [of_pointers, of_arrays, of_shared, of_shared_elements], ids=lambda k: k.name)
@pytest.mark.parametrize("f,dtype", CASES)
def test_elementwise(run, rng, kernel, f, dtype):
    if np.dtype(dtype).kind == "f":
        x, v = (rng.integers(-99, 99, 8) / np.array(4, dtype) for _ in range(2))
        x, v = x.astype(dtype), v.astype(dtype)
        if f == "atomicExch":
            x.view("u4")[:2], v.view("u4")[1:3] = 0x7FC00001, 0xFF800001  # bits are kept
    else:
        info = np.iinfo(dtype)
        x, v = (rng.integers(info.min, info.max, 8, dtype, endpoint=True) for _ in range(2))
        x[:5], v[:5] = (12, info.max, 0, 7, 3), (10, 1, 3, 3, 0)
    bits = f"u{x.itemsize}"
    expected = np.array([apply(f, k, w, dtype) for k, w in zip(x, v)], dtype) if f != "atomicExch" else v.copy()
    before = x.copy()
    assert np.array_equal(run(kernel, x, v, f=f).view(bits), before.view(bits))
    assert np.array_equal(x.view(bits), expected.view(bits))


@pytest.mark.source("S2-012", "S2-016", "S2-004")
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("shared", [False, True])
def test_compare_and_swap(run, dtype, shared):
    @script.kernel("inout x: T[8], c: T[8], v: T[8] -> old: T[8]", grid=1)
    def kernel(x, c, v, old, shared, T=None):
        compare, value = script.load(c, 0, 8), script.load(v, 0, 8)
        if shared:
            own = script.shared(8, T)
            script.store(own, 0, script.load(x, 0, 8))
            script.store(old, 0, script.atomicCAS(own, compare, value))
            script.store(x, 0, script.load(own, 0, 8))
        else:
            script.store(old, 0, script.atomicCAS(x.at(script.arange(8)), compare, value))

    x, c, v = np.array([0, 1, 0, 1, 2, 3, 4, 5], dtype), np.array([0, 0, 0, 0, 2, 2, 4, 4], dtype), np.arange(9, 17).astype(dtype)
    before = x.copy()
    expected = np.array([w if k == e else k for k, e, w in zip(x, c, v)], dtype)
    assert np.array_equal(run(kernel, x, c, v, shared=shared), before) and np.array_equal(x, expected)
    assert list(inspect.signature(script.atomicCAS).parameters) == ["address", "compare", "val"]


@pytest.mark.source("S2-001", "S2-016", *ROWS.values())
@pytest.mark.parametrize("f", FUNCTIONS)
def test_contended_by_blocks(run, f):
    @script.kernel("inout x: u32[1] -> old: u32[64]", grid=64)
    def contend(x, old, f):
        i = script.bid()
        value = script.uint32(5) if f in ("atomicInc", "atomicDec") else i.astype(script.uint32) + 1
        script.store(old, i, getattr(script, f)(x.at(0), value))

    x = np.array([3], "uint32")
    old = run(contend, x, f=f)
    values = [5 if f in ("atomicInc", "atomicDec") else i + 1 for i in range(64)]
    if f == "atomicExch":
        assert sorted([*old.tolist(), int(x[0])]) == sorted([3, *values])
        return
    total, history = 3, []
    for v in values:
        history.append(total)
        total = int(apply(f, total, v, "uint32"))
    assert x[0] == total  # of all orders: these functions commute with themselves
    assert 3 in old and (f not in ("atomicInc", "atomicDec") or sorted(old) == sorted(history))


@pytest.mark.source("S2-002", "S2-016")
def test_contended_in_a_block(run):
    @script.kernel("x: i32[64] -> bins: i32[4]", grid=1)
    def histogram(x, bins):
        own = script.shared(4, script.int32)
        script.store(own, 0, script.zeros(4, script.int32))
        for i in script.range(64):
            script.atomicAdd(own.at(script.load(x, i, ())), 1)
        script.store(bins, 0, script.load(own, 0, 4))

    x = np.arange(64, dtype="int32") % 7 % 4
    assert run(histogram, x).tolist() == np.bincount(x, minlength=4).tolist()


@pytest.mark.source("S2-010", "S2-011")
def test_counting(run):
    @script.kernel("inout x: u32[1], v: u32[1] -> old: u32[8]", grid=1)
    def count(x, v, old, f):
        for i in script.range(8):
            script.store(old, i, getattr(script, f)(x.at(0), script.load(v, 0, ())))

    def history(f, begin, v):
        return run(count, np.array([begin], "uint32"), np.array([v], "uint32"), f=f).tolist()

    assert history("atomicInc", 0, 3) == [0, 1, 2, 3, 0, 1, 2, 3]
    assert history("atomicInc", 7, 3)[:3] == [7, 0, 1]
    assert history("atomicInc", 0, 0) == [0] * 8
    assert history("atomicInc", 2**32 - 2, 2**32 - 1)[:3] == [2**32 - 2, 2**32 - 1, 0]
    assert history("atomicDec", 3, 3) == [3, 2, 1, 0, 3, 2, 1, 0]
    assert history("atomicDec", 7, 3)[:2] == [7, 3]
    assert history("atomicDec", 5, 0)[:3] == [5, 0, 0]


@pytest.mark.source("S2-017", "S2-018", "S2-019", "S2-021")
def test_types(built, refused):
    short = {"int32": "i32", "uint32": "u32", "int64": "i64", "uint64": "u64", "float32": "f32", "float64": "f64"}
    for f in (*FUNCTIONS, "atomicCAS"):
        for t in ("i8", "u16", *short.values()):
            types = []
            call = lambda x, y: types.append(getattr(script, f)(y.ptr, *((0, 1) if f == "atomicCAS" else (1,))))  # noqa: E731
            if t in [short[d] for d in TYPES.get(f, INTEGERS)] or (f, t) == ("atomicExch", "f64"):
                built(call, t, t)
                assert types[-1].dtype.name == t
            else:
                assert f"{f} of {t}" in refused("script.dtype", call, t, t).message


@pytest.mark.source("S2-021")
def test_inc_and_dec_compare_unsigned(run):
    x = np.full(8, 0x80000000, "uint32")
    run(of_pointers, x, np.ones(8, "uint32"), f="atomicInc")
    assert x.tolist() == [0] * 8
    for f in ("atomicInc", "atomicDec"):
        for wrong in ("int32", "uint64"):
            with pytest.raises(script.ScriptError, match="it takes u32"):
                of_pointers.specialize(f=f, T=wrong)


@pytest.mark.source("S2-022")
def test_compiled_for_the_least_target(ptx):
    """Every target has these functions: the least is 7.5, they needed 1.1 to 2.0."""
    for kernel in (of_pointers, of_shared):
        for f in ("atomicAdd", "atomicExch"):
            text = ptx(kernel.specialize(f=f, T="u64"), 75)
            assert ".target sm_75" in text and "atom." in text


@pytest.mark.source("S2-023", "S2-024", "S2-026")
@pytest.mark.parametrize("T,bits", [("f32", "u32"), ("f64", "u64")])
def test_float_add_by_compare_and_swap(run, T, bits):
    @script.kernel("inout words: B[1], inout native: T[1]", grid=64)
    def add(words, native, T, B):
        value = (script.bid() + 1).astype(T) * 0.5
        assumed = script.full((), 0, B)
        wanted = value.bitcast(B)
        while True:
            seen = script.atomicCAS(words.at(0), assumed, wanted)
            if seen == assumed:
                break
            assumed = seen
            wanted = (value + seen.bitcast(T)).bitcast(B)
        script.atomicAdd(native.at(0), value)

    dtype = {"f32": "float32", "f64": "float64"}[T]
    words, native = np.zeros(1, dtype), np.zeros(1, dtype)
    run(add, words.view(f"i{words.itemsize}"), native, T=T, B=bits)
    assert words[0] == native[0] == 64 * 65 / 4


@pytest.mark.source("S2-001", "S2-002")
def test_relaxed_on_the_device_or_in_the_block(built, ops):
    assert "atomic_rmw_tko relaxed device " in built(lambda x, y: script.atomicAdd(y.at(0), 1))
    assert "atomic_rmw_view_tko relaxed tl_blk " in built(lambda x, y: script.atomicAdd(script.shared(8, script.int32).at(0), 1))


def test_what_is_no_address(refused):
    for address in (lambda x, y: 3, lambda x, y: script.arange(4), lambda x, y: "x"):
        refused("script.type", lambda x, y: script.atomicAdd(address(x, y), 1))
    refused("script.const", lambda x, y: script.atomicAdd(x.at(0), 1))
    refused("script.shape", lambda x, y: script.atomicAdd(y, 1))
    refused("script.index", lambda x, y: script.atomicAdd(y.at(0, 0), 1))
    refused("script.narrowing", lambda x, y: script.atomicAdd(y.at(0), script.int64(1)))
