"""Calls that the extension does by itself, because one that is alike was bound before: nothing may change by that."""
import gc
import os
import random
import re
import signal
import subprocess
import sys
import threading
import weakref

import numpy
import pytest
import tilevm
from conftest import COUNTS, EXAMPLES, OUTSIDE

# out[i] = x[i] * f for the first k elements; x of any stride, out of any size.
MANY = """entry @many(%x: tile<ptr<f32>>, %o: tile<ptr<f32>>, %t: tile<ptr<i32>>, %m: tile<i32>, %n: tile<i32>, %s: tile<i32>, \
%r: tile<i32>, %k: tile<i32>, %f: tile<f32>) interface {
  in x: f32[%m, %n] strides [%s, %r] at %x
  out o: f32[k, x.shape[1]] at %o init 1.5
  inout t: i32[1] at %t
  scalar k = %k
  scalar f = %f default 2.0
  grid x.shape[1], k
} {
  %j, %i, %_ = get_tile_block_id
  %a = muli %i, %s
  %b = muli %j, %r
  %c = addi %a, %b
  %p = offset %x, %c
  %v = load_ptr_tko weak %p
  %w = mulf %v, %f
  %d = muli %i, %n
  %e = addi %d, %j
  %q = offset %o, %e
  store_ptr_tko weak %q, %w
  %one = constant <i32: 1> : tile<i32>
  %old, %tok = atomic_rmw_tko relaxed device %t, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  return
}
"""


def kernel():
    return tilevm.loads(MANY, "many.tile").kernel


@pytest.fixture
def warm(add):
    a = numpy.arange(8, dtype="float32")
    for _ in range(3):
        add(a, a)
    assert add._num_plans() == 1
    return add


def outcome(call):
    """What a call gives or raises, as plain data."""
    try:
        result = call()
    except Exception as error:
        return type(error), str(error)
    results = result if isinstance(result, tuple) else (result,)
    return [None if r is None else (r.dtype.str, r.shape, r.tobytes()) for r in results]


def test_results_are_those_of_the_first_call(warm):
    rng = numpy.random.default_rng(1)
    kept = []
    for n in (8, 8, 1, 0, 5000, 8):
        a, b = rng.random((2, n), "float32")
        kept.append((warm(a, b), a + b))
        c = numpy.zeros(n, "float32")
        assert warm(a, b, out=c) is c and warm(a, b=b, c=c) is c and warm(a, b, out=(c,)) is c
        numpy.testing.assert_array_equal(c, a + b)
    for got, expected in kept:  # each call has its own output
        numpy.testing.assert_array_equal(got, expected)
    assert warm._num_plans() == 4


def random_call(rng):
    """Arguments of `many`, often wrong."""
    m, n = rng.randint(1, 4), rng.randint(0, 5)
    x = numpy.arange(m * n, dtype=rng.choice(["float32"] * 8 + ["float64", "int32"])).reshape(m, n)
    shape = rng.random()
    if shape < 0.2:
        x = numpy.ascontiguousarray(x.T).T
    elif shape < 0.3:
        x = x[::-1]
    elif shape < 0.4:
        x = numpy.repeat(numpy.repeat(x, 2, 0), 3, 1)[::2, ::3]
    elif shape < 0.45:
        x = x[0]
    t = numpy.zeros(rng.choice([1, 1, 1, 1, 2]), rng.choice(["int32"] * 6 + ["uint32", "int64"]))
    if rng.random() < 0.1:
        t.flags.writeable = False
    named = {"threads": 1}  # so that the block which fails is always the same
    if rng.random() < 0.5:
        named["f"] = rng.choice([1.0, 3, -2.5, True, "x", 1 << 70, numpy.float32(4)])
    if rng.random() < 0.3:
        named["out"] = numpy.zeros((rng.randint(0, 3), n), "float32")
    if rng.random() < 0.1:
        named["check"] = rng.choice(["full", "bounds", "no", None])
    if rng.random() < 0.1:
        named["grid"] = rng.choice([1, (1, 1), (1, 2, 3, 4), -1, None, "x"])
    if rng.random() < 0.05:
        named[rng.choice(["nothing", "device"])] = rng.choice([1, "cpu", None])
    return (x, t, rng.choice([0, 1, m, m, m, 7, -1, 2.5, None])), named


def test_whatever_is_called_comes_out_as_from_a_kernel_that_knows_no_calls():
    rng = random.Random(7)
    warm = kernel()
    failed = 0
    for _ in range(700):
        (x, t, k), named = random_call(rng)
        again = {name: value.copy() if isinstance(value, numpy.ndarray) else value for name, value in named.items()}
        u = t.copy()
        u.flags.writeable = t.flags.writeable
        ours, fresh = outcome(lambda: warm(x, t, k, **named)), outcome(lambda: kernel()(x, u, k, **again))
        assert ours == fresh
        assert t.tobytes() == u.tobytes()
        failed += isinstance(ours, tuple)
    assert warm._num_plans() >= 10 and 100 < failed < 600


