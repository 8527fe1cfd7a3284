"""Loads and stores through tiles of pointers: the rules of CUDA Tile C++ that a Python frontend can have."""
import itertools

import numpy as np
import pytest
import tilevm
from tilevm import script
from tilevm.script import pointer

ORDERS = {"relaxed": "relaxed", "acquire": "acquire", "release": "release", "acq_rel": "acq_rel"}
SCOPES = {"block": "tl_blk", "device": "device", "sys": "sys"}
DATA, MASK, PADDING = np.array([2, 7, 5, 8], "int32"), np.array([1, 0, 0, 1], bool), np.array([-7, -3, -22, -100], "int32")


@script.kernel("x: T[n], i: i32[8] -> y: T[8]", grid=1)
def gather(x, i, y, how="load", T=None):
    p = x.ptr + script.load(i, 0, 8)
    loads = {"load": lambda: pointer.load(p), "latency": lambda: pointer.load(p, latency=10),
             "relaxed": lambda: pointer.atomic_load(p, "relaxed", "device"), "acquire": lambda: pointer.atomic_load(p, "acquire", "sys")}
    script.store(y, 0, loads[how]())


@pytest.mark.source("S1-001", "S1-002", "S1-008", "S1-011", "S1-026", "S1-031", "S1-032")
@pytest.mark.parametrize("how", ["load", "latency", "relaxed", "acquire"])
@pytest.mark.parametrize("dtype", ["int8", "int64", "float16", "float32", "bool"])
def test_gather(run, rng, how, dtype):
    x, i = rng.integers(0, 100, 50).astype(dtype), rng.permutation(50)[:8].astype("int32")
    assert np.array_equal(run(gather, x, i, how=how), np.array([x[j] for j in i]))


@pytest.mark.source("S1-003")
def test_example_gather(run):
    @script.kernel("x: i32[4, 4] -> y: i32[2, 2]", grid=1)
    def kernel(x, y):
        idx = (2 + 9 * script.arange(4).reshape(2, 2)) % 16
        script.store(y, (0, 0), pointer.load(x.ptr + idx))

    assert run(kernel, np.arange(16, dtype="int32").reshape(4, 4)).tolist() == [[2, 11], [4, 13]]


@pytest.mark.source("S1-004", "S1-005")
@pytest.mark.parametrize("what", ["void", "volatile i32", "const void"])
def test_a_pointer_leads_to_an_element_type(what):
    with pytest.raises(script.ScriptError) as e:
        @script.kernel(f"x: {what}[n]", grid=1)
        def kernel(x):
            pass
    assert e.value.code == "script.signature" and e.value.file == __file__


@pytest.mark.source("S1-004")
def test_what_is_no_pointer_cannot_be_loaded(refused):
    for body in (lambda x, y: pointer.load(x), lambda x, y: pointer.load(3), lambda x, y: pointer.load(script.arange(4)),
                 lambda x, y: pointer.store(script.arange(4), 1), lambda x, y: pointer.load_masked(3, True)):
        assert "no tile of pointers" in refused("script.type", body).message
    refused("script.space", lambda x, y: script.shared(4, script.int32).ptr)


@pytest.mark.source("S1-006")
def test_inputs_are_const(built, refused):
    built(lambda x, y: pointer.load(x.ptr))
    changes = {"store": (1,), "store_masked": (1, True), "atomic_store": (1, "relaxed"), "atomic_store_masked": (1, True, "relaxed"),
               "atomic_compare_exchange": (0, 1, "relaxed"), "atomic_compare_exchange_masked": (0, 1, True, "relaxed")}
    for f in ("and", "or", "xor", "max", "min", "add", "sub", "xchg"):
        changes[f"atomic_{f}"], changes[f"atomic_{f}_masked"] = (1, "relaxed"), (1, True, "relaxed")
    for name, args in changes.items():
        assert "`x`" in refused("script.const", lambda x, y: getattr(pointer, name)(x.ptr, *args)).message
        built(lambda x, y: getattr(pointer, name)(y.ptr, *args))


@pytest.mark.source("S1-007")
def test_type_of_a_load(built):
    types = []
    for body in (lambda x, y: types.append(pointer.load(x.ptr + script.arange(8).reshape(2, 4))), lambda x, y: types.append(pointer.load(y.ptr))):
        built(body, "u16", "f64")
    assert [(t.dtype.name, t.shape) for t in (types[0], types[-1])] == [("u16", (2, 4)), ("f64", ())]


