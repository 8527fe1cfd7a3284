"""Kernels on arrays."""
import gc
import sys
import weakref

import numpy
import pytest
import tilevm

A = numpy.arange(8, dtype="float32")
B = numpy.full(8, 0.5, "float32")


def test_outputs_are_allocated(add):
    c = add(A, B)
    assert isinstance(c, numpy.ndarray) and c.dtype == numpy.float32
    numpy.testing.assert_array_equal(c, A + B)


def test_outputs_are_taken(add):
    for call in (lambda c: add(A, B, out=c), lambda c: add(A, B, c=c), lambda c: add(b=B, a=A, out=[c]),
                 lambda c: add(arguments={"a": A, "b": B, "c": c})):
        c = numpy.zeros(8, "float32")
        assert call(c) is c
        numpy.testing.assert_array_equal(c, A + B)


def test_matmul_and_many_blocks(example):
    rng = numpy.random.default_rng(1)
    a, b = rng.random((130, 70), "float32"), rng.random((70, 90), "float32")
    numpy.testing.assert_allclose(example("matmul").kernel(a, b), a @ b, rtol=1e-5)
    n = 100_000
    x = rng.random(n, "float32")
    numpy.testing.assert_array_equal(example("vector_add").kernel(x, x), x + x)


def test_initial_values_are_set(example):
    data = numpy.frombuffer(b"aab", "uint8")
    bins = example("histogram").kernel(data)
    assert bins[ord("a")] == 2 and bins[ord("b")] == 1 and bins.sum() == 3


def test_prepared_launches_see_new_contents(add):
    a, c = A.copy(), numpy.empty(8, "float32")
    launch = add.prepare(a, B, out=c)
    assert launch() is c and launch.grid == (1, 1, 1)
    a[:] = 7
    launch()
    numpy.testing.assert_array_equal(c, B + 7)


def test_prepared_launches_in_a_cycle_are_collected(add):
    class Array(numpy.ndarray):
        pass

    a = numpy.arange(4, dtype="float32").view(Array)
    launch = add.prepare(a, a, out=a)
    assert launch() is a and launch() is a
    a.launch = launch
    gone = weakref.ref(a)
    del a, launch
    gc.collect()
    assert gone() is None


def test_arrays_live_as_long_as_the_launch(add):
    launch = add.prepare(numpy.ones(1 << 20, "float32"), numpy.ones(1 << 20, "float32"))
    junk = [numpy.zeros(1 << 20, "float32") for _ in range(4)]
    assert launch().sum() == 2 << 20 and len(junk) == 4


def test_checks(outside):
    three, four = numpy.ones(3, "float32"), numpy.ones(4, "float32")
    assert outside(four).sum() == 4
    for check in (None, "bounds", "full"):
        with pytest.raises(tilevm.TrapError) as info:
            outside(three, check=check)
        error = info.value
        assert (error.code, error.file, error.line) == ("vm.out_of_bounds", "outside.tile", 10)
        assert (error.kernel, error.block, error.op, error.array, error.index) == ("outside", (0, 0, 0), "load_ptr_tko", "x", 3)
        assert error.fix
    with pytest.raises(tilevm.ArgumentError, match="'none', 'bounds' or 'full'"):
        outside(four, check="all")


def test_check_level_of_the_environment(outside, monkeypatch):
    seen = []
    monkeypatch.setattr("tilevm._kernel.Launch", lambda handle, check, threads: seen.append(check) or 1 / 0)
    for value, number in (("none", 1), ("full", 3), ("", 0)):
        monkeypatch.setenv("TILEVM_CHECK", value)
        with pytest.raises(ZeroDivisionError):
            outside(numpy.ones(4, "float32"))
        assert seen.pop() == number
    monkeypatch.setenv("TILEVM_CHECK", "everything")
    with pytest.raises(tilevm.ArgumentError, match="everything"):
        outside(numpy.ones(4, "float32"))


def test_prints_reach_python(counts, capsys):
    counts(1)
    assert sorted(capsys.readouterr().out.splitlines()) == ["block 0", "block 1"]
    lines = []
    assert tilevm.set_print(lines.append) is None
    try:
        counts(1)
    finally:
        assert tilevm.set_print(None) is not None
    assert sorted(lines) == ["block 0\n", "block 1\n"]


def test_prints_cannot_steer_a_terminal(monkeypatch, capsys):
    kernel = tilevm.loads('entry @k() {\n  print_tko "a\\x1b[2Jb\\n"\n  return\n}\n').kernel
    kernel(grid=1)
    assert capsys.readouterr().out == "a\x1b[2Jb\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    kernel(grid=1)
    assert capsys.readouterr().out == "a\\x1b[2Jb\n"


def test_what_a_printer_raises_is_raised_by_the_launch(counts, capsys, monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda u: seen.append(u.exc_type))  # of the second block
    tilevm.set_print(lambda text: 1 / 0)
    try:
        for launch in (lambda: counts(1), lambda: counts(1), counts.prepare(1), lambda: counts(1, check="full")):
            with pytest.raises(ZeroDivisionError):
                launch()
    finally:
        tilevm.set_print(None)
    assert set(seen) <= {ZeroDivisionError}
    counts(1)
    assert capsys.readouterr().out == "block 0\nblock 1\n"


def test_an_output_that_is_no_file(counts, monkeypatch):
    class Lines(list):
        write = list.append

    lines = Lines()
    monkeypatch.setattr(sys, "stdout", lines)
    counts(1)
    assert "".join(lines) == "block 0\nblock 1\n"