def test_wrong_arguments_after_right_ones(warm, add):
    a = numpy.arange(8, dtype="float32")
    locked = a.copy()
    locked.flags.writeable = False
    for call, message in ((lambda: warm(a, a[:4]), "must be equal"), (lambda: warm(a, a.astype("float64")), "of f64"),
                          (lambda: warm(a[::-1], a), "negative stride"), (lambda: warm(a, a, out=locked), "read-only"),
                          (lambda: warm(a[::2], a[:4]), "row-major"), (lambda: warm(a.reshape(2, 4), a), "rank 2"),
                          (lambda: warm(a, a, out=a[:3]), "must be equal"), (lambda: warm(a), "is missing"),
                          (lambda: warm(a, a, a), "takes 2"), (lambda: warm(a, a, device="tpu"), "tpu")):
        for _ in range(2):
            with pytest.raises(tilevm.ArgumentError, match=message):
                call()
    numpy.testing.assert_array_equal(warm(a, a), a + a)


def test_mistakes_of_the_kernel_are_told_alike():
    warm = tilevm.loads(OUTSIDE, "outside.tile").kernel
    four, three = numpy.ones(4, "float32"), numpy.ones(3, "float32")
    said = []
    for _ in range(4):
        assert warm(four).sum() == 4
        with pytest.raises(tilevm.TrapError) as info:
            warm(three)
        said.append((str(info.value), info.value.line, info.value.index))
    assert len(set(said)) == 1 and warm._num_plans() == 1


def test_the_check_level_of_the_environment_is_looked_at_each_time(monkeypatch):
    warm = tilevm.loads(OUTSIDE, "outside.tile").kernel
    four, three = numpy.ones(4, "float32"), numpy.ones(3, "float32")
    for _ in range(3):
        warm(four)
    monkeypatch.setenv("TILEVM_CHECK", "everything")
    with pytest.raises(tilevm.ArgumentError, match="everything"):
        warm(four)
    monkeypatch.setenv("TILEVM_CHECK", "full")
    for _ in range(3):
        with pytest.raises(tilevm.TrapError):
            warm(three)
    monkeypatch.delenv("TILEVM_CHECK")
    assert warm(four).sum() == 4


def test_arrays_are_not_kept_alive(warm):
    class Array(numpy.ndarray):  # has weak references
        pass

    base = numpy.zeros(8, "float32").view(Array)
    a = numpy.asarray(base)
    seen = weakref.ref(base)
    for _ in range(3):
        warm(a, a)
    del a, base
    gc.collect()
    assert seen() is None


def test_kernels_go_away(example):
    add = example("vector_add").kernel
    a = numpy.ones(4, "float32")
    for _ in range(3):
        add(a, a)
    seen = weakref.ref(add)
    del add
    gc.collect()
    assert seen() is None


def test_remembered_calls_are_bounded(warm):
    a = numpy.arange(8, dtype="float32")
    for i in range(200):
        warm(a, a, threads=1 + i)
    assert warm._num_plans() <= 64
    numpy.testing.assert_array_equal(warm(a, a), a + a)


def test_eight_threads_of_different_sizes(warm):
    failures = []

    def work(seed):
        rng = numpy.random.default_rng(seed)
        try:
            for i in range(200):
                a = rng.random(rng.integers(1, 50) + 100 * seed, "float32")
                c = warm(a, a)
                numpy.testing.assert_array_equal(c, a + a)
        except BaseException as error:  # pytest does not see those of threads
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failures == []