@script.kernel("x: i32[4], m: M[4], p: P[4] -> y: i32[4]", grid=1)
def masked(x, m, p, y, how="plain", pad=True, order="relaxed", scope="device", M=None, P=None):
    ptrs, mask = x.ptr + script.arange(4), script.load(m, 0, 4)
    padding = script.load(p, 0, 4) if pad else None
    # What is masked off leads nowhere.
    ptrs = script.where(mask != 0, ptrs, ptrs + 1_000_000_000)
    r = pointer.load_masked(ptrs, mask, padding) if how == "plain" else pointer.atomic_load_masked(ptrs, mask, padding, order, scope)
    script.store(y, 0, r if pad else script.where(mask != 0, r, -5))


@pytest.mark.source("S1-010", "S1-013", "S1-029", "S1-030", "S1-033")
@pytest.mark.parametrize("how", ["plain", "atomic"])
def test_example_masked_load(run, how):
    assert run(masked, DATA, MASK, PADDING, how=how).tolist() == [2, -3, -22, 8]


@pytest.mark.source("S1-009", "S1-012", "S1-028")
@pytest.mark.parametrize("how", ["plain", "atomic"])
def test_masked_load_without_padding(run, how):
    assert run(masked, DATA, MASK, PADDING, how=how, pad=False).tolist() == [2, -5, -5, 8]

    @script.kernel("x: i32[4], m: bool[4] -> y: i32[4]", grid=1)
    def relies(x, m, y, how):
        ptrs, mask = x.ptr + script.arange(4), script.load(m, 0, 4)
        script.store(y, 0, pointer.load_masked(ptrs, mask) if how == "plain" else pointer.atomic_load_masked(ptrs, mask, order="relaxed"))

    with pytest.raises(tilevm.TrapError) as e:
        relies(DATA, MASK, how=how, check="full")
    assert e.value.code == "vm.uninitialized" and e.value.file == __file__


@pytest.mark.source("S1-012", "S1-013", "S1-018", "S1-020", "S1-021", "S1-022", "S1-031")
def test_orders_and_scopes_of_loads(built, refused, ops):
    for order, (scope, word) in itertools.product(("relaxed", "acquire"), SCOPES.items()):
        for body in (lambda x, y: pointer.atomic_load(x.ptr, order, scope),
                     lambda x, y: pointer.atomic_load(x.ptr, script.MemoryOrder(order), script.MemoryScope(word)),
                     lambda x, y: pointer.atomic_load(x.ptr, scope=scope, order=order),
                     lambda x, y: pointer.atomic_load_masked(x.ptr, True, 0, order, scope)):
            assert f"load_ptr_tko {order} {word} " in ops(built(body), "load_ptr_tko")[0]
    assert built(lambda x, y: pointer.atomic_load(x.ptr, "relaxed", "sys")) == built(lambda x, y: pointer.atomic_load(x.ptr, "relaxed"))
    assert "load_ptr_tko weak " in built(lambda x, y: pointer.load(x.ptr))
    for order in ("release", "acq_rel", "weak", "seq_cst", None):
        refused("script.memory_order", lambda x, y: pointer.atomic_load(x.ptr, order))
        refused("script.memory_order", lambda x, y: pointer.atomic_load_masked(x.ptr, True, 0, order))
    refused("script.memory_scope", lambda x, y: pointer.atomic_load(x.ptr, "relaxed", "none"))
    refused("script.memory_scope", lambda x, y: pointer.atomic_load(x.ptr, "relaxed", "warp"))
    refused("script.arguments", lambda x, y: pointer.atomic_load(x.ptr))


@script.kernel("x: i32[4] -> y: i32[4]", grid=1)
def mask_kinds(x, y, kind):
    lane = script.arange(4)
    mask = {"int": lambda: lane - 1, "float": lambda: (lane - 1).astype("f32") * 0.25, "scalar": lambda: script.bid() == 0, "number": lambda: 2,
            "row": lambda: (lane != 1).reshape(1, 4)}[kind]()
    ptrs = (x.ptr + lane).reshape(1, 4) if kind == "row" else x.ptr + lane
    script.store(y, 0, pointer.load_masked(ptrs, mask, -1).reshape(4))


@pytest.mark.source("S1-023")
@pytest.mark.parametrize("kind", ["int", "float", "scalar", "number", "row"])
def test_masks_become_bools_and_are_repeated(run, refused, kind):
    assert run(mask_kinds, DATA, kind=kind).tolist() == [2, 7 if kind in ("scalar", "number") else -1, 5, 8]
    refused("script.shape", lambda x, y: pointer.load_masked(x.ptr + script.arange(4), script.arange(8), 0))
    refused("script.shape", lambda x, y: pointer.load_masked(x.ptr, script.arange(4), 0))


