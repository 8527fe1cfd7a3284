"""Every function used wrongly: one clear exception. Arguments of kernels: test_launch.py, test_plans.py; of operations: test_builder.py."""
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
    lambda: tilevm.loads(TEXT).save(None), lambda: tilevm.loads(TEXT).disassemble(1, 2),
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


def inside(entry="k", **parameters):
    """A builder in the body of a kernel, and the kernel's parameters."""
    builder = tilevm.Builder("m")
    return builder, *builder.entry(entry, **(parameters or {"x": "tile<4xf32>"})).__enter__()


def cpu():
    return tilevm.device("cpu")


def kernel():
    return tilevm.loads(TEXT).kernel


# Each public function and method: calls that are wrong, and what is said about them.
WRONG = {
    "Builder.build": [(lambda: inside()[0].build(), "inside of a body")],
    "Builder.line": [(lambda: tilevm.Builder().line(3), "a line is text, not int")],
    "Builder.entry": [(lambda: tilevm.Builder().entry(3), "3 is no name"), (lambda: tilevm.Builder().entry("k", x=3), "type of parameter `x` is int"),
                      (lambda: tilevm.Builder().entry("k", interface="grid 1"), "is one string")],
    "Builder.for_": [(lambda: tilevm.Builder().for_(0, 1, 1), "0 is no value"),
                     (lambda: (lambda b, x: b.for_(x, x, x, init=[1]))(*inside(x="tile<i32>")), "1 is no value")],
    "Builder.loop": [(lambda: tilevm.Builder().loop(["x"]), "'x' is no value"), (lambda: tilevm.Builder().loop(results=3), "results=3")],
    "Builder.if_": [(lambda: tilevm.Builder().if_(True), "True is no value"),
                    (lambda: (lambda b, x: b.if_(x, results="tile<i32>"))(*inside(x="tile<i1>")), "pass a list of types")],
    "Builder.else_": [(lambda: tilevm.Builder().else_(), "does not follow")],
    "Builder.reduce": [(lambda: tilevm.Builder().reduce(3, dim=0, identities=["0"], results=["tile<f32>"]), "3 is no value"),
                       (lambda: tilevm.Builder().reduce(dim=0, identities=[], results=[]), "reduce of nothing"),
                       (lambda: (lambda b, x: b.reduce(x, dim=0, identities=[], results=["tile<f32>"]))(*inside()), "an identity and a result type")],
    "Builder.scan": [(lambda: tilevm.Builder().scan("x", dim=0, identities=["0"], results=["tile<f32>"]), "'x' is no value")],
    "Builder.make_tensor_view": [(lambda: tilevm.Builder().make_tensor_view(1, [1], [1], "x"), "1 is no value"),
                                 (lambda: (lambda b, x: b.make_tensor_view(x, 3, [1], "x"))(*inside(x="tile<ptr<f32>>")), "shape=3")],
    "Builder.help": [(lambda: tilevm.Builder.help("nothing"), "no operation `nothing`"), (lambda: tilevm.Builder.help(3), "no operation `3`")],
    "Device.allow_compile": [(lambda: cpu().allow_compile(3), "a folder's name"), (lambda: cpu().allow_compile("x", -1), "a number of bytes")],
    "Device.stream": [(lambda: cpu().stream(1.5), "not float"), (lambda: cpu().stream(1), "no streams of others")],
    "Device.event": [(lambda: cpu().event(3), "argument")],
    "Event.record": [(lambda: cpu().event().record(1.5), "is no stream")],
    "Event.synchronize": [(lambda: cpu().event().synchronize(3), "argument")],
    "Event.elapsed_ms": [(lambda: cpu().event().elapsed_ms(None), "not from NoneType"), (lambda: cpu().event().elapsed_ms(cpu().event()), "never recorded")],
    "Kernel.load": [(lambda: kernel().load("tpu"), "no device `tpu`"), (lambda: kernel().load(3), "a device is a name")],
    "Kernel.prepare": [(lambda: kernel().prepare(grid=object()), "no number of blocks"), (lambda: kernel().prepare(grid=1 << 70), "larger than any"),
                       (lambda: kernel().prepare(grid=1, threads="x"), "threads='x'"), (lambda: kernel().prepare(grid=1, memory=3), "no mapping"),
                       (lambda: kernel().prepare(grid=1, memory={"x": 3}), "is no array"), (lambda: kernel().prepare(grid=1, check=[]), "check="),
                       (lambda: kernel().prepare(grid=1, arguments=[]), "no mapping"), (lambda: kernel().prepare(), "no launch rule")],
    "Module.disassemble": [(lambda: tilevm.loads(TEXT).disassemble(1, 2), "argument")],
    "Module.to_bytes": [(lambda: tilevm.loads(TEXT).to_bytes(version=3), "MAJOR.MINOR"), (lambda: tilevm.loads(TEXT).to_bytes("9.9"), "9.9")],
    "Module.save": [(lambda: tilevm.loads(TEXT).save(3), "not int"), (lambda: tilevm.loads(TEXT).save("/nowhere/k.tbc"), "'/nowhere/k.tbc'")],
    "Module.export": [(lambda: tilevm.loads(TEXT).export(3), "not int"), (lambda: tilevm.loads(TEXT).export(version=13.1), "MAJOR.MINOR")],
    "Module.compile": [(lambda: tilevm.loads(TEXT).compile(None), "sm=None is no GPU"), (lambda: tilevm.loads(TEXT).compile(90, [3]), "words as text")],
    "Stream.synchronize": [(lambda: cpu().stream().synchronize(1), "argument")],
    "Stream.wait": [(lambda: cpu().stream().wait(None), "not for NoneType")],
    "Stream.capture": [(lambda: cpu().stream().capture(1), "argument")],
    "device": [(lambda: tilevm.device([]), "a device is a name"), (lambda: tilevm.device("a\0b"), "a device is a name"),
               (lambda: tilevm.device("cpu:7"), "cpu:7")],
    "get_cmake_dir": [(lambda: tilevm.get_cmake_dir(1), "argument")],
    "get_include": [(lambda: tilevm.get_include(1), "argument")],
    "get_include_dir": [(lambda: tilevm.get_include_dir(1), "argument")],
    "get_library_dir": [(lambda: tilevm.get_library_dir(1), "argument")],
    "get_pkgconfig_dir": [(lambda: tilevm.get_pkgconfig_dir(1), "argument")],
    "install": [(lambda: tilevm.install("nowhere"), "nowhere"), (lambda: tilevm.install(1), "name"), (lambda: tilevm.install(chek="full"), "chek")],
    "has_gpu": [(lambda: tilevm.has_gpu(1), "argument")],
    "load": [(lambda: tilevm.load("/nowhere/k.tbc"), "no such file"), (lambda: tilevm.load("/"), "directory"), (lambda: tilevm.load(b"", name=3), "name=3"),
             (lambda: tilevm.load("a\0b"), "null")],
    "loads": [(lambda: tilevm.loads("\udc80"), "half a character"), (lambda: tilevm.loads(TEXT, name=3), "name=3")],
    "set_print": [(lambda: tilevm.set_print("x"), "not str")],
    "tool": [(lambda: tilevm.tool("bazel"), "no command of this package"), (lambda: tilevm.tool(3), "no command of this package")],
    "verify": [(lambda: tilevm.verify(3), "not int"), (lambda: tilevm.verify("/nowhere"), "no such file")],
}


def public():
    """Names of functions, and of methods as Class.method. Those whose documentation begins with "For " are for the package."""
    for name in tilevm.__all__:
        thing = getattr(tilevm, name)
        if isinstance(thing, type) and not issubclass(thing, BaseException):
            yield from (f"{name}.{method}" for method, value in vars(thing).items() if not method.startswith("_")
                        and callable(getattr(thing, method)) and not isinstance(value, type) and not (getattr(thing, method).__doc__ or "").startswith("For "))
        elif not isinstance(thing, type) and callable(thing):
            yield name


def test_each_function_has_wrong_uses():
    assert sorted(public()) == sorted(WRONG)


@pytest.mark.parametrize("name, call, message", [(name, call, message) for name, calls in WRONG.items() for call, message in calls])
def test_wrong_uses(name, call, message):
    with pytest.raises((tilevm.Error, TypeError, ValueError, OSError), match=message) as info:
        call()
    assert info.value.__cause__ is None and not isinstance(info.value, (AttributeError, KeyError, UnicodeError))
