"""The tile-space load: every rule of the document, against a scalar loop."""
import inspect
import itertools

import numpy as np
import pytest
import tilevm
from tilevm import script


def scalar_load(array, index, shape, order, padding=0):
    """The tile, element by element."""
    tile = np.empty(shape, array.dtype)
    for t in np.ndindex(*shape):
        at = [0] * array.ndim
        for k, axis in enumerate(order):
            at[axis] = index[k] * shape[k] + t[k]
        tile[t] = array[tuple(at)] if all(a < n for a, n in zip(at, array.shape)) else padding
    return tile


def loaded(run, array, index, shape, **options):
    """What script.load gives, from an array of constant shape."""
    sizes = ", ".join(map(str, array.shape))
    tile_sizes = ", ".join(map(str, shape)) if isinstance(shape, tuple) else str(shape)

    @script.kernel(f"x: T[{sizes}] -> y: T[{tile_sizes or 1}]", grid=1)
    def kernel(x, y, index, shape, options, T=None):
        tile = script.load(x, index, shape, **options)
        script.store(y, (0,) * max(tile.ndim, 1), tile)

    return run(kernel, array, index=index, shape=shape, options=options)


@pytest.mark.source("S4-001", "S4-002", "S4-003", "S4-004", "S4-005", "S4-006", "S4-007", "S4-008", "S4-009")
def test_signature():
    parameters = inspect.signature(script.load).parameters
    assert [(p.name, p.kind.name) for p in parameters.values()] == [
        ("array", "POSITIONAL_ONLY"), ("index", "POSITIONAL_OR_KEYWORD"), ("shape", "POSITIONAL_OR_KEYWORD"),
        *((n, "KEYWORD_ONLY") for n in ("order", "padding_mode", "latency", "allow_tma", "memory_order", "memory_scope"))]
    assert {p.name: p.default for p in parameters.values() if p.kind.name == "KEYWORD_ONLY"} == {
        "order": "C", "padding_mode": script.PaddingMode.UNDETERMINED, "latency": None, "allow_tma": None,
        "memory_order": script.MemoryOrder.WEAK, "memory_scope": script.MemoryScope.NONE}


@pytest.mark.source("S4-002", "S4-003")
def test_how_arguments_are_passed(built, refused):
    assert built(lambda x, y: script.load(x, index=(0,), shape=(4,))) == built(lambda x, y: script.load(x, 0, 4))
    refused("script.arguments", lambda x, y: script.load(array=x, index=0, shape=4))
    refused("script.arguments", lambda x, y: script.load(x, 0, 4, "C"))


@pytest.mark.source("S4-004", "S4-005", "S4-006", "S4-007", "S4-008", "S4-009")
def test_defaults_in_the_program(built, ops):
    text = built(lambda x, y: script.load(x, 0, 4))
    line, = ops(text, "load_view_tko")
    assert line.startswith("%tile, %token = load_view_tko weak %pview[") and "hints" not in line
    assert "padding_value" not in text and "dim_map" not in text


