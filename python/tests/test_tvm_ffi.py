"""Kernels as functions of TVM-FFI, by its own loader, and a repository for Hugging Face's `kernels`."""
import os
import pathlib
import subprocess
import sys
import threading

import numpy
import pytest
import tilevm
from conftest import EXAMPLES, SCALE
from tilevm import script

tvm_ffi = pytest.importorskip("tvm_ffi", reason="apache-tvm-ffi is not installed")
import tilevm.tvm_ffi as export  # noqa: E402  needs tvm_ffi


@pytest.fixture(scope="session")
def scale(tmp_path_factory):
    path = tmp_path_factory.mktemp("scale") / "scale.so"
    export.build(tilevm.loads(SCALE, "scale.tile"), path, ["scale", "add_to"])
    return tvm_ffi.load_module(str(path))


def array(*values):
    return numpy.array(values, "float32")


def call(function, *arguments):
    return function(*(tvm_ffi.from_dlpack(a) if isinstance(a, numpy.ndarray) else a for a in arguments))


def test_a_call(scale):
    x, y = array(1, 2, 3), array(0, 0, 0)
    assert call(scale.scale, x, y, 0.5, 1) is None
    assert list(y) == [1.5, 2, 2.5]
    call(scale.add_to, x, y)
    assert list(y) == [2.5, 4, 5.5]


def test_scalars_that_are_left_out(scale):
    """None of an earlier call's scalars stays."""
    x, y = array(1, 2, 3), array(0, 0, 0)
    call(scale.scale, x, y, 4.0, 1)
    for arguments in ((), (None,), (None, None)):
        call(scale.scale, x, y, *arguments)
        assert list(y) == [5, 7, 9]
    call(scale.scale, x, y, 4, None)
    assert list(y) == [7, 11, 15]


def test_tensors_of_torch(scale):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x = torch.arange(20.0)
    y = torch.zeros(10)
    scale.scale(x[10:], y, 1.0, 0)
    assert torch.equal(y, x[10:])
    with pytest.raises(TypeError, match="`y` is no tensor"):
        scale.scale(x, 3.0)
    with pytest.raises(ValueError, match="`x` is of i32, the kernel takes f32"):
        scale.scale(x.int(), y)


def test_mistakes(scale):
    x, y = array(1, 2, 3), array(0, 0, 0)
    for arguments, kind, text in (((), TypeError, "takes 2 arrays and then up to 2 scalars, not 0"),
                                  ((x, y, 1.0, 1, 1), TypeError, "not 5 arguments"),
                                  ((x, y, "1"), TypeError, "argument `f` is no number"),
                                  ((x, array(1, 2)), ValueError, "they must be equal"),
                                  ((x, y, 1.0, 1 << 40), ValueError, "`i`")):
        with pytest.raises(kind, match=text):
            call(scale.scale, *arguments)
    call(scale.scale, x, y, 1.0, 0)
    assert list(y) == [1, 2, 3]


def test_a_kernel_that_traps(outside, tmp_path):
    export.build(outside, tmp_path / "outside.so")
    function = tvm_ffi.load_module(str(tmp_path / "outside.so")).outside
    y = numpy.zeros(4, "float32")
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"outside.tile:\d+:\d+: error\[vm.out_of_bounds\]"):
            call(function, numpy.ones(3, "float32"), y)
    call(function, numpy.ones(4, "float32"), y)
    assert list(y) == [1, 1, 1, 1]


def test_threads(scale):
    wrong = []

    def work(factor):
        for n in range(200):
            x, y = numpy.arange(10.0 + n % 3, dtype="float32"), numpy.zeros(10 + n % 3, "float32")
            call(scale.scale, x, y, factor, 0)
            if not numpy.array_equal(y, x * factor):
                wrong.append(factor)

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_kernel_in_python(tmp_path):
    @script.kernel("x: f32[n] -> y: f32[n]", grid="ceildiv(n, 128)")
    def twice(x, y, SIZE=128):
        script.store(y, (script.bid(),), 2 * script.load(x, (script.bid(),), (SIZE,)))

    export.build(twice, tmp_path / "twice.so")
    x, y = numpy.arange(200, dtype="float32"), numpy.zeros(200, "float32")
    call(tvm_ffi.load_module(str(tmp_path / "twice.so")).twice, x, y)
    assert numpy.array_equal(y, 2 * x)


