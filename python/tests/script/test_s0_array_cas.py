"""Array-style compare-and-swap: every rule of the document, against a scalar loop."""
import numpy as np
import pytest
from tilevm import script


def scalar_cas(array, indices, expected, desired):
    """What the operation does, one element after the other; gives the old values."""
    shape = np.broadcast_shapes(*(np.shape(i) for i in indices))
    indices = [np.broadcast_to(i, shape) for i in indices]
    expected, desired = np.broadcast_to(expected, shape), np.broadcast_to(desired, shape)
    old = np.empty(shape, array.dtype)
    for at in np.ndindex(shape):
        place = tuple(int(i[at]) for i in indices)
        if all(0 <= p < n for p, n in zip(place, array.shape)):
            old[at] = array[place]
            if array[place] == expected[at]:
                array[place] = desired[at]
        else:
            old[at] = expected[at]
    return old


@script.kernel("inout x: T[n], i: I[k], expected: T[k], desired: T[k] -> old: T[k]", grid=1)
def cas(x, i, expected, desired, old, T=None, I=None, K=4, CHECK=True):  # noqa: E741  a type variable of the signature
    at = script.load(i, 0, K)
    script.store(old, 0, script.atomic_cas(x, at, script.load(expected, 0, K), script.load(desired, 0, K), check_bounds=CHECK))


@pytest.mark.source("S0-001", "S0-007", "S0-008", "S0-009", "S0-022")
def test_example(run):
    @script.kernel("inout x: i32[n] -> old: i32[4]", grid=1)
    def kernel(x, old):
        indices = script.arange(4, dtype=script.int32)
        expected = script.full((4,), 0, dtype=script.int32)
        desired = script.full((4,), 42, dtype=script.int32)
        script.store(old, 0, script.atomic_cas(x, indices, expected, desired))

    x = np.array([0, 1, 0, 1], "int32")
    assert run(kernel, x).tolist() == [0, 1, 0, 1]
    assert x.tolist() == [42, 1, 42, 1]


@pytest.mark.source("S0-002")
@pytest.mark.parametrize("name", ["array", "indices", "expected", "desired"])
def test_positional_only(refused, name):
    names = ["array", "indices", "expected", "desired"]

    def call(x, y):
        values = dict(zip(names, (y, 0, 0, 1)))
        return script.atomic_cas(*(values[n] for n in names if n != name), **{name: values[name]})

    assert "atomic_cas(array, indices, expected, desired, /, *, check_bounds=True, memory_order=MemoryOrder.ACQ_REL" in \
        refused("script.arguments", call).fix


@pytest.mark.source("S0-003")
def test_by_name_only(refused):
    assert "too many positional arguments" in refused("script.arguments", lambda x, y: script.atomic_cas(y, 0, 0, 1, True)).message


@pytest.mark.source("S0-004", "S0-017", "S0-018")
def test_bounds_are_checked_by_default(run):
    x = np.array([77, 0, 1, 0, 1, 88], "int32")
    inner = x[1:5]
    old = run(cas, inner, np.array([0, 3, 4, -1], "int32"), np.array([0, 9, 5, 6], "int32"), np.array([42, 43, 44, 45], "int32"))
    assert old.tolist() == [0, 1, 5, 6]
    assert x.tolist() == [77, 42, 1, 0, 1, 88]


@pytest.mark.source("S0-005", "S0-006")
def test_default_order_and_scope(built, ops):
    assert "atomic_cas_tko acq_rel device " in ops(built(lambda x, y: script.atomic_cas(y, 0, 0, 1)), "atomic_cas_tko")[0]
    text = built(lambda x, y: script.atomic_cas(y, 0, 0, 1, memory_order=script.MemoryOrder.RELAXED, memory_scope=script.MemoryScope.SYS))
    assert "atomic_cas_tko relaxed sys " in ops(text, "atomic_cas_tko")[0]


@pytest.mark.source("S0-010")
def test_each_element_is_atomic(run):
    @script.kernel("inout counters: i32[4]", grid=64)
    def count(counters):
        i = script.bid() % 4
        old = script.int32(0)
        while True:
            seen = script.atomic_cas(counters, i, old, old + 1)
            if seen == old:
                break
            old = seen

    counters = np.zeros(4, "int32")
    run(count, counters)
    assert counters.tolist() == [16] * 4


@pytest.mark.source("S0-011")
def test_the_order_of_elements_is_open(run):
    x = np.array([0, 3], "int32")
    old = run(cas, x, np.array([0, 1, 0, 1], "int32"), np.array([0, 3, 0, 3], "int32"), np.array([7, 9, 7, 9], "int32"))
    assert sorted(old[[0, 2]]) == [0, 7] and sorted(old[[1, 3]]) == [3, 9]
    assert x.tolist() == [7, 9]


