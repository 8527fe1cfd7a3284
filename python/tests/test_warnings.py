"""What works on hardware and is probably not meant is a Python warning at the kernel's line."""
import threading
import warnings

import numpy
import pytest
import tilevm
from tilevm import script

# The sum of eight elements, of which five exist.
SUM = """entry @past_the_end(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) interface {
  in x: f32[5] at %x
  out y: f32[1] at %out
  grid 1
} {
  %zero = constant <i32: 0> : tile<i32>
  %t = make_tensor_view %x, shape = [5], strides = [1] : tensor_view<5xf32, strides=[1]>
  %v = make_partition_view %t : partition_view<tile=(8), tensor_view<5xf32, strides=[1]>>
  %a, %k = load_view_tko weak %v[%zero] -> tile<8xf32>, token
  %s = reduce %a dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32> (%e: tile<f32>, %acc: tile<f32>) {
    %sum = addf %e, %acc
    yield %sum : tile<f32>
  }
  store_ptr_tko weak %out, %s : tile<ptr<f32>>, tile<f32> -> token
  return
}
"""
X = numpy.ones(5, "float32")


@pytest.fixture
def kernel():
    return tilevm.loads(SUM, "sum.tile")["past_the_end"]


def test_a_warning_names_the_line(kernel):
    with pytest.warns(tilevm.KernelWarning) as told:
        assert kernel(X)[0] == 5
    assert [w.message.code for w in told] == ["vm.unspecified"]
    assert (told[0].filename, told[0].lineno) == ("sum.tile", 9)
    text = str(told[0].message)
    assert "in kernel `past_the_end`" in text and "fix: " in text
    # Python prints the place in front: once is enough.
    assert text.startswith("warning[vm.unspecified]: ") and (told[0].message.file, told[0].message.line) == ("sum.tile", 9)
    assert warnings.formatwarning(told[0].message, told[0].category, told[0].filename, told[0].lineno).count("sum.tile:9") == 1


def test_every_way_to_launch_warns(kernel):
    out = numpy.zeros(1, "float32")
    launch = kernel.prepare(X, out=out)
    device = tilevm.device("cpu")
    stream = device.stream()
    with stream.capture() as graph:
        launch(stream)
    for run in (launch, lambda: launch(stream), graph, lambda: kernel(X), lambda: kernel(X), lambda: kernel(X, out=out)):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            run()
        assert [w.category for w in told] == [tilevm.KernelWarning]


def test_a_warning_may_be_an_error(kernel):
    with warnings.catch_warnings():
        warnings.simplefilter("error", tilevm.KernelWarning)
        for _ in range(3):  # the third call is one that the extension remembers
            with pytest.raises(tilevm.KernelWarning, match="^sum.tile:9:12: warning") as raised:
                kernel(X)
            assert (raised.value.code, raised.value.line) == ("vm.unspecified", 9)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        assert kernel(X)[0] == 5


def test_full_checks_make_an_error_of_it(kernel):
    with pytest.raises(tilevm.TrapError, match="unspecified value is left in `y`"):
        kernel(X, check="full")


def test_a_fault_leaves_no_warning_to_the_next_launch(kernel):
    with warnings.catch_warnings():
        warnings.simplefilter("error", tilevm.KernelWarning)
        with pytest.raises(tilevm.TrapError):
            kernel(X, check="full")
        assert kernel(X, check="none")[0] == 5  # looks for nothing, says nothing


def test_threads_hear_their_own(kernel):
    heard = []

    def work():
        launch = kernel.prepare(X)
        for _ in range(50):
            try:
                launch()
            except tilevm.KernelWarning:
                heard.append(1)

    with warnings.catch_warnings():
        warnings.simplefilter("error", tilevm.KernelWarning)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert len(heard) == 200


# --- outputs that nobody writes


def test_a_launch_of_no_blocks():
    half = tilevm.loads("""entry @half(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) interface {
      in x: f32[%n] at %x
      out y: f32[%n] at %y
      grid x.shape[0] / 128
    } {
      store_ptr_tko weak %y, 1.0
      return
    }
    """, "half.tile").kernel
    with pytest.warns(tilevm.KernelWarning, match=r"the grid is \(0, 1, 1\): no block runs, and the output `y` gets no values") as found:
        y = half(numpy.ones(100, "float32"))
    assert found[0].message.code == "vm.no_blocks" and (y == 0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        half(numpy.ones(0, "float32"))
        half(numpy.ones(100, "float32"), check="none")
        half(numpy.ones(200, "float32"))
    with pytest.raises(tilevm.TrapError) as caught:
        half(numpy.ones(100, "float32"), check="full")
    assert caught.value.code == "vm.not_written"


def test_a_script_that_forgets_to_store():
    @script.kernel("x: f32[n] -> y: f32[n]", grid="ceildiv(n, 128)")
    def forgets(x, y):
        script.load(x, script.bid(), 128) * 2

    junk = numpy.random.rand(100).astype("float32")
    del junk
    with pytest.warns(tilevm.KernelWarning, match="never stores to the output y") as found:
        y = forgets(numpy.ones(100, "float32"))
    assert found[0].message.code == "interface.c11" and found[0].filename == __file__ and (y == 0).all()


# --- names of strangers


def test_names_that_turn_text_around():
    kernel = tilevm.loads("entry @k(%x: tile<ptr<f32>>) interface {\n inout \"a\u202eb\": f32[1] at %x\n grid 1\n} {\n return\n}\n").kernel
    assert "\u202e" not in kernel.signature and "a\\u202eb" in kernel.signature and "\u202e" not in repr(kernel.arrays[0])
    with pytest.raises(tilevm.ArgumentError) as caught:
        kernel(numpy.zeros(2, "float32"))
    assert "\u202e" not in str(caught.value)


def test_names_that_are_no_text():
    text = b'entry @k(%x: tile<ptr<f32>>) interface {\n inout "a\\xffb": f32[1] at %x\n grid 1\n} {\n return\n}\n'
    kernel = tilevm.load(text, name="k.tile").kernel
    assert kernel.signature.isprintable()
    for call in (lambda: kernel(numpy.zeros(1, "float32")), lambda: kernel.prepare(numpy.zeros(1, "float32"))):
        with pytest.raises(tilevm.ArgumentError, match="is not UTF-8"):
            call()
