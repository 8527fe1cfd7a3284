"""Tile atomics, elementwise and scatter, on shared and global memory: every rule of the document, against a scalar loop."""
import itertools

import numpy as np
import pytest
import tilevm
from tilevm import script

NEW = {"add": lambda k, v: k + v, "sub": lambda k, v: k - v, "min": min, "max": max, "exch": lambda k, v: v}
ELEMENTWISE = ("add", "sub", "min", "max", "exch", "cas")
SCATTER = ("add", "sub", "min", "max")
SPACES = ("shared", "global")
SEMS = ("relaxed", "acquire", "release", "acq_rel")
SCOPES = {"cta": "tl_blk", "cluster": "cluster", "gpu": "device", "sys": "sys"}


def row(space, f, scatter=False):
    first = (20 if space == "shared" else 24) if scatter else (8 if space == "shared" else 14)
    return pytest.mark.source(f"S3-{first + (SCATTER if scatter else ELEMENTWISE).index(f):03}")


def applied(f, k, v, dtype):
    with np.errstate(over="ignore"):
        return np.array(NEW[f](k, v)).astype(dtype)


# --- element by element

def elementwise(shape, space):
    """A kernel on arrays of a constant shape."""
    sizes = ", ".join(map(str, shape))
    at = (0,) * len(shape)

    @script.kernel(f"inout x: T[{sizes}], v: T[{sizes}], c: T[{sizes}] -> old: T[{sizes}]", grid=1)
    def kernel(x, v, c, old, f, output=True, options=None, T=None):
        values = script.load(v, at, shape)
        dst = x
        if space == "shared":
            dst = script.shared(shape, T)
            script.store(dst, at, script.load(x, at, shape))
        update = getattr(script.atomic, f"{space}_{f}")
        operands = dict(compare=script.load(c, at, shape), values=values) if f == "cas" else dict(values=values)
        if output is True:
            script.store(old, at, update(dst, **operands, **(options or {})))
        elif output == "register":
            register = script.register(shape, T)
            assert update(dst, **operands, output=register).shape == shape
            script.store(old, at, register.value)
        else:
            update(dst, **operands, **({"output": None} if output is None else {}))
            script.store(old, at, script.zeros(shape, T))
        if space == "shared":
            script.store(x, at, script.load(dst, at, shape))

    return kernel


@pytest.mark.source("S3-001", "S3-002", "S3-006", "S3-042", "S3-043", "S3-045", "S3-046", "S3-047", "S3-048")
@pytest.mark.parametrize("shape", [(8,), (4, 2), (2, 2, 4)])
@pytest.mark.parametrize("space,f", [pytest.param(s, f, marks=row(s, f)) for s in SPACES for f in ELEMENTWISE])
def test_elementwise(run, rng, space, f, shape):
    kernel = elementwise(shape, space)
    for dtype in ("int32", *(["uint32"] if f in ("min", "max", "add") else []), *(["float32"] if f in ("add", "sub", "exch") else []), "int64"):
        if dtype == "float32":
            x, v = (rng.integers(-9, 9, shape).astype(dtype) for _ in range(2))
        else:
            info = np.iinfo(dtype)
            x, v = (rng.integers(info.min, info.max, shape, dtype, endpoint=True) for _ in range(2))
            v.flat[0] = info.min
        c = np.where(rng.integers(0, 2, shape), x, x + 1).astype(dtype)
        expected = np.where(x == c, v, x) if f == "cas" else np.array([applied(f, k, w, dtype) for k, w in zip(x.flat, v.flat)], dtype).reshape(shape)
        for output in (True, "register", "unused", *([] if f in ("exch", "cas") else [None])):
            y = x.copy()
            old = run(kernel, y, v, c, f=f, output=output)
            assert np.array_equal(y, expected), (dtype, output)
            assert np.array_equal(old, x if output in (True, "register") else np.zeros_like(x)), (dtype, output)


@pytest.mark.source("S3-013", "S3-019")
@pytest.mark.parametrize("space", SPACES)
def test_worked_cas(run, space):
    x = np.array([0, 1, 0, 1], "int32")
    old = run(elementwise((4,), space), x, np.full(4, 9, "int32"), np.zeros(4, "int32"), f="cas")
    assert old.tolist() == [0, 1, 0, 1] and x.tolist() == [9, 1, 9, 1]