def test_a_child_of_fork_binds_anew(warm):
    a = numpy.arange(8, dtype="float32")
    child = os.fork()
    if child == 0:
        ok = False
        try:
            ok = all((warm(a, a) == 2 * a).all() for _ in range(3))
            ok = ok and warm._num_plans() == 2
        finally:
            os._exit(0 if ok else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    numpy.testing.assert_array_equal(warm(a, a), a + a)


def test_keyboard_interrupt():
    warm = tilevm.loads(COUNTS).kernel
    before = tilevm.set_print(lambda text: None)
    try:
        for _ in range(3):
            warm(1)
        threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            warm(1 << 62)
        warm(1)
    finally:
        tilevm.set_print(before)
    assert warm._num_plans() == 1


def test_the_interpreter_ends_during_remembered_calls():
    code = f"""if True:
        import numpy, sys, threading, time, tilevm
        tilevm.set_print(lambda text: None)
        kernels = [tilevm.loads({COUNTS!r}).kernel for _ in range(3)]
        for kernel in kernels:
            for _ in range(3):
                kernel(1)
            assert kernel._num_plans() == 1
            threading.Thread(target=kernel, args=(1 << 62,), daemon=True).start()
        sys.modules["keep"] = kernels
        class Late:
            def __del__(self, kernel=kernels[0]):
                kernel(1)
        late = Late()
        time.sleep(0.3)
        print("end")
    """
    said = subprocess.run([sys.executable, "-X", "faulthandler", "-c", code], capture_output=True, text=True, timeout=120)
    assert (said.returncode, said.stdout) == (0, "end\n"), said.stderr


def test_streams():
    warm = tilevm.load(EXAMPLES / "vector_add.tile").kernel
    a = numpy.arange(8, dtype="float32")
    streams = [tilevm.device("cpu").stream() for _ in range(2)]
    for stream in streams * 3:
        numpy.testing.assert_array_equal(warm(a, a, stream=stream), a + a)
        stream.synchronize()
    assert warm._num_plans() == 2
    with pytest.raises(tilevm.ArgumentError, match="is no stream"):
        warm(a, a, stream=object())


def test_arguments_that_are_called_like_python_s():
    loaded = tilevm.loads("""entry @k(%self: tile<ptr<f32>>, %key: tile<i32>) interface {
  inout self: f32[1] at %self
  scalar key = %key
  grid 1
} {
  return
}
""").kernel
    for _ in range(3):
        assert loaded(self=numpy.zeros(1, "float32"), key=3) is None
    assert loaded._num_plans() == 1


def test_what_is_left_to_python():
    many, x, t = kernel(), numpy.ones((2, 3), "float32"), numpy.zeros(1, "int32")
    for call in (lambda: many(x, t, numpy.int64(2)), lambda: many(x.view(numpy.matrix), t, 2), lambda: many(x, t, k=2, arguments={}),
                 lambda: many(x, t, 2, out=[None])):
        for _ in range(3):
            assert call().sum() == 12
    assert many._num_plans() == 0


def test_plans_are_checked():
    from tilevm import _tilevm

    handle = kernel()._handle(tilevm.device("cpu"))
    for wrong in ((3, 0, 0, None, 0, (), (), (), None, None), (handle, 0, 0, None, 0, (), (), (0,), None, None),
                  (handle, 0, 0, None, 0, (3,), (), (), None, None), (handle, 0, 0, (1,), 0, (), (), (), None, None),
                  (handle, 0, 0, None, 0, (None,) * 25, (), (), None, None), (handle, 0, 0, None, 0, [], (), (), None, None),
                  (handle, 0, 0, None, 0, (), ((3,),), (), None, None), (handle, 0, 0, None, 0, (), (("y", 7, int, 3, None),), (), None, None)):
        with pytest.raises((TypeError, ValueError)):
            _tilevm.Plan(*wrong)
    with pytest.raises(TypeError):
        kernel()._remember(b"x", 3)
    with pytest.raises(TypeError):
        _tilevm.know_type(3)
    assert _tilevm.know_type(int) is False and sys.getrefcount(handle) < 10


# o[i] = x[i] * f + d + k, for k that is added as i8 and as i64 are; without interface.
RAW_KERNEL = """entry @k(%x: tile<ptr<f32>>, %o: tile<ptr<f32>>, %f: tile<f32>, %d: tile<f64>, %k: tile<i8>, %n: tile<i64>, %p: tile<ptr<f32>>) {
  %i, %_, %__ = get_tile_block_id
  %a = offset %x, %i
  %v = load_ptr_tko weak %a
  %w = mulf %v, %f
  %e = ftof %d : tile<f32>
  %kf = itof %k signed : tile<f32>
  %nf = itof %n signed : tile<f32>
  %r = addf %w, %e
  %s = addf %r, %kf
  %t = addf %s, %nf
  %b = offset %o, %i
  store_ptr_tko weak %b, %t
  return
}
"""


def random_raw_call(rng):
    n = rng.randint(1, 5)
    x = numpy.arange(n, dtype=rng.choice(["float32"] * 5 + ["int32"]))
    o = numpy.zeros(rng.choice([n, n, n, n + 2, 1]), "float32")
    if rng.random() < 0.1:
        x = x[::-1]
    numbers = [1, 2.5, -3, True, 1e300, float("nan"), "x", 300, -200, 255, 1 << 63, None]
    return (x, o, *(rng.choice([2, 0.5, 3.0] + numbers) if rng.random() < 0.3 else 2 for _ in range(4)), rng.choice([None, None, 0, 5, o, 2.5])), {
        "grid": rng.choice([n, n, n, (n,), (n, 1), n + 1, 0, None, -1]), "threads": 1}


def test_kernels_without_interface():
    fresh = lambda: tilevm.loads(RAW_KERNEL, "raw.tile").kernel  # noqa: E731
    rng, warm, failed = random.Random(3), fresh(), 0
    for _ in range(700):
        args, named = random_raw_call(rng)
        copy = args[1].copy()
        other = tuple(copy if a is args[1] else a for a in args)
        ours, theirs = outcome(lambda: warm(*args, **named)), outcome(lambda: fresh()(*other, **named))
        if isinstance(ours, tuple):
            failed += 1
            ours, theirs = ([re.sub("0x[0-9a-f]+", "", text) for text in map(str, said)] for said in (ours, theirs))
        assert ours == theirs, args
        numpy.testing.assert_array_equal(args[1], other[1])
    assert warm._num_plans() >= 5 and 100 < failed < 600
