"""Tensors of torch as arguments and results of kernels."""
import gc

import numpy
import pytest
import tilevm
from conftest import EXAMPLES

torch = pytest.importorskip("torch", reason="torch is not installed")

DTYPES = [("bool", "i1"), ("int8", "i8"), ("uint8", "i8"), ("int16", "i16"), ("uint16", "i16"), ("int32", "i32"), ("uint32", "i32"), ("int64", "i64"),
          ("uint64", "i64"), ("float16", "f16"), ("bfloat16", "bf16"), ("float32", "f32"), ("float32", "tf32"), ("float64", "f64"),
          ("float8_e4m3fn", "f8E4M3FN"), ("float8_e5m2", "f8E5M2"), ("float8_e8m0fnu", "f8E8M0FNU"), ("int8", "f8E5M3FNU")]


def strided_copy(element):
    """y = x for any strides of x."""
    return tilevm.loads(f"""entry @copy(%x: tile<ptr<{element}>>, %y: tile<ptr<{element}>>, %n: tile<i32>, %s: tile<i32>, %r: tile<i32>) interface {{
  in x: {element}[?, %n] strides [%s, %r] at %x
  out y: {element}[x.shape[0], x.shape[1]] at %y
  grid x.shape[1], x.shape[0]
}} {{
  %j, %i, %_ = get_tile_block_id
  %a = muli %i, %s
  %b = muli %j, %r
  %c = addi %a, %b
  %p = offset %x, %c
  %v = load_ptr_tko weak %p
  %d = muli %i, %n
  %e = addi %d, %j
  %q = offset %y, %e
  store_ptr_tko weak %q, %v
  return
}}
""").kernel


def values(dtype, *shape):
    """Of every bit pattern that the type has, or random ones."""
    dtype = getattr(torch, dtype)
    torch.manual_seed(0)
    if dtype == torch.bool:
        return torch.randint(2, shape).bool()
    bytes_ = torch.randint(256, (*shape[:-1], shape[-1] * dtype.itemsize)).to(torch.uint8)
    return bytes_.view(dtype)


def bits(tensor):
    return tensor.contiguous().view(torch.uint8) if tensor.numel() else tensor.shape


@pytest.mark.parametrize("dtype, element", DTYPES)
def test_dtypes_and_strides(dtype, element):
    kernel = strided_copy(element)
    x = values(dtype, 6, 4)
    for view in (x, x.T, x[:, ::2], x[1:3], x[::3, 1:], x[:1], x[2:2], x[:, :0], x.T[::2]):
        results = [kernel(view, out=torch.empty(view.shape, dtype=x.dtype)) for _ in range(3)]
        if dtype[0] != "u" and element not in ("f8E5M3FNU",):
            results += [kernel(view) for _ in range(3)]
            assert all(r.dtype == x.dtype and r.shape == view.shape for r in results)
        for result in results:
            assert result.shape == view.shape
            assert view.numel() == 0 or torch.equal(bits(result), bits(view))


def test_zero_and_expanded_dimensions(add):
    ones = torch.ones(1).expand(8)
    with pytest.raises(tilevm.ArgumentError, match="row-major"):
        add(ones, ones)
    assert torch.equal(strided_copy("f32")(torch.ones(1, 1).expand(2, 3)), torch.ones(2, 3))
    scalar = tilevm.loads("""entry @inc(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) interface {
  in x: f32[] at %x
  out y: f32[] at %y
  grid 1
} {
  %v = load_ptr_tko weak %x
  %w = addf %v, 1.0
  store_ptr_tko weak %y, %w
  return
}
""").kernel
    for _ in range(4):
        y = scalar(torch.tensor(2.0))
        assert y.shape == () and y.item() == 3
        z = scalar(numpy.float32(2) * numpy.ones((), "float32"))
        assert z.shape == () and z == 3


def test_results_are_of_the_first_array_s_library(add):
    a, n = torch.arange(4.0), numpy.ones(4, "float32")
    for _ in range(3):
        assert isinstance(add(a, n), torch.Tensor) and isinstance(add(n, a), numpy.ndarray)
        assert torch.equal(add(a, n), a + 1)


def test_tensors_that_require_grad(add):
    a = torch.nn.Parameter(torch.arange(4.0))
    b = torch.arange(4.0)
    for _ in range(4):
        c = add(a, b)
        assert torch.equal(c, 2 * b) and not c.requires_grad and type(c) is torch.Tensor
    for call in (lambda: add(b, b, out=a), lambda: add(b, b, c=a)):
        for _ in range(3):
            with pytest.raises(tilevm.ArgumentError, match=r"`c` \(out\) requires grad(.|\n)*tilevm.torch.op"):
                call()
            with torch.no_grad():
                assert call() is a
    assert torch.equal(add(b, b, out=a.detach()), a)