def test_no_thread_too_many(counts):
    for threads in (2**40, -2**40, 2**31, 2**100):
        with pytest.raises(tilevm.ArgumentError, match="no number of threads"):
            counts(1, threads=threads)


def test_grid_in_place_of_the_rule(counts, capsys):
    counts(1, grid=(1,))
    assert capsys.readouterr().out == "block 0\n"
    counts(1, grid=0)
    with pytest.raises(tilevm.ArgumentError, match="one to three"):
        counts(1, grid=(1, 1, 1, 1))
    with pytest.raises(tilevm.ArgumentError, match="negative"):
        counts(1, grid=-1)


def test_raw_parameters(raw):
    x = numpy.array([3], "float32")
    assert raw(x, 2.0, grid=1) is None
    assert x[0] == 6
    with pytest.raises(tilevm.ArgumentError, match="2 parameters"):
        raw(x, grid=1)
    with pytest.raises(tilevm.ArgumentError, match="no launch rule"):
        raw(x, 2.0)
    with pytest.raises(tilevm.ArgumentError, match="by position"):
        raw(x=x, f=2.0, grid=1)
    with pytest.raises(tilevm.ArgumentError, match="points to no buffer"):
        raw(x.ctypes.data, 2.0, grid=1)
    raw(x.ctypes.data, 0.5, grid=1, memory={"x": x})
    assert x[0] == 3


def test_raw_memory_has_names_in_messages():
    kernel = tilevm.loads("""entry @far(%p: tile<ptr<f32>>) {
  %i = constant <i32: 5> : tile<i32>
  %at = offset %p, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %v, %t = load_ptr_tko weak %at : tile<ptr<f32>> -> tile<f32>, token
  return
}
""", "far.tile").kernel
    x = numpy.ones(4, "float32")
    for memory, name in ((None, "p"), ({"weights": x}, "weights")):  # a parameter has its name as far as the program keeps it
        with pytest.raises(tilevm.TrapError, match=r"\(f32\[4\], 16 bytes\)") as info:
            kernel(x, grid=1, memory=memory)
        assert info.value.index == 5
        assert info.value.array in ({name} if memory else {name, "parameter 0"})


def test_empty_arrays(add):
    assert add(numpy.empty(0, "float32"), numpy.empty(0, "float32")).shape == (0,)


def test_wrong_arguments(add, outside):
    wrong = [
        (lambda: add(A), "`b`.*is missing"),
        (lambda: add(A, B, B), "takes 2"),
        (lambda: add(A, B, nothing=A), "no argument `nothing`; it has a, b, c"),
        (lambda: add(A, B, a=A), "given twice"),
        (lambda: add(A, B, out=[A, B]), "out= has 2 arrays"),
        (lambda: add(A, 1.0), "argument `b` is float, no array"),
        (lambda: add(A, B.astype("float64")), "`b` is of f64, the kernel takes f32"),
        (lambda: add(A, B[:4]), "dimension 0 of"),
        (lambda: add(A.reshape(2, 4), B), "rank 2"),
        (lambda: add(A[::-1], B), "negative stride"),
        (lambda: add(A, B.astype(">f4")), "other byte order"),
        (lambda: add(A, B.astype("complex64")), "no such elements"),
        (lambda: add(A, numpy.array(["x"] * 8)), "no such elements"),
        (lambda: add(A, B, device=3), "a device is a name"),
        (lambda: add(A, B, device="tpu"), "tpu"),
        (lambda: add(A, B, stream="x"), "is no stream"),
        (lambda: add(A, B, threads=-1), "negative number of threads"),
        (lambda: add(A, B, memory={"m": A}), "has an interface"),
    ]
    for call, message in wrong:
        with pytest.raises(tilevm.ArgumentError, match=message):
            call()


def test_read_only_outputs_are_refused(add):
    c = numpy.zeros(8, "float32")
    c.flags.writeable = False
    with pytest.raises(tilevm.ArgumentError, match="`c` .out. is read-only"):
        add(A, B, out=c)
    a = A.copy()
    a.flags.writeable = False
    assert add(a, B)[0] == 0.5


def test_no_gpu(add):
    try:
        tilevm.device("cuda")
    except tilevm.UnavailableError as error:
        assert error.code.startswith("cuda.") and error.fix
        assert not tilevm.has_gpu()
        assert tilevm.device("auto").name == "cpu"
        with pytest.raises(tilevm.UnavailableError):
            add(A, B, device="cuda")
        numpy.testing.assert_array_equal(add(A, B, device="auto"), A + B)
    else:
        numpy.testing.assert_array_equal(add(A, B), A + B)


def test_scalars():
    scale = tilevm.loads("""entry @scale(%x: tile<ptr<f32>>, %f: tile<f32>, %i: tile<i32>) interface {
  inout x: f32[1] at %x
  scalar f = %f default 2.0
  scalar i = %i default 0
  grid 1
} {
  %v, %t = load_ptr_tko weak %x : tile<ptr<f32>> -> tile<f32>, token
  %w = mulf %v, %f : tile<f32>
  %u = store_ptr_tko weak %x, %w token = %t : tile<ptr<f32>>, tile<f32> -> token
  return
}
""").kernel
    x = numpy.ones(1, "float32")
    scale(x)
    scale(x, 3)
    scale(x, f=numpy.float32(0.5))
    assert x[0] == 3
    for wrong, message in ((dict(f="x"), "no number"), (dict(i=1.5), "not a float"), (dict(i=1 << 40), "does not fit"), (dict(f=1j), "no number")):
        with pytest.raises(tilevm.ArgumentError, match=message):
            scale(x, **wrong)
    assert [(s.name, s.optional) for s in scale.scalars] == [("f", True), ("i", True)]
