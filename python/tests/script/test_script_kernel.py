"""Kernels as objects: signatures, constants, files, launches."""
import threading

import numpy as np
import pytest
import tilevm
from tilevm import script


@script.kernel("a: T[n], b: T[n], scale: f32 = 1.5 -> c: T[n]", grid="ceildiv(n, BLOCK)")
def axpy(a, b, scale, c, BLOCK=64, T=None):
    """c = a + scale * b."""
    i = script.bid()
    script.store(c, i, (script.load(a, i, BLOCK) + scale * script.load(b, i, BLOCK)).astype(T))


def test_calls(run):
    a, b = np.arange(100, dtype="float32"), np.ones(100, "float32")
    assert np.array_equal(run(axpy, a, b), a + 1.5) and np.array_equal(run(axpy, a, b, 2.0), a + 2)
    assert np.array_equal(run(axpy, a=a, b=b, scale=0.5, BLOCK=16), a + 0.5)
    out = np.zeros(100, "float32")
    assert run(axpy, a, b, out=out) is out and np.array_equal(out, a + 1.5)
    launch = axpy.prepare(a, b, out=out)
    a += 1
    assert launch() is out and np.array_equal(out, a + 1.5)


def test_element_types_follow_from_the_arrays(run):
    for dtype in ("float16", "float32", "float64"):
        assert run(axpy, np.ones(8, dtype), np.ones(8, dtype)).dtype == dtype
    torch = pytest.importorskip("torch")
    assert axpy(torch.ones(8, dtype=torch.bfloat16), torch.ones(8, dtype=torch.bfloat16)).dtype is torch.bfloat16


def test_unsigned_outputs_are_unsigned(run):
    @script.kernel("x: u32[n] -> y: u32[n], z: i32[n]", grid=1)
    def kernel(x, y, z):
        v = script.load(x, 0, 4)
        script.store(y, 0, v)
        script.store(z, 0, v.astype(script.int32))

    x = np.array([1, 2**32 - 1, 0, 5], "uint32")
    y, z = run(kernel, x)
    assert (y.dtype, z.dtype) == (np.uint32, np.int32) and np.array_equal(x, y) and z[1] == -1
    given = np.zeros(4, "int32")
    y, z = run(kernel, x, out=[given, None])
    assert y is given and given[1] == -1
    torch = pytest.importorskip("torch")
    y, _ = kernel(torch.from_numpy(x.view("int32")).view(torch.uint32))
    assert y.dtype is torch.uint32


def test_one_program_for_equal_constants():
    assert axpy.specialize(T="f32") is axpy.specialize(T=script.float32, BLOCK=64) is axpy.specialize(T=np.float32)
    assert axpy.specialize(T="f32", BLOCK=32) is not axpy.specialize(T="f32")
    assert axpy.__doc__ == "c = a + scale * b." and axpy.name == "axpy" and list(axpy.constants) == ["BLOCK", "T"]


def test_files(tmp_path):
    axpy.save(tmp_path / "axpy.tbc", T="f32", BLOCK=32)
    kernel = tilevm.load(tmp_path / "axpy.tbc")["axpy"]
    assert [repr(a).split("[")[0] for a in kernel.arrays] == ["in a: f32", "in b: f32", "out c: f32"] and kernel.grid == ("ceildiv(a.shape[0], 32)",)
    assert kernel(np.ones(50, "float32"), np.ones(50, "float32")).tolist() == [2.5] * 50
    assert kernel.prepare(np.ones(50, "float32"), np.ones(50, "float32")).grid == (2, 1, 1)

    @script.kernel("x: i32[1]", grid=1)
    def nothing(x):
        pass

    assert nothing.text == nothing.module.disassemble() and "entry @nothing(" in nothing.text