def test_what_cannot_be_built(tmp_path, monkeypatch):
    raw = tilevm.loads("entry @raw(%x: tile<i32>) {\n  return\n}\n")
    with pytest.raises(tilevm.ArgumentError, match="`raw` has no interface"):
        export.build(raw, tmp_path / "raw.so")
    with pytest.raises(tilevm.NotFoundError, match="nothing"):
        export.build(tilevm.loads(SCALE), tmp_path / "no.so", ["nothing"])
    with pytest.raises(tilevm.ArgumentError, match="no kernel to build"):
        export.build(tilevm.loads(SCALE), tmp_path / "no.so", [])
    for compiler, text in (("/no/such/cc", "cannot be started"), ("false", "false failed")):
        monkeypatch.setenv("CC", compiler)
        with pytest.raises(tilevm.UnavailableError, match=text):
            export.build(tilevm.loads(SCALE), tmp_path / "no.so", ["scale"])
    assert not list(tmp_path.iterdir())


USE = """
import os, pathlib, sys
import numpy, tvm_ffi
import kernels
assert "tilevm" not in sys.modules
softmax = kernels.get_local_kernel(pathlib.Path(sys.argv[1]), backend="cpu").softmax
x, y = numpy.random.rand(10, 1000).astype("float32"), numpy.zeros((10, 1000), "float32")
softmax(tvm_ffi.from_dlpack(x), tvm_ffi.from_dlpack(y))
numpy.testing.assert_allclose(y, numpy.exp(x) / numpy.exp(x).sum(1, keepdims=True), rtol=1e-5)
assert "tilevm" not in sys.modules
libraries = {line.split()[-1] for line in open("/proc/self/maps") if "libtilevm" in line}
print("ok", *(os.path.dirname(path) for path in libraries))
"""


@pytest.fixture(scope="session")
def repository(tmp_path_factory):
    pytest.importorskip("kernels", reason="kernels is not installed")
    out = tmp_path_factory.mktemp("hub")
    subprocess.run([sys.executable, EXAMPLES / "hub" / "make.py", out], check=True)
    return out


def test_a_repository_of_kernels_is_loaded(repository):
    """By Hugging Face's library, and with the libtilevm.so of the repository."""
    done = subprocess.run([sys.executable, "-c", USE, repository], capture_output=True, text=True, check=False,
                          env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"})
    assert done.returncode == 0, done.stderr
    variant, = (repository / "build").iterdir()
    assert done.stdout.split() == ["ok", str(variant)]


def test_a_repository_is_as_kernels_asks(repository):
    """Sums of all files, and the names for older versions; libraries use nothing of Python, and only what they bring and every Linux has."""
    import kernels._rust as data

    variant, = (repository / "build").iterdir()
    metadata = data.Metadata.read_from_file(variant / "metadata.json")
    metadata.digest.validate(data.Digest.hash_variant(data.DigestAlgorithm.SHA256, variant))
    older = "import sys, softmax_tilevm as older; sys.exit(older.__all__ != ['softmax'] or not callable(older.softmax))"
    subprocess.run([sys.executable, "-c", older], check=True, env={**os.environ, "PYTHONPATH": str(variant)})
    libraries = sorted(variant.rglob("*.so*"))
    assert [path.name for path in libraries] == ["_softmax_tilevm.so", "libtilevm.so.1"]
    for path in libraries:
        names = subprocess.run(["nm", "-D", "--undefined-only", path], capture_output=True, text=True, check=True).stdout.split("\n")
        assert not [line for line in names if line.split()[-1:] and line.split()[-1].startswith(("Py", "_Py"))]
    needed = subprocess.run(["readelf", "-d", libraries[0]], capture_output=True, text=True, check=True).stdout
    assert {line.split("[")[1].rstrip("]") for line in needed.splitlines() if "(NEEDED)" in line} == {"libtilevm.so.1", "libtvm_ffi.so", "libc.so.6"}


def test_older_glibc(repository):
    """The library of functions runs with glibc 2.28, which the hub asks for; libtilevm.so does as ./release links it."""
    variant, = (repository / "build").iterdir()
    names = subprocess.run(["objdump", "-T", variant / "_softmax_tilevm.so"], capture_output=True, text=True, check=True).stdout
    versions = {tuple(map(int, word.strip("()").split("_")[1].split("."))) for word in names.split() if word.strip("()").startswith("GLIBC_")}
    assert versions and max(versions) <= (2, 28)


def test_the_package_has_the_header():
    assert (pathlib.Path(tilevm.get_include()) / "tilevm_tvm_ffi.h").is_file()
