"""Arrays of other libraries than NumPy, and element types."""
import ctypes

import numpy
import pytest
import tilevm
from tilevm import _arrays, _types


def copy_kernel(element):
    return tilevm.loads(f"""entry @copy(%x: tile<ptr<{element}>>, %y: tile<ptr<{element}>>) interface {{
  in x: {element}[1] at %x
  out y: {element}[1] at %y
  grid 1
}} {{
  %v, %t = load_ptr_tko weak %x : tile<ptr<{element}>> -> tile<{element}>, token
  %u = store_ptr_tko weak %y, %v : tile<ptr<{element}>>, tile<{element}> -> token
  return
}}
""").kernel


@pytest.mark.parametrize("dtype, element", [
    ("bool", "i1"), ("int8", "i8"), ("uint8", "i8"), ("int16", "i16"), ("uint16", "i16"), ("int32", "i32"), ("uint32", "i32"),
    ("int64", "i64"), ("uint64", "i64"), ("float16", "f16"), ("float32", "f32"), ("float64", "f64")])
def test_numpy_types(dtype, element):
    x = numpy.array([1], dtype)
    y = numpy.zeros(1, dtype)
    assert copy_kernel(element)(x, out=y) is y and y[0] == 1
    assert copy_kernel(element)(x).dtype in (y.dtype, numpy.dtype(dtype.lstrip("u")))


@pytest.mark.parametrize("name, element", [("bfloat16", "bf16"), ("float8_e4m3fn", "f8E4M3FN"), ("float8_e5m2", "f8E5M2")])
def test_ml_dtypes(name, element):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = numpy.array([1.5], getattr(ml_dtypes, name))
    y = copy_kernel(element)(x)
    assert y.dtype == x.dtype and float(y[0]) == 1.5


def test_without_a_type_there_is_an_error_that_helps():
    with pytest.raises(tilevm.ArgumentError, match="int8 that holds its bits"):
        _types.numpy_dtype(_types.BY_NAME["i4"])


class Device:
    """Speaks DLPack, as tensors of before and after 1.0 do, and is no NumPy array."""

    def __init__(self, array, old=False):
        self.array, self.old, self.asked = array, old, 0

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **named):
        if self.old and named:
            raise TypeError("unexpected keyword")
        self.asked += 1
        return self.array.__dlpack__()


@pytest.mark.parametrize("old", [False, True])
def test_dlpack(add, old):
    a, c = Device(numpy.arange(6, dtype="float32"), old), Device(numpy.zeros(6, "float32"), old)
    if a.array.__dlpack_device__()[0] != 1:
        pytest.skip("NumPy without DLPack")
    assert add(a, a, out=c) is c
    numpy.testing.assert_array_equal(c.array, 2 * a.array)
    assert a.asked == 2


def test_dlpack_keeps_the_tensor_alive(add):
    launch = add.prepare(Device(numpy.full(100_000, 2, "float32")), Device(numpy.ones(100_000, "float32")), out=numpy.empty(100_000, "float32"))
    assert launch().sum() == 300_000


def test_strides(example):
    x = numpy.arange(12, dtype="float32").reshape(3, 4)
    for view in (x.T, x[:, ::2], x[::2]):
        got = _arrays.view_of(view)
        assert got.shape == view.shape and got.strides == tuple(s // 4 for s in view.strides)
        assert got.contiguous == view.flags.c_contiguous
    with pytest.raises(tilevm.ArgumentError, match="no multiple"):
        _arrays.view_of(numpy.zeros(9, "uint8").view([("a", "u1"), ("b", "<u2")])["b"])


def test_no_array():
    for value in (3, "x", None, object(), [1, 2]):
        with pytest.raises(tilevm.ArgumentError, match="is no array"):
            _arrays.view_of(value)


def test_capsules_of_others_are_refused():
    from tilevm import _tilevm

    for function in (_tilevm.describe_dlpack, _tilevm.describe_array):
        for value in (3, None):
            with pytest.raises((ValueError, TypeError)):
                function(value)


class Torch:
    """Looks like a torch tensor, for machines without torch."""

    class _Type:
        name = "float32"

    class _Place:
        type, index = "cpu", None

    dtype, device = _Type(), _Place()

    def __init__(self, n):
        self.memory = (ctypes.c_float * n)(*range(n))
        self.shape = (n,)

    def data_ptr(self):
        return ctypes.addressof(self.memory)

    def stride(self):
        return (1,)


def test_tensors_by_their_methods(add):
    a, c = Torch(5), Torch(5)
    add(a, a, out=c)
    assert list(c.memory) == [0, 2, 4, 6, 8]


def test_torch(add):
    torch = pytest.importorskip("torch")
    a = torch.arange(8, dtype=torch.float32)
    c = add(a, torch.ones(8))
    assert isinstance(c, torch.Tensor) and torch.equal(c, a + 1)
    assert copy_kernel("bf16")(torch.tensor([1.5], dtype=torch.bfloat16)).item() == 1.5
    with pytest.raises(tilevm.ArgumentError):
        add(a[::2].expand(2, 4), a)