def test_equal_functions_give_equal_bytes():
    def make():
        @script.kernel("x: f32[n] -> y: f32[n]", grid="n")
        def same(x, y):
            i = script.bid()
            s = script.load(x, i, ())
            for _ in script.range(3):
                s = s * 2
            script.store(y, i, s)

        return same.module.to_bytes()

    assert make() == make()


def test_sizes_and_launch_rules(run):
    @script.kernel("x: i32[n, 4], k: i32 -> y: i32[ceildiv(n, 2), N * 2] = 7, z: f32[x.shape[0] + k] = 0.5", grid="n * 2 // N, max(k, 1), 3 - 2")
    def rules(x, k, y, z, N=2):
        assert y.shape[1] == 4 and isinstance(x.shape[1], int)

    y, z = run(rules, np.zeros((5, 4), "int32"), 3, check="bounds")
    assert y.tolist() == [[7] * 4] * 3 and z.tolist() == [0.5] * 8
    assert rules.prepare(np.zeros((5, 4), "int32"), 3).grid == (5, 3, 1)
    with pytest.raises(tilevm.ArgumentError, match="x"):
        run(rules, np.zeros((5, 3), "int32"), 3)


def test_names_that_are_words_of_the_interface(run):
    @script.kernel("inout: f32[value], at: f32[value], max: i32 -> out: f32[value]", grid="ceildiv(inout.shape[0], 4) + max")
    def words(inout, at, max, out):
        i = script.bid()
        if i < 2:
            script.store(out, i, script.load(inout, i, 4) + script.load(at, i, 4))

    x = np.arange(8, dtype="float32")
    assert run(words, x, x, 3).tolist() == (2 * x).tolist() and words.prepare(x, x, 3).grid == (5, 1, 1)


def test_sizes_must_agree():
    with pytest.raises(tilevm.ArgumentError):
        axpy(np.zeros(4, "float32"), np.zeros(5, "float32"))


def test_strides(run):
    @script.kernel("x: f32[m, n] strides [s, t] -> y: f32[m, n]", grid=1)
    def copy(x, y):
        script.store(y, (0, 0), script.load(x, (0, 0), (4, 8)))

    x = np.arange(96, dtype="float32").reshape(8, 12)
    for part in (x[::2, :8], x[:4, ::2][:, :6], x.T[:4, :8]):
        assert np.array_equal(run(copy, part), part)

    @script.kernel("x: f32[m, n] strides [s, t] -> y: f32[2]", grid=1)
    def gathered(x, y):
        script.store(y, 0, script.gather(x, (script.arange(2), 3)))

    assert run(gathered, x[:, ::3]).tolist() == [9, 21]


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
@pytest.mark.parametrize("sizes", ["i32", "i64"])
def test_arrays_of_every_rank(run, rank, sizes):
    names = ", ".join("abcd"[:rank])

    @script.kernel(f"x: i32[{names}] -> y: i32[{names}]", grid=1, sizes=sizes)
    def copy(x, y, how):
        at = (0,) * rank
        if how == "tiles":
            script.store(y, at, script.load(x, at, (4,) * rank))
        else:
            indices = tuple(script.arange(4).reshape([4 if k == d else 1 for k in range(rank)]) for d in range(rank))
            script.scatter(y, indices, script.gather(x, indices))

    x = np.arange(3**rank, dtype="int32").reshape((3,) * rank)
    for how in ("tiles", "elements"):
        assert np.array_equal(run(copy, x, how=how), x)


def test_a_fault_names_the_python_line():
    @script.kernel("x: f32[n] -> y: f32[n]", grid=1)
    def far(x, y):
        p = x.ptr + script.arange(8)
        v = script.pointer.load(p)
        script.store(y, 0, v)

    with pytest.raises(tilevm.TrapError) as e:
        far(np.zeros(6, "float32"), check="full")
    assert (e.value.file, e.value.line, e.value.column) == (__file__, far._file[1] + 3, e.value.column)
    assert (e.value.array, e.value.index, e.value.kernel, e.value.block) == ("x", 6, "far", (0, 0, 0))


