"""The same on a GPU. Needs one, and a compiler: TILEVM_TILEC, or that of the wheel."""
import numpy
import pytest
import tilevm

pytestmark = pytest.mark.skipif(not tilevm.has_gpu(), reason="there is no GPU")
N = 100_000


@pytest.fixture
def compiled(example):
    major, minor = tilevm.device("cuda").compute_capability
    return lambda name: example(name).compile(10 * major + minor).kernel


@pytest.fixture
def x():
    return numpy.arange(N, dtype="float32")


class OnDevice:
    """Memory as CuPy and Numba offer it."""

    def __init__(self, host):
        from tilevm import _tilevm

        self.host = host
        self.buffer = _tilevm.Buffer(tilevm.device("cuda").handle, host.nbytes)
        self.buffer.copy(0, host.ctypes.data, host.nbytes, None, True)
        self.dtype = host.dtype
        self.__cuda_array_interface__ = {"shape": host.shape, "typestr": host.dtype.str, "data": (self.buffer.address(), False), "version": 3}

    def back(self):
        self.buffer.copy(0, self.host.ctypes.data, self.host.nbytes, None, False)
        return self.host


def test_arrays_of_the_host_are_copied(compiled, x):
    numpy.testing.assert_array_equal(compiled("vector_add")(x, x, device="cuda"), x + x)
    a, b = x[:6000].reshape(60, 100) / N, x[:7000].reshape(100, 70) / N
    numpy.testing.assert_allclose(compiled("matmul")(a, b, device="cuda"), a @ b, rtol=1e-4)
    data = (x % 256).astype("uint8")
    numpy.testing.assert_array_equal(compiled("histogram")(data, device="auto"), numpy.bincount(data, minlength=256))


def test_arrays_of_the_device_stay_there(compiled, x):
    add = compiled("vector_add")
    a, c = OnDevice(x), OnDevice(numpy.zeros(N, "float32"))
    assert add(a, a, out=c) is c
    numpy.testing.assert_array_equal(c.back(), x + x)
    with pytest.raises(tilevm.ArgumentError, match="is on cuda"):
        add(a, a, out=c, device="cpu")
    with pytest.raises(tilevm.ArgumentError, match="pass them with out="):
        add(a, a)


def test_streams(compiled, x):
    stream = tilevm.device("cuda").stream()
    a, c = OnDevice(x), OnDevice(numpy.zeros(N, "float32"))
    launch = compiled("vector_add").prepare(a, a, out=c)
    for on in (stream, stream.cuda_stream):
        launch(on)
        stream.synchronize()
    numpy.testing.assert_array_equal(c.back(), x + x)


def test_what_a_gpu_cannot_do(compiled, example, x):
    with pytest.raises(tilevm.UnsupportedError, match="no checks"):
        compiled("vector_add")(x, x, device="cuda", check="full")
    with pytest.raises(tilevm.UnsupportedError):
        example("vector_add").kernel(x, x, device="cuda")  # not compiled


def test_compiled_at_the_first_launch(example, x, tmp_path):
    device = tilevm.device("cuda:0")
    try:
        device.allow_compile(str(tmp_path))
    except tilevm.UnavailableError as error:
        pytest.skip(str(error))
    numpy.testing.assert_array_equal(example("gelu").kernel(x, device=device) > 0, x > 0)
    assert list(tmp_path.rglob("*"))


def test_torch(compiled):
    torch = pytest.importorskip("torch")
    a = torch.arange(1000, device="cuda", dtype=torch.float32)
    add = compiled("vector_add")
    c = add(a, a)
    assert c.is_cuda and torch.equal(c, 2 * a)
    with torch.cuda.stream(torch.cuda.Stream()):
        b = a * 3  # on the stream of torch, and so is the launch
        assert torch.equal(add(b, b), 6 * a)
        d = torch.empty_like(a)
        add(b, b, out=d, stream=torch.cuda.current_stream())
        assert torch.equal(d, 6 * a)