@pytest.mark.source("S1-024", "S1-025")
def test_padding_is_repeated_and_converted(run, refused):
    @script.kernel("x: f32[2, 4] -> y: f32[2, 4]", grid=1)
    def kernel(x, y, row):
        ptrs = x.ptr + script.arange(8).reshape(2, 4)
        padding = script.arange(4).astype("f64").reshape(1, 4) + 0.5 if row else 3
        script.store(y, (0, 0), pointer.load_masked(ptrs, script.arange(2)[:, None], padding))

    x = np.arange(8, dtype="float32").reshape(2, 4)
    assert run(kernel, x, row=False).tolist() == [[3, 3, 3, 3], [4, 5, 6, 7]]
    assert run(kernel, x, row=True).tolist() == [[0.5, 1.5, 2.5, 3.5], [4, 5, 6, 7]]
    refused("script.dtype", lambda x, y: pointer.load_masked(x.ptr, True, x.ptr))
    refused("script.type", lambda x, y: pointer.load_masked(x.ptr, True, "0"))
    refused("script.shape", lambda x, y: pointer.load_masked(x.ptr, True, script.arange(4)))


@pytest.mark.source("S1-027", "S1-026", "S1-030")
def test_one_bad_active_pointer(rng):
    for how in ("load", "relaxed"):
        with pytest.raises(tilevm.TrapError) as e:
            gather(np.zeros(4, "float32"), np.array([0, 1, 2, 3, 0, 7, 1, 2], "int32"), how=how, check="full")
        assert (e.value.code, e.value.array, e.value.index, e.value.file) == ("vm.out_of_bounds", "x", 7, __file__)


@script.kernel("inout x: T[n], i: i32[4], v: V[4], m: bool[4]", grid=1)
def scatter(x, i, v, m, how, T=None, V=None):
    p, value, mask = x.ptr + script.load(i, 0, 4), script.load(v, 0, 4), script.load(m, 0, 4)
    if how == "store":
        pointer.store(p, value)
    elif how == "latency":
        pointer.store(p, value, latency=1)
    elif how == "masked":
        pointer.store_masked(script.where(mask, p, p + 1_000_000_000), value, mask)
    elif how == "atomic_masked":
        pointer.atomic_store_masked(script.where(mask, p, p + 1_000_000_000), value, mask, "release", "device")
    else:
        pointer.atomic_store(p, value, how, "sys")


@pytest.mark.source("S1-001", "S1-014", "S1-015", "S1-016", "S1-017", "S1-035", "S1-036", "S1-037", "S1-038")
@pytest.mark.parametrize("how", ["store", "latency", "masked", "atomic_masked", "relaxed", "release"])
def test_scatter(run, rng, how):
    x, i, v = rng.integers(0, 9, 20).astype("int64"), rng.permutation(20)[:4].astype("int32"), rng.integers(10, 99, 4).astype("int64")
    expected = x.copy()
    for at, value, active in zip(i, v, MASK):
        if active or "masked" not in how:
            expected[at] = value
    run(scatter, x, i, v, MASK, how=how)
    assert np.array_equal(x, expected)


@pytest.mark.source("S1-040")
@pytest.mark.parametrize("how", ["masked", "atomic_masked"])
def test_example_masked_store(run, how):
    x = np.arange(4, dtype="int32")
    run(scatter, x, np.arange(4, dtype="int32"), np.full(4, -1, "int32"), MASK, how=how)
    assert x.tolist() == [-1, 1, 2, -1]


@pytest.mark.source("S1-019", "S1-020", "S1-021", "S1-022", "S1-037")
def test_orders_and_scopes_of_stores(built, refused, ops):
    for order, (scope, word) in itertools.product(("relaxed", "release"), SCOPES.items()):
        for body in (lambda x, y: pointer.atomic_store(y.ptr, 1, order, scope),
                     lambda x, y: pointer.atomic_store_masked(y.ptr, 1, True, script.MemoryOrder(order), script.MemoryScope(word))):
            assert f"store_ptr_tko {order} {word} " in ops(built(body), "store_ptr_tko")[0]
    assert "store_ptr_tko relaxed sys " in built(lambda x, y: pointer.atomic_store(y.ptr, 1, "relaxed"))
    for order in ("acquire", "acq_rel", "weak"):
        refused("script.memory_order", lambda x, y: pointer.atomic_store(y.ptr, 1, order))
        refused("script.memory_order", lambda x, y: pointer.atomic_store_masked(y.ptr, 1, True, order))


@pytest.mark.source("S1-032", "S1-038")
def test_latency(built, refused):
    for latency in (1, 10):
        assert f"latency = {latency}" in built(lambda x, y: pointer.load(x.ptr, latency=latency))
        assert f"latency = {latency}" in built(lambda x, y: pointer.store(y.ptr, 1, latency=latency))
    for latency in (0, 11):
        for body in (lambda x, y: pointer.load(x.ptr, latency=latency), lambda x, y: pointer.load_masked(x.ptr, 1, latency=latency),
                     lambda x, y: pointer.atomic_load(x.ptr, "relaxed", latency=latency), lambda x, y: pointer.store(y.ptr, 1, latency=latency),
                     lambda x, y: pointer.store_masked(y.ptr, 1, 1, latency=latency)):
            refused("script.hint", body)