@pytest.mark.source("S0-012")
def test_indices_are_as_many_as_dimensions(refused):
    @script.kernel("inout a: i32[n], inout b: i32[n, m], inout c: i32[n, m, k]", grid=1)
    def three(a, b, c, which, count):
        script.atomic_cas((a, b, c)[which], (0,) * count, 0, 1)

    for rank in (1, 2, 3):
        three.specialize(which=rank - 1, count=rank)
        for count in {0, 1, 2, 3, 4} - {rank}:
            with pytest.raises(script.ScriptError) as e:
                three.specialize(which=rank - 1, count=count)
            assert e.value.code == "script.index" and e.value.line == three._file[1] + 2


@pytest.mark.source("S0-013")
@pytest.mark.parametrize("index", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_indices_are_integers(run, refused, index):
    x, i = np.array([0, 1, 0, 1], "int32"), np.arange(4, dtype=index)
    assert run(cas, x, i, np.zeros(4, "int32"), np.full(4, 42, "int32")).tolist() == [0, 1, 0, 1]
    assert x.tolist() == [42, 1, 42, 1]
    refused("script.index", lambda x, y: script.atomic_cas(y, script.zeros(4), 0, 1))
    refused("script.index", lambda x, y: script.atomic_cas(y, 0.5, 0, 1))


@pytest.mark.source("S0-014")
def test_indices_meet_in_one_shape(run, refused):
    @script.kernel("inout x: i32[m, n] -> old: i32[2, 4, 8]", grid=1)
    def kernel(x, old):
        i = (script.arange(2)[:, None, None] * 4) + script.arange(4)[:, None]
        old_values = script.atomic_cas(x, (i, script.arange(8)[None, None, :]), 1, 5)
        script.store(old, (0, 0, 0), old_values)

    x = np.arange(64, dtype="int32").reshape(8, 8) % 3
    expected = x.copy()
    i, j = np.arange(8).reshape(2, 4, 1), np.arange(8).reshape(1, 1, 8)
    wanted = scalar_cas(expected, (i, j), 1, 5)
    assert np.array_equal(run(kernel, x), wanted) and np.array_equal(x, expected)
    refused("script.shape", lambda x, y: script.atomic_cas(y, script.arange(4) + script.arange(8), 0, 1))

    @script.kernel("inout x: i32[m, n]", grid=1)
    def do_not_meet(x):
        script.atomic_cas(x, (script.arange(4), script.arange(8)), 0, 1)

    with pytest.raises(script.ScriptError, match=r"shapes \(4,\), \(8,\) do not meet"):
        do_not_meet.specialize()


@pytest.mark.source("S0-013")
def test_a_number_and_a_tile_as_indices(run):
    @script.kernel("inout x: i32[m, n] -> old: i32[4]", grid=1)
    def kernel(x, old):
        script.store(old, 0, script.atomic_cas(x, (1, script.arange(4)), 0, 9))

    x = np.array([[0, 0, 0, 0], [0, 1, 0, 1]], "int32")
    assert run(kernel, x).tolist() == [0, 1, 0, 1] and x.tolist() == [[0, 0, 0, 0], [9, 1, 9, 1]]


@pytest.mark.source("S0-015")
def test_one_dimension_takes_a_tile_alone(built):
    assert built(lambda x, y: script.atomic_cas(y, script.arange(4), 0, 1)) == built(lambda x, y: script.atomic_cas(y, (script.arange(4),), 0, 1))


@pytest.mark.source("S0-016")
def test_operands_meet_the_indices(run, refused):
    @script.kernel("inout x: i32[m, n], e: i32[4], d: i32[2, 4] -> old: i32[2, 4]", grid=1)
    def kernel(x, e, d, old):
        at = (script.arange(2)[:, None], script.arange(4)[None, :])
        script.store(old, (0, 0), script.atomic_cas(x, at, script.load(e, 0, 4), script.load(d, (0, 0), (2, 4))))

    x, e, d = np.array([[0, 1, 2, 3], [3, 2, 1, 0]], "int32"), np.array([0, 1, 1, 3], "int32"), np.arange(10, 18, dtype="int32").reshape(2, 4)
    expected = x.copy()
    wanted = scalar_cas(expected, (np.arange(2)[:, None], np.arange(4)[None]), e, d)
    assert np.array_equal(run(kernel, x, e, d), wanted) and np.array_equal(x, expected)
    assert "do not meet" in refused("script.shape", lambda x, y: script.atomic_cas(y, script.arange(4), script.zeros(2, script.int32), 1)).message
    refused("script.shape", lambda x, y: script.atomic_cas(y, script.arange(4), 0, script.zeros((2, 4), script.int32)))


@pytest.mark.source("S0-019")
@pytest.mark.parametrize("dtype,outside", [("int32", [-1, 4, 2**31 - 1]), ("int64", [-1, 4, 2**32]), ("uint32", [4, 2**31, 2**32 - 1]),
                                           ("uint64", [4, 2**31, 2**63])])
def test_outside_is_below_zero_and_at_the_size(run, dtype, outside):
    x = np.array([77, 0, 1, 0, 1, 88], "int32")
    old = run(cas, x[1:5], np.array([0, *outside], dtype), np.array([0, 5, 6, 7], "int32"), np.full(4, 42, "int32"))
    assert old.tolist() == [0, 5, 6, 7] and x.tolist() == [77, 42, 1, 0, 1, 88]


@pytest.mark.source("S0-020")
def test_unchecked(built, ops):
    text = built(lambda x, y: script.atomic_cas(y, script.arange(4), 0, 1, check_bounds=False))
    assert not ops(text, "cmpi") and ops(text, "atomic_cas_tko")[0].count("tile<4xi1>") == 0
    import tilevm

    x = np.zeros(4, "int32")
    with pytest.raises(tilevm.TrapError) as e:
        cas(x, np.array([0, 1, 4, 3], "int32"), x.copy(), x.copy(), CHECK=False, check="full")
    assert (e.value.code, e.value.file, e.value.array, e.value.index) == ("vm.out_of_bounds", __file__, "x", 4)
    assert e.value.line == cas._file[1] + 3


@pytest.mark.source("S0-021")
@pytest.mark.parametrize("m,n,k", [(1, 2, 2), (4, 2, 8), (2, 8, 1)])
def test_pseudocode(run, rng, m, n, k):
    @script.kernel("inout x: i32[r, c], a: i32[M, N], b: i32[M, K], e: i32[N, K], d: i32[N, K] -> old: i32[M, N, K]", grid=1)
    def kernel(x, a, b, e, d, old, M, N, K):
        ind0 = script.load(a, (0, 0), (M, N))[:, :, None]
        ind1 = script.load(b, (0, 0), (M, K))[:, None, :]
        script.store(old, (0, 0, 0), script.atomic_cas(x, (ind0, ind1), script.load(e, (0, 0), (N, K)), script.load(d, (0, 0), (N, K))))

    # Distinct targets: rows n * m of the array, one per (i, j); some lie outside.
    x = rng.integers(0, 3, (m * n, k + 1)).astype("int32")
    a = rng.permutation(m * n + 2)[:m * n].reshape(m, n).astype("int32") - 1
    b = np.stack([rng.permutation(k + 2)[:k] - 1 for _ in range(m)]).astype("int32")
    e, d = rng.integers(0, 3, (n, k)).astype("int32"), rng.integers(10, 99, (n, k)).astype("int32")
    expected = x.copy()
    wanted = scalar_cas(expected, (a[:, :, None], b[:, None, :]), e, d)
    assert np.array_equal(run(kernel, x, a, b, e, d, M=m, N=n, K=k), wanted)
    assert np.array_equal(x, expected)


@pytest.mark.source("S0-021")
def test_worked_broadcast(run):
    @script.kernel("inout x: i32[m, n], e: i32[2, 2], d: i32[2, 2] -> old: i32[1, 2, 2]", grid=1)
    def kernel(x, e, d, old):
        ind0, ind1 = script.arange(2).reshape(1, 2, 1), (script.arange(2) * 2).reshape(1, 1, 2)
        script.store(old, (0, 0, 0), script.atomic_cas(x, (ind0, ind1), script.load(e, (0, 0), (2, 2)), script.load(d, (0, 0), (2, 2))))

    x = np.array([[0, 5, 0], [7, 0, 0]], "int32")
    assert run(kernel, x, np.array([[0, 0], [7, 0]], "int32"), np.array([[10, 11], [12, 13]], "int32")).tolist() == [[[0, 0], [7, 0]]]
    assert x.tolist() == [[10, 5, 11], [12, 0, 13]]


@pytest.mark.parametrize("function,new", [("xchg", lambda k, v: v), ("add", lambda k, v: k + v), ("max", max), ("min", min),
                                          ("and", lambda k, v: k & v), ("or", lambda k, v: k | v), ("xor", lambda k, v: k ^ v)])
@pytest.mark.parametrize("dtype", ["int32", "uint64"])
def test_the_other_updates(run, rng, function, new, dtype):
    @script.kernel("inout x: T[n], i: i32[8], v: T[8] -> old: T[8]", grid=1)
    def kernel(x, i, v, old, f, T=None):
        at = script.load(i, 0, 8)
        before = getattr(script, f"atomic_{f}")(x, at, script.load(v, 0, 8))
        script.store(old, 0, script.where((at >= 0) & (at < x.shape[0]), before, 0))

    x = rng.integers(0, 100, 8).astype(dtype)
    i, v = np.array([3, -1, 0, 8, 7, 1, 2, 100], "int32"), rng.integers(0, 100, 8).astype(dtype)
    expected, wanted = x.copy(), np.zeros(8, dtype)
    for at, value, j in zip(i, v, range(8)):
        if 0 <= at < 8:
            wanted[j] = expected[at]
            expected[at] = new(int(expected[at]), int(value))
    assert np.array_equal(run(kernel, x, i, v, f=function), wanted) and np.array_equal(x, expected)
