"""Streams, events and graphs. On the cpu here; test_gpu.py has the same on a GPU."""
import gc

import numpy
import pytest
import tilevm

# y = x + the sum of a workspace, which is zero.
WORKSPACE = """entry @k(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %w: tile<ptr<f32>>, %n: tile<i32>) interface {
  in x: f32[%n] at %x
  out y: f32[%n] at %y
  workspace w: f32[x.shape[0]] at %w
  grid x.shape[0]
} {
  %i, %_, %__ = get_tile_block_id
  %p = offset %x, %i
  %v = load_ptr_tko weak %p
  %q = offset %w, %i
  %z = load_ptr_tko weak %q
  %s = addf %v, %z
  %r = offset %y, %i
  store_ptr_tko weak %r, %s
  return
}
"""


@pytest.fixture
def stream():
    return tilevm.device("cpu").stream()


def test_events(add, stream):
    a = numpy.ones(1000, "float32")
    start, end = tilevm.device("cpu").event(), tilevm.device("cpu").event()
    start.record(stream)
    add(a, a, stream=stream)
    end.record(stream)
    end.synchronize()
    assert 0 < end.elapsed_ms(start) < 1000 and start.elapsed_ms(end) < 0
    stream.wait(end)
    stream.synchronize()
    end.record()
    with pytest.raises(tilevm.StateError, match="never recorded"):
        end.elapsed_ms(tilevm.device("cpu").event())


def test_graphs(add, stream):
    a, b = numpy.ones(8, "float32"), numpy.zeros(8, "float32")
    first, second = add.prepare(a, a, out=b), add.prepare(b, a, out=b)
    with stream.capture() as graph:
        first(stream)
        second(stream)
    assert b.sum() == 0
    graph()
    assert (b == 3).all()
    a[:] = 5
    for on in (stream, None):
        graph(on)
        stream.synchronize()
        assert (b == 15).all()


def test_graphs_keep_what_they_need(stream):
    x = numpy.arange(100, dtype="float32")
    y = numpy.zeros(100, "float32")
    kernel = tilevm.loads(WORKSPACE).kernel
    for _ in range(3):
        kernel(x, out=y, stream=stream)  # remembered
    y[:] = 0
    with stream.capture() as graph:
        kernel(x, out=y, stream=stream)  # a launch of its own, with its workspace
        kernel.prepare(x.copy(), out=y)(stream)
    assert y.sum() == 0
    for _ in range(20):
        kernel(x + 1, stream=stream)  # takes and gives back memory of its own
    gc.collect()
    graph(stream)
    numpy.testing.assert_array_equal(y, x)


def test_graphs_of_graphs(add, stream):
    a, b = numpy.ones(8, "float32"), numpy.zeros(8, "float32")
    with stream.capture() as inner:
        add.prepare(b, a, out=b)(stream)
    with stream.capture() as outer:
        inner(stream)
        inner(stream)
    del inner
    gc.collect()
    outer()
    assert (b == 2).all()


def test_mistakes_while_recording(add, stream):
    a = numpy.ones(8, "float32")
    with stream.capture() as graph:
        with pytest.raises(tilevm.StateError, match="while the stream records"):
            stream.synchronize()
        with pytest.raises(tilevm.StateError, match="while the stream records"):
            stream.capture().__enter__()
        with pytest.raises(tilevm.StateError, match="not recorded yet"):
            graph()
        with pytest.raises(tilevm.StateError, match="while the stream records"):
            tilevm.device("cpu").event().record(stream)
    with pytest.raises(ZeroDivisionError):
        with stream.capture() as lost:
            1 / 0
    with pytest.raises(tilevm.StateError, match="not recorded yet"):
        lost()
    stream.synchronize()  # records no more
    graph()
    numpy.testing.assert_array_equal(add(a, a, stream=stream), 2 * a)


def test_traps_of_graphs(outside, stream):
    launch = outside.prepare(numpy.ones(3, "float32"))
    with stream.capture() as graph:
        launch(stream)
    for on in (None, stream):
        with pytest.raises(tilevm.TrapError, match="out_of_bounds"):
            graph(on)


def test_wrong_use(stream):
    event = tilevm.device("cpu").event()
    for call, message in ((lambda: stream.wait(3), "not for int"), (lambda: event.elapsed_ms(stream), "not from Stream"),
                          (lambda: event.record("x"), "is no stream"), (lambda: stream.capture().__enter__()("x"), "not recorded yet")):
        with pytest.raises(tilevm.Error, match=message):
            call()
    with pytest.raises(tilevm.UnsupportedError, match="no streams of others"):
        event.record(1234)