WIDENS = [("bool", "i8"), ("bool", "f32"), ("i8", "i32"), ("u8", "i16"), ("u8", "u64"), ("i32", "i64"), ("f16", "f32"), ("bf16", "f32"), ("f32", "f64")]
NARROWS = [("i64", "i32"), ("i32", "u32"), ("u32", "i32"), ("i8", "u64"), ("u64", "i64"), ("i32", "f32"), ("f32", "i32"), ("f64", "f32"),
           ("f32", "f16"), ("f16", "bf16"), ("i32", "bool"), ("f32", "bool")]


@pytest.mark.source("S1-034", "S1-047", "S1-057", "S1-062", "S1-067", "S1-072", "S1-077", "S1-082", "S1-090", "S1-098")
def test_values_are_converted_without_narrowing(built, refused):
    for source, into in WIDENS:
        value = lambda: script.ones(4, source)  # noqa: E731
        built(lambda x, y: pointer.store(y.ptr + script.arange(4), value()), into, into)
    for source, into in NARROWS:
        e = refused("script.narrowing", lambda x, y: pointer.store(y.ptr + script.arange(4), script.ones(4, source)), into, into)
        assert "astype" in e.fix and f"{source} where {into} is stored" in e.message
    for f in ("and", "or", "xor", "max", "min", "add", "sub", "xchg"):
        built(lambda x, y: getattr(pointer, f"atomic_{f}")(y.ptr, script.int32(1), "relaxed"), "i64", "i64")
        refused("script.narrowing", lambda x, y: getattr(pointer, f"atomic_{f}")(y.ptr, script.int64(1), "relaxed"))
        refused("script.narrowing", lambda x, y: getattr(pointer, f"atomic_{f}_masked")(y.ptr, script.float32(1), True, "relaxed"))
    built(lambda x, y: pointer.atomic_compare_exchange(y.ptr, script.int16(1), script.uint8(1), "relaxed"))
    for cmp, val in (("i64", "i32"), ("i32", "f32")):
        refused("script.narrowing", lambda x, y: pointer.atomic_compare_exchange(y.ptr, script.ones((), cmp), script.ones((), val), "relaxed"))


@pytest.mark.source("S1-034")
def test_numbers_must_fit(built, refused):
    built(lambda x, y: pointer.store(y.ptr, 255), "u8", "u8")
    built(lambda x, y: pointer.store(y.ptr, 2.0))
    for number, into in ((256, "u8"), (-1, "u8"), (0.5, "i32"), (1 << 31, "i32"), (float("nan"), "i32")):
        refused("script.number", lambda x, y: pointer.store(y.ptr, number), into, into)


@pytest.mark.source("S1-039")
def test_equal_pointers():
    x, i, v = np.zeros(4, "int32"), np.array([1, 1, 2, 1], "int32"), np.array([5, 6, 7, 8], "int32")
    with pytest.raises(tilevm.TrapError) as e:
        scatter(x.copy(), i, v, MASK, how="store", check="full")
    assert e.value.code == "vm.duplicate_store" and e.value.file == __file__
    scatter(x, i, v, MASK, how="relaxed", check="full")
    assert x[1] in (5, 6, 8) and x.tolist() == [0, x[1], 7, 0]


@pytest.mark.source("S1-011", "S1-016")
def test_message_passing(run):
    @script.kernel("inout flag: i32[1], inout data: i32[8], inout seen: i32[8]", grid=2)
    def message(flag, data, seen):
        if script.bid() == 0:
            pointer.store(data.ptr + script.arange(8), script.arange(8) + 40)
            pointer.atomic_store(flag.ptr, 1, "release", "device")
        else:
            while pointer.atomic_load(flag.ptr, "acquire", "device") == 0:
                pass
            pointer.store(seen.ptr + script.arange(8), pointer.load(data.ptr + script.arange(8)))

    seen = np.zeros(8, "int32")
    run(message, np.zeros(1, "int32"), np.zeros(8, "int32"), seen)
    assert seen.tolist() == list(range(40, 48))


@pytest.mark.source("S1-104")
def test_only_in_kernels():
    for name in pointer.__all__:
        with pytest.raises(script.ScriptError) as e:
            getattr(pointer, name)(None, None, None)
        assert (e.value.code, e.value.file) == ("script.outside", __file__) and f"pointer.{name}" in e.value.message