@pytest.mark.filterwarnings("ignore")
def test_tensors_without_memory_of_their_own(add):
    a = torch.arange(4.0)
    negated = torch.complex(torch.zeros(4), a).conj().imag
    kinds = [(torch.ones(4).to_sparse(), "without memory"), (torch.empty(4, device="meta"), "Tensor on meta"), (negated, "negative of its memory"),
             (torch.zeros(4, dtype=torch.complex64), "no such elements"), (torch.quantize_per_tensor(a, 1.0, 0, torch.quint8), "no such elements")]
    for wrong, message in kinds:
        for _ in range(3):
            assert torch.equal(add(a, a), a + a)
            with pytest.raises(tilevm.Error, match=message):
                add(wrong, a)
    with pytest.raises(tilevm.ArgumentError, match=r"without memory(.|\n)*tilevm.torch.op"):
        torch.func.vmap(lambda x: add(x, x))(torch.ones(2, 4))
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode, pytest.raises(tilevm.ArgumentError, match="without memory"):
        add(mode.from_tensor(a), mode.from_tensor(a))


def test_scalars_from_tensors():
    scale = tilevm.loads("""entry @scale(%x: tile<ptr<f32>>, %f: tile<f32>) interface {
  inout x: f32[1] at %x
  scalar f = %f
  grid 1
} {
  %v, %t = load_ptr_tko weak %x
  %w = mulf %v, %f
  store_ptr_tko weak %x, %w token = %t
  return
}
""").kernel
    x = torch.ones(1)
    for _ in range(3):
        scale(x, torch.tensor(2.0))
        scale(x, 0.5)
    assert x.item() == 1
    with pytest.raises(tilevm.ArgumentError, match="`f`"):
        scale(x, torch.ones(2))


def test_wrong_tensors_after_right_ones(add):
    a = torch.arange(8.0)
    for _ in range(3):
        add(a, a)
    for call, message in ((lambda: add(a, a[:4]), "must be equal"), (lambda: add(a, a.double()), "of f64"), (lambda: add(a[::2], a[:4]), "row-major"),
                          (lambda: add(a.reshape(2, 4), a), "rank 2"), (lambda: add(a, a, out=a[:3]), "must be equal"),
                          (lambda: add(a, a, out=a.bfloat16()), "of bf16"), (lambda: add(a, 1.0), "is float, no array")):
        for _ in range(2):
            with pytest.raises(tilevm.ArgumentError, match=message):
                call()
    assert add._num_plans() == 1


def test_tensors_are_not_kept_alive(add):
    import weakref

    a = torch.ones(8)
    for _ in range(3):
        add(a, a)
    seen = weakref.ref(a)
    del a
    gc.collect()
    assert seen() is None


def test_subclasses_of_tensors(add):
    class Mine(torch.Tensor):
        pass

    a = torch.arange(4.0).as_subclass(Mine)
    for _ in range(3):
        assert torch.equal(torch.Tensor(add(a, a)), 2 * torch.arange(4.0))


def test_raw_kernels(raw):
    x = torch.tensor([3.0])
    for _ in range(3):
        raw(x, 2.0, grid=1)
    assert x.item() == 24


def test_default_device_and_dtype_do_not_matter(add):
    a = torch.arange(4.0)
    with torch.device("meta"):
        for _ in range(3):
            assert add(a, a).device.type == "cpu"
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        assert add(a, a).dtype == torch.float32
    finally:
        torch.set_default_dtype(before)


def test_examples_against_torch():
    torch.manual_seed(1)
    x, y = torch.randn(33, 17), torch.randn(17, 65)
    for _ in range(3):
        torch.testing.assert_close(tilevm.load(EXAMPLES / "matmul.tile").kernel(x, y), x @ y)
        torch.testing.assert_close(tilevm.load(EXAMPLES / "softmax.tile").kernel(x), torch.softmax(x, 1))
    a, b = torch.randn(64, 64).bfloat16(), torch.randn(64, 64).bfloat16()
    product = tilevm.load(EXAMPLES / "matmul_bf16.tile").kernel(a, b)
    torch.testing.assert_close(product.float(), a.float() @ b.float(), rtol=2e-2, atol=2e-1)


@pytest.mark.filterwarnings("ignore")
def test_inside_of_compiled_functions(add):
    """A graph ends there; the kernel runs each time."""
    def function(x):
        return add(x * 2, x) + 1

    compiled = torch.compile(function)
    for i in range(3):
        x = torch.arange(4.0) + i
        assert torch.equal(compiled(x), 3 * x + 1)
    torch._dynamo.reset()
    with pytest.raises(Exception, match="tilevm.Kernel vector_add|of class `Kernel`"):  # torch 2.15, 2.11
        torch.compile(function, fullgraph=True)(torch.arange(4.0))
