"""Every function used wrongly: one clear exception. Arguments of kernels: test_launch.py; of the builder: test_builder.py."""
import numpy
import pytest
import tilevm
from tilevm import _tilevm

TEXT = "entry @k() {\n  return\n}\n"


@pytest.mark.parametrize("call, message", [
    (lambda m: tilevm.load(3), "a file's name or bytes, not int"),
    (lambda m: tilevm.load(None), "a file's name or bytes, not NoneType"),
    (lambda m: tilevm.loads(b"x"), "loads takes text, not bytes"),
    (lambda m: tilevm.verify([]), "a file's name or bytes, not list"),
    (lambda m: tilevm.set_print(3), "takes a function, not int"),
    (lambda m: tilevm.device(b"cpu"), "a device is a name"),
    (lambda m: tilevm.device("cpu:x"), "cpu:x"),
    (lambda m: tilevm.device("cpu").stream("x"), "not str"),
    (lambda m: m.compile([]), "for no GPU"),
    (lambda m: m.compile(90, options="-O2"), "one string"),
    (lambda m: m.to_bytes(version="1"), "MAJOR.MINOR"),
    (lambda m: m.export(version="13.99"), "no version 13.99"),
    (lambda m: m.kernel(stream=1.5, grid=1), "is no stream"),
    (lambda m: m.kernel(grid="xyz"), "grid"),
    (lambda m: m.kernel(grid=1.5), "no number of blocks"),
    (lambda m: m.kernel(1, grid=1), "takes 0 parameters"),
])
def test_arguments(call, message):
    with pytest.raises(tilevm.ArgumentError, match=message) as info:
        call(tilevm.loads(TEXT))
    assert info.value.code and info.value.message


@pytest.mark.parametrize("call", [
    lambda: tilevm.load(b"", name=3), lambda: tilevm.loads(TEXT).save(None), lambda: tilevm.loads(TEXT).disassemble(1, 2),
    lambda: tilevm.loads(TEXT).kernel.prepare(grid=1)(1, 2), lambda: _tilevm.Launch(3, 0, 0), lambda: _tilevm.Stream(3, None),
    lambda: _tilevm.Kernel(tilevm.device("cpu").handle, 3, "k"), lambda: _tilevm.Graph(), lambda: _tilevm.Buffer(None, 1),
    lambda: tilevm.loads(TEXT).kernel.prepare(grid=1).run(3), lambda: tilevm.loads(TEXT).kernel.prepare(grid=1).run(None, None),
    lambda: tilevm.device("cpu").handle.allow_compile(1), lambda: _tilevm.set_hooks(1), lambda: _tilevm.translate("x"),
])
def test_types(call):
    with pytest.raises(TypeError):
        call()


def test_streams_of_others_on_the_cpu():
    with pytest.raises(tilevm.UnsupportedError, match="no streams of others"):
        tilevm.device("cpu").stream(1234)


def test_extension_checks_numbers():
    launch = tilevm.loads(TEXT).kernel.prepare(grid=1)
    with pytest.raises(OverflowError):
        launch.set_grid(1 << 70, 1, 1)
    with pytest.raises(ValueError, match="at most 16"):
        launch.add_memory("m", 0, 7, (1,) * 17, None)
    with pytest.raises(ValueError, match="2 strides of an array of rank 1"):
        launch.add_memory("m", 0, 7, (1,), (1, 1))
    with pytest.raises(TypeError, match="tuples"):
        launch.add_memory("m", 0, 7, [1], None)
    with pytest.raises(tilevm.ArgumentError, match="type 99"):
        launch.add_memory("m", 0, 99, (1,), None)
    with pytest.raises(tilevm.ArgumentError, match="no address"):
        launch.add_memory("m", 0, 7, (1,), None)
    with pytest.raises(tilevm.NotFoundError, match="no array `x`"):
        launch.get_array("x")
    with pytest.raises(tilevm.ArgumentError, match="negative"):
        launch.add_memory("m", numpy.zeros(1).ctypes.data, 7, (-1,), None)


def test_errors_can_be_made_and_pickled():
    import pickle

    with pytest.raises(tilevm.ModuleError) as info:
        tilevm.loads("entry @k() {\n  nothing\n}\n", "k.tile")
    again = pickle.loads(pickle.dumps(info.value))
    assert (type(again), str(again), again.line, again.code) == (tilevm.ModuleError, str(info.value), 2, info.value.code)
    assert repr(info.value.diagnostics[0]).startswith("<error text.unknown_op at k.tile:2:")