def test_threads():
    results, a = [], np.arange(64, dtype="float64")

    def work(k):
        for n in range(5):
            results.append(np.array_equal(axpy(a, a, float(k), BLOCK=8 << n, threads=1), a + k * a))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [True] * 40


def test_a_failed_trace_leaves_nothing_behind():
    @script.kernel("x: i32[n]", grid=1)
    def wrong(x):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        wrong.specialize()
    with pytest.raises(script.ScriptError) as e:
        script.bid()
    assert e.value.code == "script.outside"


SIGNATURES = {
    "x i32[n]": "is no argument", "x: i32[]": "no dimensions", "z: i32[n]": "no parameter `z`", "x: i32[n], x: f32[n]": "twice", "x: i99[n]": "no element type",
    "x: i32[n] = 3": "has a default", "x: i32[n + 1]": "size `n + 1` of an input", "-> x: i32[k + 1]": "`k` in `k + 1`", "-> x: i32[0]": "size 0",
    "x: i32[n] strides [a]=": "is no argument", "x: i32[n] strides [a, b]": "2 strides", "x: i32[x]": "a size of `x` and an argument",
    "-> x: i32": "is no array", "inout x: i32": "is no array", "-> inout x: i32[n]": "stands behind the arrow", "x: i32 = 1.5": "1.5 is no i32",
    "-> x: i8[4] = 300": "does not fit", "x: i32 = one": "`one` is no number",
}


@pytest.mark.parametrize("signature", SIGNATURES)
def test_wrong_signatures(signature):
    with pytest.raises(script.ScriptError) as e:
        @script.kernel(signature, grid=1)
        def kernel(x):
            pass

        kernel.specialize()
    assert e.value.code in ("script.signature", "script.number") and SIGNATURES[signature] in e.value.message, str(e.value)
    assert e.value.file == __file__ or e.value.code == "script.number"


@pytest.mark.parametrize("grid", ["n +", "k", "n / 2", "n ** 2", "f(n)", "x.shape", (1, 2, 3, 4), 1.5, "min(n)", "T", ""])
def test_wrong_grids(grid):
    with pytest.raises(script.ScriptError) as e:
        @script.kernel("x: i32[n]", grid=grid)
        def kernel(x, T="no number"):
            pass

        kernel.specialize()
    assert e.value.code == "script.signature" and e.value.file == __file__


def test_wrong_kernels():
    def refuse(code, make):
        with pytest.raises(script.ScriptError) as e:
            make()
        assert e.value.code == code and e.value.fix, str(e.value)

    def varargs(*x):
        pass

    refuse("script.signature", lambda: script.kernel(varargs))
    refuse("script.signature", lambda: script.kernel("x: i32[n]")(varargs))
    refuse("script.source", lambda: script.kernel("x: i32[n]")(eval("lambda x: None")))
    refuse("script.arguments", lambda: axpy.specialize(T="f32", BLOK=3))
    refuse("script.arguments", lambda: axpy.specialize())
    refuse("script.dtype", lambda: axpy.specialize(T="f33"))
    refuse("script.signature", lambda: script.kernel("x: i32[n]", sizes="i16")(lambda x: None))
    with pytest.raises(tilevm.ArgumentError):
        axpy(np.zeros(4, "float32"))


def test_every_public_name_has_a_docstring():
    from tilevm.script import atomic, classic, pointer

    names = [(script, n) for n in script.__all__] + [(m, n) for m in (atomic, classic, pointer) for n in m.__all__]
    missing = [f"{m.__name__}.{n}" for m, n in names if callable(getattr(m, n)) and not getattr(m, n).__doc__]
    for t in (script.Tile, script.Array, script.Kernel, script.Register, script.DType):
        missing += [f"{t.__name__}.{k}" for k, v in vars(t).items() if not k.startswith("_") and (callable(v) or isinstance(v, property)) and not v.__doc__]
    assert missing == []