@pytest.mark.source("S3-003")
def test_one_shape_no_repetition(refused):
    ones = lambda *shape: script.ones(shape, script.int32)  # noqa: E731
    for f, shape in itertools.product(ELEMENTWISE, [(1, 4), (4,), (2, 1), (2, 8), ()]):
        def body(x, y):
            own = script.shared((2, 4), script.int32)
            extra = {"compare": ones(*shape)} if f == "cas" else {}
            getattr(script.atomic, f"shared_{f}")(own, values=ones(*shape), **extra)

        assert "the shapes are equal" in refused("script.shape", lambda x, y: body(x, y)).fix
    refused("script.shape", lambda x, y: script.atomic.shared_cas(script.shared(4, script.int32), ones(2), ones(4)))
    refused("script.type", lambda x, y: script.atomic.shared_add(script.shared(4, script.int32), 1))
    refused("script.dtype", lambda x, y: script.atomic.shared_add(script.shared(4, script.int32), script.ones(4, script.int64)))


def test_a_tile_of_a_larger_array(run):
    @script.kernel("inout x: i32[n] -> old: i32[4]", grid=1)
    def kernel(x, old):
        script.store(old, 0, script.atomic.global_add(script.tile(x, 1, 4), script.arange(4)))

    x = np.arange(12, dtype="int32")
    assert run(kernel, x).tolist() == [4, 5, 6, 7] and x.tolist() == [0, 1, 2, 3, 4, 6, 8, 10, 8, 9, 10, 11]


@pytest.mark.source("S3-006", "S3-007")
def test_families():
    assert {n for n in script.atomic.__all__ if "scatter" not in n} == {f"{s}_{f}" for s in SPACES for f in ELEMENTWISE}
    assert {n for n in script.atomic.__all__ if "scatter" in n} == {f"{s}_scatter_{f}" for s in SPACES for f in SCATTER}
    for name in ("shared_scatter_exch", "global_scatter_cas", "shared_mul"):
        assert not hasattr(script.atomic, name)


