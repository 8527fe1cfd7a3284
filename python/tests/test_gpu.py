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


def test_events_and_graphs(compiled, x):
    device = tilevm.device("cuda")
    stream, start, end = device.stream(), device.event(), device.event()
    a, c = OnDevice(x), OnDevice(numpy.zeros(N, "float32"))
    launch = compiled("vector_add").prepare(a, a, out=c)
    start.record(stream)
    launch(stream)
    end.record(stream)
    end.synchronize()
    assert 0 < end.elapsed_ms(start) < 1000
    again = compiled("vector_add").prepare(c, a, out=c)
    with stream.capture() as graph:
        launch(stream)
        again(stream)
    del launch, again
    for _ in range(3):
        graph(stream)
    stream.synchronize()
    numpy.testing.assert_array_equal(c.back(), 3 * x)
    other = device.stream()
    other.wait(end)
    other.synchronize()


def test_whole_calls_of_torch_are_remembered(compiled):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    add = compiled("vector_add")
    for n in (1000, 1000, 7, 1000):
        a = torch.arange(n, device="cuda", dtype=torch.float32)
        for _ in range(3):
            assert torch.equal(add(a, a), 2 * a)
    assert add._num_plans() == 1
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        b = torch.ones(1 << 20, device="cuda")
        for _ in range(50):  # each reads what the one before wrote; nobody waits
            b = add(b, b * 0 + 1, stream=stream)
    stream.synchronize()
    assert torch.equal(b, torch.full_like(b, 51))
    with pytest.raises(tilevm.ArgumentError, match="is on cuda:0, the launch on cpu"):
        add(b, b, device="cpu")


def test_operator_of_torch(example):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    import tilevm.torch

    major, minor = tilevm.device("cuda").compute_capability
    module = example("python/layer_norm").compile(10 * major + minor)
    norm = tilevm.torch.op("tilevm_test_gpu::layer_norm", module, "layer_norm", backward=["layer_norm_backward_x", "layer_norm_backward_weight"])
    torch.manual_seed(0)
    inputs = [torch.randn(*shape, device="cuda", requires_grad=True) for shape in ((100, 200), (200,), (200,))]
    gradient = torch.randn(100, 200, device="cuda")
    expected = torch.nn.functional.layer_norm(inputs[0], (200,), inputs[1], inputs[2])
    for call in (norm, torch.compile(lambda *a: norm(*a), fullgraph=True)):
        y = call(*inputs)[0]
        torch.testing.assert_close(y, expected)
        for ours, theirs in zip(torch.autograd.grad(y, inputs, gradient), torch.autograd.grad(expected, inputs, gradient, retain_graph=True)):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    torch.library.opcheck(norm, tuple(inputs))

    x, weight, bias = (t.detach() for t in inputs)
    norm(x, weight, bias)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = norm(x, weight, bias)[0]
    for factor in (1, 2):
        x.mul_(factor)
        graph.replay()
        torch.cuda.synchronize()
        torch.testing.assert_close(y, torch.nn.functional.layer_norm(x, (200,), weight, bias))