@pytest.mark.source("S4-010")
def test_tile_space(run):
    @script.kernel("x: f32[m, n] -> y: i32[2]", grid=1)
    def space(x, y, shape, order="C"):
        script.store(y, 0, script.cat(*(script.num_tiles(x, a, shape, order=order).reshape(1) for a in (0, 1))))

    for size, shape in itertools.product([(5, 3), (4, 4), (1, 9)], [(2, 2), (4, 1)]):
        x = np.zeros(size, "float32")
        wanted = [-(-n // t) for n, t in zip(size, shape)]
        assert run(space, x, shape=shape).tolist() == wanted
        assert run(space, x, shape=shape, order="F").tolist() == [-(-n // t) for n, t in zip(size[::-1], shape)]


@pytest.mark.source("S4-011", "S4-012", "S4-013")
@pytest.mark.parametrize("size,shape", [((8, 8), (2, 4)), ((5, 3), (2, 2)), ((16,), (4,)), ((9,), (4,)), ((3, 4, 5), (2, 2, 4))])
def test_every_tile(run, rng, size, shape):
    x = rng.random(size).astype("float32")
    for index in itertools.product(*(range(-(-n // t)) for n, t in zip(size, shape))):
        tile = loaded(run, x, index, shape, padding_mode=script.PaddingMode.ZERO)
        assert tile.shape == shape and np.array_equal(tile, scalar_load(x, index, shape, range(len(size))))


@pytest.mark.source("S4-013")
def test_worked_corner(run):
    x = np.arange(15, dtype="int32").reshape(5, 3)
    assert loaded(run, x, (2, 1), (2, 2), padding_mode=script.PaddingMode.ZERO).tolist() == [[14, 0], [0, 0]]


@pytest.mark.source("S4-014")
def test_wholly_outside_is_a_mistake():
    with pytest.raises(tilevm.TrapError) as e:
        loaded(lambda k, *a, **n: k(*a, check="full", **n), np.zeros(8, "float32"), (2,), (4,))
    assert (e.value.code, e.value.file) == ("vm.index_out_of_bounds", __file__)


@pytest.mark.source("S4-015")
def test_transposed(run, rng):
    x = rng.random((6, 8)).astype("float32")

    @script.kernel("x: f32[6, 8] -> y: f32[4, 2]", grid=1)
    def permuted(x, y):
        script.store(y, (0, 0), script.permute(script.load(x, (1, 1), (2, 4)), (1, 0)))

    assert np.array_equal(loaded(run, x, (1, 1), (4, 2), order=(1, 0)), run(permuted, x))
    assert np.array_equal(run(permuted, x), x[2:4, 4:8].T)


@pytest.mark.source("S4-016", "S4-017")
def test_order_words(built):
    @script.kernel("a: i32[n], b: i32[n, m], c: i32[n, m, k], d: i32[n, m, k, l]", grid=1)
    def four(a, b, c, d, rank, order):
        script.load((a, b, c, d)[rank - 1], (0,) * rank, (2, 4, 8, 2)[:rank], order=order)

    for rank in (1, 2, 3, 4):
        text = [four.specialize(rank=rank, order=o).module.disassemble() for o in ("C", tuple(range(rank)), "F", tuple(reversed(range(rank))))]
        assert text[0] == text[1] and text[2] == text[3] and (rank == 1 or text[0] != text[2])


@pytest.mark.source("S4-018")
def test_every_permutation(run, rng, refused):
    x = rng.integers(0, 99, (3, 4, 5)).astype("int32")
    for order in itertools.permutations(range(3)):
        assert np.array_equal(loaded(run, x, (1, 0, 0), (1, 2, 2), order=order), scalar_load(x, (1, 0, 0), (1, 2, 2), order))
    y = np.arange(24, dtype="int32").reshape(2, 3, 4)
    assert loaded(run, y, (1, 0, 1), (2, 2, 1), order=(2, 0, 1)).tolist() == [[[6], [18]], [[7], [19]]]
    for order in ((1,), (0, 0), "X", (-1,), 1.5):
        assert "permutation" in (lambda e: e.message + e.fix)(refused("script.order", lambda x, y: script.load(x, 0, 4, order=order)))


@pytest.mark.source("S4-019")
def test_index(run, built, refused, ops):
    @script.kernel("x: i32[n], i: T[1] -> y: i32[4]", grid=1)
    def kernel(x, i, y, T=None):
        script.store(y, 0, script.load(x, script.load(i, 0, ()), 4))

    for dtype in ("int8", "int32", "int64", "uint32"):
        assert run(kernel, np.arange(12, dtype="int32"), np.array([2], dtype)).tolist() == [8, 9, 10, 11]
    refused("script.index", lambda x, y: script.load(x, (0, 0), 4))
    refused("script.index", lambda x, y: script.load(x, (), 4))
    refused("script.index", lambda x, y: script.load(x, 0.0, 4))
    refused("script.index", lambda x, y: script.load(x, script.arange(4), 4))


@pytest.mark.source("S4-020")
def test_shape_is_constant(refused):
    refused("script.constant", lambda x, y: script.load(x, 0, script.bid()))
    refused("script.constant", lambda x, y: script.load(x, 0, 4.0))
    assert "use 4" in refused("script.shape", lambda x, y: script.load(x, 0, 3)).fix
    refused("script.shape", lambda x, y: script.load(x, 0, 0))
    refused("script.shape", lambda x, y: script.load(x, 0, (4, 4)))


@pytest.mark.source("S4-021", "S4-035")
def test_one_dimension(run, built):
    x = np.arange(10, dtype="int32")
    assert [loaded(run, x, (i,), 4, padding_mode=script.PaddingMode.ZERO).tolist() for i in range(3)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 0]]
    assert built(lambda x, y: script.load(x, 0, 4)) == built(lambda x, y: script.load(x, 0, (4,)))


@pytest.mark.source("S4-022")
def test_undetermined_padding():
    def once(check):
        return loaded(lambda k, *a, **n: k(*a, check=check, **n), np.arange(6, dtype="int32"), (1,), (4,))

    assert once("bounds")[:2].tolist() == [4, 5]
    with pytest.raises(tilevm.TrapError) as e:
        once("full")
    assert e.value.code == "vm.uninitialized"


@pytest.mark.source("S4-023", "S4-024", "S4-025", "S4-026", "S4-027")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("mode,value", [("ZERO", 0.0), ("NEG_ZERO", -0.0), ("NAN", np.nan), ("POS_INF", np.inf), ("NEG_INF", -np.inf)])
def test_padding(run, mode, value, dtype):
    tile = loaded(run, np.arange(6).astype(dtype), (1,), (4,), padding_mode=script.PaddingMode[mode])
    wanted = np.array([4, 5, value, value], dtype)
    assert np.array_equal(tile, wanted, equal_nan=True) and np.array_equal(np.signbit(tile[:2]), np.signbit(wanted[:2]))
    assert mode == "NAN" or np.signbit(tile).tolist() == np.signbit(wanted).tolist()


@pytest.mark.source("S4-023", "S4-024", "S4-025", "S4-026", "S4-027")
def test_padding_of_integers(run, refused):
    assert loaded(run, np.arange(6, dtype="int64"), (1,), (4,), padding_mode="zero").tolist() == [4, 5, 0, 0]
    for mode in ("NEG_ZERO", "NAN", "POS_INF", "NEG_INF"):
        assert mode in refused("script.padding", lambda x, y: script.load(x, 0, 4, padding_mode=script.PaddingMode[mode])).message
    refused("script.padding", lambda x, y: script.load(x, 0, 4, padding_mode="ones"))


@pytest.mark.source("S4-028")
def test_latency(run, built, refused):
    x = np.arange(8, dtype="float32")
    for latency in (1, 5, 10):
        assert loaded(run, x, (1,), 4, latency=latency).tolist() == [4, 5, 6, 7]
        assert f"latency = {latency}" in built(lambda x, y: script.load(x, 0, 4, latency=latency))
    for latency in (0, 11, True, 2.0):
        refused("script.hint", lambda x, y: script.load(x, 0, 4, latency=latency))


@pytest.mark.source("S4-029")
def test_allow_tma(run, built, refused):
    x = np.arange(8, dtype="float32")
    for allow in (True, False, None):
        assert loaded(run, x, (1,), 4, allow_tma=allow).tolist() == [4, 5, 6, 7]
    assert "allow_tma = false" in built(lambda x, y: script.load(x, 0, 4, allow_tma=False))
    refused("script.hint", lambda x, y: script.load(x, 0, 4, allow_tma=0))


@pytest.mark.source("S4-030", "S4-031", "S4-032", "S4-033", "S4-034")
def test_order_and_scope(run, built, refused, ops):
    order, scope = script.MemoryOrder, script.MemoryScope
    assert "load_view_tko weak %" in built(lambda x, y: script.load(x, 0, 4, memory_order=order.WEAK, memory_scope=scope.NONE))
    for o, (s, word) in itertools.product((order.RELAXED, order.ACQUIRE), ((scope.BLOCK, "tl_blk"), (scope.DEVICE, "device"), (scope.SYS, "sys"))):
        assert f"load_view_tko {o.value} {word} %" in built(lambda x, y: script.load(x, 0, 4, memory_order=o, memory_scope=s))
        assert loaded(run, np.arange(8, dtype="int32"), (1,), 4, memory_order=o, memory_scope=s).tolist() == [4, 5, 6, 7]
        assert refused("script.memory_scope", lambda x, y: script.load(x, 0, 4, memory_order=o)).fix
    for o in (order.RELEASE, order.ACQ_REL):
        e = refused("script.memory_order", lambda x, y: script.load(x, 0, 4, memory_order=o, memory_scope=scope.DEVICE))
        assert e.fix == "use MemoryOrder.WEAK, MemoryOrder.RELAXED, MemoryOrder.ACQUIRE"
    refused("script.memory_scope", lambda x, y: script.load(x, 0, 4, memory_scope=scope.DEVICE))


@pytest.mark.source("S4-036")
def test_example_order_f(run):
    x = np.arange(16, dtype="int32").reshape(4, 4)
    assert [loaded(run, x, (i, 0), (1, 4), order="F").tolist() for i in range(4)] == [
        [[0, 4, 8, 12]], [[1, 5, 9, 13]], [[2, 6, 10, 14]], [[3, 7, 11, 15]]]


@pytest.mark.source("S4-037")
def test_example_last_axes_transposed(run):
    x = np.arange(8, dtype="int32").reshape(2, 2, 2)
    assert [loaded(run, x, (i, 0, 0), (1, 2, 2), order=(0, 2, 1)).tolist() for i in range(2)] == [[[[0, 2], [1, 3]]], [[[4, 6], [5, 7]]]]


@pytest.mark.source("S4-038")
def test_example_scalars(run, capsys):
    @script.kernel("x: i32[n] -> y: i32[10]", grid=1)
    def kernel(x, y):
        for i in range(10):
            tile = script.load(x, (i,), shape=())
            assert tile.shape == ()
            script.print(tile, end=" ")
            script.store(y, i, tile + 100)
        script.print()

    assert run(kernel, np.arange(10, dtype="int32")).tolist() == list(range(100, 110))
    if run.device == "cpu":
        assert capsys.readouterr().out.split() == list("0123456789")