@pytest.mark.parametrize("space,f", [pytest.param(s, f, marks=row(s, f)) for s in SPACES for f in ELEMENTWISE if (s, f) != ("shared", "cas")])
def test_contended(run, space, f):
    """Blocks on global memory, rounds of one block on shared memory."""
    @script.kernel("inout x: i32[4] -> old: i32[16, 4]", grid="blocks")
    def contend(x, old, f, blocks, space):
        dst = x
        if space == "shared":
            dst = script.shared(4, script.int32)
            script.store(dst, 0, script.load(x, 0, 4))
        for round in script.range(16 // blocks):
            i = script.bid() + round
            values = script.arange(4) + i + 1
            update = getattr(script.atomic, f"{space}_{f}")
            before = update(dst, script.zeros(4, script.int32), values) if f == "cas" else update(dst, values)
            script.scatter(old, (i, script.arange(4)), before)
        if space == "shared":
            script.store(x, 0, script.load(dst, 0, 4))

    x = np.zeros(4, "int32")
    old = run(contend, x, f=f, blocks=1 if space == "shared" else 16, space=space)
    for lane in range(4):
        values = [lane + i + 1 for i in range(16)]
        if f in ("exch", "cas"):
            assert sorted([*old[:, lane], x[lane]]) == sorted([0, *values]) if f == "exch" else x[lane] in values
        else:
            total = 0
            for v in values:
                total = NEW[f](total, v)
            assert x[lane] == total and 0 in old[:, lane]


# --- scatter

def scattered(f, dst, dim, indices, values):
    """What a scatter does, one element after the other; f "store" stores."""
    for at in np.ndindex(indices.shape):
        place = list(at)
        place[dim] = int(indices[at])
        if 0 <= place[dim] < dst.shape[dim]:
            place = tuple(place)
            dst[place] = values[at] if f == "store" else applied(f, dst[place], values[at], dst.dtype)


def scatter(dst_shape, shape, space):
    sizes, dst_sizes = ", ".join(map(str, shape)), ", ".join(map(str, dst_shape))
    at = (0,) * len(shape)

    @script.kernel(f"inout x: T[{dst_sizes}], i: i32[{sizes}], v: T[{sizes}] -> old: T[{sizes}]", grid=1)
    def kernel(x, i, v, old, f, dim, output=True, check_bounds=False, T=None):
        indices, values = script.load(i, at, shape), script.load(v, at, shape)
        dst = x
        if space == "shared":
            dst = script.shared(dst_shape, T)
            script.store(dst, at, script.load(x, at, dst_shape))
        update = getattr(script.atomic, f"{space}_scatter_{f}") if f != "store" else getattr(script, f"store_{space}_scatter")
        more = {"check_bounds": True} if check_bounds else {}
        if output is True and f != "store":
            script.store(old, at, update(dst, dim, indices, values, **more))
        else:
            update(dst, dim=dim, indices=indices, values=values, **more)
            script.store(old, at, script.zeros(shape, T))
        if space == "shared":
            script.store(x, at, script.load(dst, at, dst_shape))

    return kernel


SPACE_AND_SCATTER = [pytest.param(s, f, marks=row(s, f, True)) for s in SPACES for f in SCATTER]


@pytest.mark.source("S3-004", "S3-005", "S3-042", "S3-043")
@pytest.mark.parametrize("space,f", SPACE_AND_SCATTER)
@pytest.mark.parametrize("dst,shape,dim", [((4,), (8,), 0), ((4, 2), (8, 2), 0), ((2, 4), (2, 8), 1), ((2, 4, 2), (2, 4, 8), 2), ((2, 4, 2), (2, 8, 2), 1),
                                           ((2, 4, 2), (4, 4, 2), 0)])
def test_scatter(run, rng, space, f, dst, shape, dim):
    x, v = rng.integers(-50, 50, dst).astype("int32"), rng.integers(-50, 50, shape).astype("int32")
    i = rng.integers(0, dst[dim], shape).astype("int32")
    expected = x.copy()
    scattered(f, expected, dim, i, v)
    for output in (True, False):
        y = x.copy()
        old = run(scatter(dst, shape, space), y, i, v, f=f, dim=dim, output=output)
        assert np.array_equal(y, expected)
        if output:  # the old values are those of some order: the sets of intermediate values begin with what was there
            for place in {tuple(int(i[at]) if d == dim else at[d] for d in range(len(at))) for at in np.ndindex(shape)}:
                assert x[place] in [old[at] for at in np.ndindex(shape) if all((int(i[at]) if d == dim else at[d]) == place[d] for d in range(len(at)))]


@pytest.mark.source("S3-004", "S3-005", "S3-020", "S3-024", "S3-052")
@pytest.mark.parametrize("space", SPACES)
def test_worked_scatters(run, space):
    bins, ones = np.array([1, 3, 1, 0, 1, 3, 2, 1], "int32"), np.ones(8, "int32")
    for output in (True, False):
        hist = np.zeros(4, "int32")
        old = run(scatter((4,), (8,), space), hist, bins, ones, f="add", dim=0, output=output)
        assert hist.tolist() == [1, 4, 1, 2]
        assert not output or sorted(old[bins == 1]) == [0, 1, 2, 3]
    x = np.full((2, 4), 10, "int32")
    run(scatter((2, 4), (2, 2), space), x, np.array([[0, 0], [3, 1]], "int32"), np.array([[1, 2], [3, 4]], "int32"), f="sub", dim=1)
    assert x.tolist() == [[7, 10, 10, 10], [10, 6, 10, 7]]
    for f, wanted in (("max", [5, 5, 9, 5]), ("min", [4, 5, 3, 5])):
        x = np.full(4, 5, "int32")
        run(scatter((4,), (4,), space), x, np.array([2, 2, 0, 2], "int32"), np.array([9, 3, 4, 7], "int32"), f=f, dim=0)
        assert x.tolist() == wanted


@pytest.mark.source("S3-024", "S3-025", "S3-026", "S3-027")
@pytest.mark.parametrize("f", SCATTER)
def test_contended_scatter(run, f):
    @script.kernel("inout x: i32[4]", grid=32)
    def contend(x, f):
        getattr(script.atomic, f"global_scatter_{f}")(x, 0, script.arange(8) % 4, script.arange(8) + script.bid())

    x = np.full(4, 3, "int32")
    expected = x.copy()
    for block in range(32):
        scattered(f, expected, 0, np.arange(8) % 4, np.arange(8) + block)
    run(contend, x, f=f)
    assert np.array_equal(x, expected)


@pytest.mark.source("S3-005")
def test_an_index_outside(run):
    x, v = np.zeros(4, "int32"), np.ones(8, "int32")
    i = np.array([1, 3, 1, 0, 1, -1, 2, 4], "int32")
    for space, f in itertools.product(SPACES, ("add", "store")):
        kernel = scatter((4,), (8,), space)
        run(kernel, y := x.copy(), i, v, f=f, dim=0, output=False, check_bounds=True)
        assert y.tolist() == ([1, 3, 1, 1] if f == "add" else [1, 1, 1, 1])
        with pytest.raises(tilevm.TrapError) as e:
            kernel(x.copy(), i, v, f=f, dim=0, output=False, check="full")
        assert (e.value.code, e.value.file) == ("vm.out_of_bounds", __file__)


@pytest.mark.source("S3-004", "S3-007", "S3-049")
@pytest.mark.parametrize("scatter_into", [script.atomic.shared_scatter_add, script.store_shared_scatter], ids=lambda f: f.__name__)
def test_shapes_of_scatters(refused, scatter_into):
    def call(indices, values, dim=0, shape=(4, 2), dtype=script.int32):
        def body(x, y):
            scatter_into(script.shared(shape, script.int32), dim=dim, indices=script.zeros(indices, script.int32), values=script.zeros(values, dtype))

        return body

    for code, body in [("script.shape", call((8, 2), (4, 2))), ("script.shape", call((8,), (8,))), ("script.shape", call((8, 4), (8, 4))),
                       ("script.axis", call((8, 2), (8, 2), dim=2)), ("script.axis", call((8, 2), (8, 2), dim=-1)),
                       ("script.axis", call((8, 2), (8, 2), dim=None)),
                       ("script.dtype", call((8, 2), (8, 2), dtype=script.float32))]:
        refused(code, body)
    refused("script.index", lambda x, y: scatter_into(script.shared(4, script.int32), dim=0, indices=script.zeros(4), values=script.zeros(4, script.int32)))


# --- words

CALLS = {
    **{f"{s}_{f}": (lambda s, f: lambda d, **k: getattr(script.atomic, f"{s}_{f}")(d, script.ones(4, script.int32), **k))(s, f)
       for s in SPACES for f in ELEMENTWISE if f != "cas"},
    **{f"{s}_cas": (lambda s: lambda d, **k: getattr(script.atomic, f"{s}_cas")(d, script.ones(4, script.int32), script.ones(4, script.int32), **k))(s)
       for s in SPACES},
    **{f"{s}_scatter_{f}": (lambda s, f: lambda d, **k: getattr(script.atomic, f"{s}_scatter_{f}")(
        d, 0, script.arange(4), script.ones(4, script.int32), **k))(s, f)
       for s in SPACES for f in SCATTER},
}


@script.kernel("inout x: i32[4]", grid=1)
def word(x, name, call, options):
    call(script.shared(4, script.int32) if name.startswith("shared") else x, **options)


def line(name, **options):
    text = word.specialize(name=name, call=CALLS[name], options=options).module.disassemble()
    return next(part for part in text.splitlines() if "atomic_" in part)


@pytest.mark.source("S3-028", "S3-029", "S3-030", "S3-031", "S3-033", "S3-034", "S3-035", "S3-036", "S3-037", "S3-040")
@pytest.mark.parametrize("name", CALLS)
def test_sem_and_scope(name):
    for sem, (scope, spelled) in itertools.product(SEMS, SCOPES.items()):
        assert f"_tko {sem} {spelled} " in line(name, sem=sem, scope=scope)
    for options, code in [({"sem": s}, "script.sem") for s in ("weak", "seq_cst", None, "")] + \
                         [({"scope": s}, "script.memory_scope") for s in ("device", "block", "warp", None)]:
        with pytest.raises(script.ScriptError) as e:
            line(name, **options)
        assert e.value.code == code and e.value.fix and e.value.file == __file__


@pytest.mark.source("S3-032", "S3-038", "S3-039")
@pytest.mark.parametrize("name", CALLS)
def test_defaults(name):
    assert f"_tko relaxed {'tl_blk' if name.startswith('shared') else 'device'} " in line(name)


@pytest.mark.source("S3-028", "S3-029", "S3-030", "S3-031")
@pytest.mark.parametrize("write,read", [("release", "acquire"), ("acq_rel", "acq_rel")])
def test_message_passing(run, write, read):
    @script.kernel("inout flag: i32[1], inout data: i32[8], inout seen: i32[8]", grid=2)
    def message(flag, data, seen, write, read):
        if script.bid() == 0:
            script.store(data, 0, script.arange(8) + 40)
            script.atomic.global_exch(flag, script.ones(1, script.int32), sem=write)
        else:
            while script.max(script.atomic.global_add(flag, script.zeros(1, script.int32), sem=read)) == 0:
                pass
            script.store(seen, 0, script.load(data, 0, 8))

    seen = np.zeros(8, "int32")
    run(message, np.zeros(1, "int32"), np.zeros(8, "int32"), seen, write=write, read=read)
    assert seen.tolist() == list(range(40, 48))


@pytest.mark.source("S3-042", "S3-045")
def test_output(refused):
    def own():
        return script.shared(4, script.int32)

    ones = lambda: script.ones(4, script.int32)  # noqa: E731
    refused("script.output", lambda x, y: script.atomic.shared_exch(own(), ones(), output=None))
    refused("script.output", lambda x, y: script.atomic.shared_cas(own(), ones(), ones(), output=None))
    refused("script.output", lambda x, y: script.atomic.shared_add(own(), ones(), output=ones()))
    refused("script.output", lambda x, y: script.atomic.shared_add(own(), ones(), output=script.register(8, script.int32)))
    refused("script.output", lambda x, y: script.atomic.shared_scatter_add(own(), 0, ones(), ones(), output=script.register(4, script.int64)))
    refused("script.unset", lambda x, y: script.register(4, script.int32).value)


@pytest.mark.source("S3-047", "S3-048")
def test_element_types(built, refused):
    for t in ("i32", "u32", "i64", "u64", "f32", "f64", "f16", "i8", "i16", "bool"):
        for f in (*ELEMENTWISE, *(f"scatter_{g}" for g in SCATTER)):
            function = f.rpartition("_")[2]
            takes = (t in ("i32", "u32", "i64", "u64") or t in ("f32", "f64") and function in ("add", "sub", "exch", "cas")
                     or t == "f16" and function in ("add", "sub"))

            def body(x, y):
                values = script.ones(4, t)
                first = (0, script.arange(4)) if "scatter" in f else (values,) if f == "cas" else ()
                getattr(script.atomic, f"shared_{f}")(script.shared(4, t), *first, values)

            if takes:
                built(lambda x, y: body(x, y), t, t)
            else:
                refused("script.dtype", lambda x, y: body(x, y), t, t)


@pytest.mark.source("S3-001", "S3-002")
def test_the_space_is_that_of_the_array(refused):
    refused("script.space", lambda x, y: script.atomic.global_add(script.shared(4, script.int32), script.ones(4, script.int32)))
    refused("script.space", lambda x, y: script.atomic.shared_add(script.tile(y, 0, 4), script.ones(4, script.int32)))
    refused("script.space", lambda x, y: script.atomic.shared_scatter_add(y, 0, script.arange(4), script.ones(4, script.int32)))
    refused("script.shape", lambda x, y: script.atomic.global_add(y, script.ones(4, script.int32)))
    refused("script.const", lambda x, y: script.atomic.global_add(script.tile(x, 0, 4), script.ones(4, script.int32)))
    refused("script.type", lambda x, y: script.atomic.shared_add(3, script.ones(4, script.int32)))


# --- the scatter that is no atomic

@pytest.mark.source("S3-049")
@pytest.mark.parametrize("space", SPACES)
def test_store_scatter(run, rng, space):
    x = np.zeros((4, 2), "int32")
    run(scatter((4, 2), (4, 2), space), x, np.array([[3, 0], [2, 1], [1, 2], [0, 3]], "int32"), np.arange(1, 9, dtype="int32").reshape(4, 2), f="store", dim=0)
    assert x.tolist() == [[7, 2], [5, 4], [3, 6], [1, 8]]
    y, v = np.zeros((2, 8), "int32"), rng.integers(0, 99, (2, 4)).astype("int32")
    i = np.stack([rng.permutation(8)[:4] for _ in range(2)]).astype("int32")
    expected = y.copy()
    scattered("store", expected, 1, i, v)
    run(scatter((2, 8), (2, 4), space), y, i, v, f="store", dim=1)
    assert np.array_equal(y, expected)


@pytest.mark.source("S3-050")
@pytest.mark.parametrize("space", SPACES)
def test_store_scatter_with_equal_places(run, space):
    x, i, v = np.zeros(4, "int32"), np.array([1, 1, 2, 1], "int32"), np.array([0x1111111, 0x2222222, 7, 0x4444444], "int32")
    run(scatter((4,), (4,), space), x, i, v, f="store", dim=0)
    assert x[1] in v[i == 1] and x.tolist() == [0, x[1], 7, 0]


# --- the document's examples

@pytest.mark.source("S3-051")
def test_example_shared_add(run):
    x, v = np.array([5, 6, 7, 8], "int32"), np.ones(4, "int32")
    run(elementwise((4,), "shared"), x, v, v, f="add", output="unused")
    assert x.tolist() == [6, 7, 8, 9]


@pytest.mark.source("S3-053")
def test_example_lock(run, monkeypatch):
    @script.kernel("inout lock: i32[1], inout count: i32[1] -> won: i32[n]", grid="n")
    def spin(lock, count, won, n=16):
        zero, one = script.zeros((), script.int32), script.ones((), script.int32)
        first = script.atomic.global_cas(lock, compare=zero, values=one, sem="acquire")
        if first == 0:
            script.store(won, script.bid(), 1)
        else:
            script.store(won, script.bid(), 0)
            while True:
                old = script.atomic.global_cas(lock, compare=zero, values=one, sem="acquire")
                if old == 0:
                    break
        script.store(count, 0, script.load(count, 0, ()) + 1)
        script.atomic.global_exch(lock, zero, sem="release")

    for order in ("linear", "reverse", "random:1"):
        monkeypatch.setenv("TILEVM_ORDER", order)  # which blocks win depends on it
        count = np.zeros(1, "int32")
        won = run(spin, np.zeros(1, "int32"), count)
        assert count[0] == 16 and won.sum() >= 1
    monkeypatch.delenv("TILEVM_ORDER")

    @script.kernel("x: i32[1] -> winners: i32[1]", grid=1)
    def one_winner(x, winners):
        lock = script.shared(1, script.int32)
        script.store(lock, 0, script.zeros(1, script.int32))
        count = 0
        zero, one = script.zeros((), script.int32), script.ones((), script.int32)
        for _ in script.range(8):
            old = script.atomic.shared_cas(lock, compare=zero, values=one)
            if old == 0:
                count = count + 1
        script.store(winners, 0, count)

    assert run(one_winner, np.zeros(1, "int32")).tolist() == [1]


# --- generated code

@script.kernel("inout x: T[256], v: T[256] -> old: T[256]", grid=1)
def in_code(x, v, old, f, used, space="global", sem="relaxed", scope="gpu", T="i32"):
    dst, values = x, script.load(v, 0, 256)
    if space == "shared":
        dst = script.shared(256, T)
        script.store(dst, 0, script.load(x, 0, 256))
    update = getattr(script.atomic, f"{space}_{f}")
    args = (values, values) if f == "cas" else (0, script.arange(256) ^ 1, values) if "scatter" in f else (values,)
    before = update(dst, *args, sem=sem, scope=scope)
    script.store(old, 0, before if used else values)
    if space == "shared":
        script.store(x, 0, script.load(dst, 0, 256))


@pytest.mark.source("S3-041", "S3-043", "S3-044", "S3-045", "S3-046", "S3-051", "S3-052", "S3-053")
def test_compiled_instructions(ptx):
    """Scope, space, function and type; `red` where nobody looks at the old value; two updates of a thread are ordered by fences around them."""
    for f, function, type in (("add", "add", "u32"), ("min", "min", "s32"), ("scatter_add", "add", "u32"), ("scatter_max", "max", "s32")):
        for sem, scope in (("relaxed", "gpu"), ("release", "sys"), ("relaxed", "cta")):
            used = ptx(in_code.specialize(f=f, used=True, sem=sem, scope=scope))
            assert f"atom.relaxed.{scope}.global.{function}.{type}" in used
            assert (f"fence.acq_rel.{scope};" in used) == (sem != "relaxed")
            unused = ptx(in_code.specialize(f=f, used=False, sem=sem, scope=scope))
            assert f"red.relaxed.{scope}.global.{function}.{type}" in unused and "atom." not in unused
    for sem in ("acquire", "acq_rel"):
        ordered = ptx(in_code.specialize(f="add", used=False, sem=sem))
        assert "atom.relaxed.gpu.global.add.u32" in ordered and "fence.acq_rel.gpu;" in ordered
    for f, word in (("exch", "exch"), ("cas", "cas")):
        assert f"atom.relaxed.gpu.global.{word}.b32" in ptx(in_code.specialize(f=f, used=False))
    sub = ptx(in_code.specialize(f="sub", used=True))
    assert "atom.relaxed.gpu.global.add.u32" in sub and ("neg.s32" in sub or "sub.s32" in sub)
    assert "cluster" in ptx(in_code.specialize(f="add", used=True, scope="cluster"))


@pytest.mark.source("S3-008", "S3-035", "S3-041", "S3-044")
def test_compiled_instructions_on_shared_memory(ptx):
    text = ptx(in_code.specialize(f="scatter_add", used=True, space="shared", scope="cta"))
    assert "atom.relaxed.cta.shared.add.u32" in text
