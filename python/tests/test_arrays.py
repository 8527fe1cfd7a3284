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


# y = x as f32, and z = x, for rows of f4E2M1FN.
NIBBLES = """entry @nibbles(%x: tile<ptr<f4E2M1FN>>, %y: tile<ptr<f32>>, %z: tile<ptr<f4E2M1FN>>, %m: tile<i32>, %n: tile<i32>, %s: tile<i32>) interface {
  in x: f4E2M1FN[%m, %n] strides [%s, 1] at %x
  out y: f32[%m, %n] at %y
  out z: f4E2M1FN[%m, %n] at %z
  grid x.shape[0]
} {
  %i, %_, %__ = get_tile_block_id
  %xt = make_tensor_view %x, shape = [%m, %n], strides = [%s, 1]
  %yt = make_tensor_view %y, shape = [%m, %n], strides = [%n, 1]
  %zt = make_tensor_view %z, shape = [%m, %n], strides = [%n, 1]
  %xv = make_partition_view %xt : partition_view<tile=(1x16)>
  %yv = make_partition_view %yt : partition_view<tile=(1x16)>
  %zv = make_partition_view %zt : partition_view<tile=(1x16)>
  %v = load_view_tko weak %xv[%i, 0]
  %w = ftof %v : tile<1x16xf32>
  store_view_tko weak %w, %yv[%i, 0]
  store_view_tko weak %v, %zv[%i, 0]
  return
}
"""


@pytest.fixture
def nibbles():
    return tilevm.loads(NIBBLES, "nibbles.tile").kernel


def halves():
    values = numpy.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], "float32")
    return numpy.concatenate([values, -values])


def test_pairs_of_4_bits(nibbles):
    packed = (numpy.arange(0, 16, 2) | numpy.arange(1, 16, 2) << 4).astype("uint8").reshape(1, 8)  # the first in the low half
    rows = numpy.concatenate([packed, packed[:, ::-1]])
    for dtype in ("uint8", "int8"):
        for x in (rows.view(dtype), numpy.repeat(rows, 2, 0)[::2].view(dtype)):
            for _ in range(3):
                y, z = nibbles(x)
                numpy.testing.assert_array_equal(y[0], halves())
                assert y.shape == (2, 16) and z.shape == (2, 8) and z.dtype == numpy.uint8
                numpy.testing.assert_array_equal(z, rows)
    out = numpy.zeros((2, 8), "uint8")
    assert nibbles(rows, out=[None, out])[1] is out and (out == rows).all()


def test_pairs_of_4_bits_of_torch(nibbles):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not hasattr(torch, "float4_e2m1fn_x2"):
        pytest.skip("this torch has no float4_e2m1fn_x2")
    x = torch.arange(16, dtype=torch.uint8).reshape(2, 8)
    for view in (x, x.view(torch.float4_e2m1fn_x2)):
        for _ in range(3):
            y, z = nibbles(view)
            assert y.shape == (2, 16) and z.dtype == torch.float4_e2m1fn_x2 and torch.equal(z.view(torch.uint8), x)
    with pytest.raises(tilevm.ArgumentError, match="is of i8, the kernel takes f32"):
        copy_kernel("f32")(x[0, :1].view(torch.float4_e2m1fn_x2))


def test_wrong_pairs(nibbles):
    x = numpy.zeros((2, 8), "uint8")
    with pytest.raises(tilevm.ArgumentError, match="side by side"):
        nibbles(numpy.zeros((2, 16), "uint8")[:, ::2])
    with pytest.raises(tilevm.ArgumentError, match="`x` is of f32"):
        nibbles(x.astype("float32"))
    with pytest.raises(tilevm.ArgumentError, match="has rank 1"):
        nibbles(x[0])
    with pytest.raises(tilevm.ArgumentError, match=r"f4E2M1FN\[3\]: two elements share a byte"):
        _arrays.new_array(_types.BY_NAME["f4E2M1FN"], (3,), None, "numpy")
    with pytest.raises(tilevm.ArgumentError, match="pack two of them into a byte"):
        _arrays._dtype_element(type("float4", (), {"name": "float4_e2m1fn"}))


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


# --- what says something untrue about itself


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int), ("device", ctypes.c_int), ("rank", ctypes.c_int),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _Interface(ctypes.Structure):
    _fields_ = [("two", ctypes.c_int), ("rank", ctypes.c_int), ("kind", ctypes.c_char), ("bytes", ctypes.c_int), ("flags", ctypes.c_int),
                ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("data", ctypes.c_void_p), ("description", ctypes.py_object)]


# A function of our own: that of ctypes.pythonapi is shared with others, who give it other types.
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_New", ctypes.pythonapi))
SIZES = (ctypes.c_int64 * 1)(8)


class SaysByDlpack:
    def __init__(self, rank, shape):
        self.memory = (ctypes.c_float * 8)()
        self.tensor = _Tensor(ctypes.addressof(self.memory), 1, 0, rank, 2, 32, 1, shape, None, 0, None, None)

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **options):
        return _new_capsule(ctypes.addressof(self.tensor), b"dltensor", None)


_AT_SIZES = ctypes.addressof(SIZES)


class SaysByStruct:
    def __init__(self, rank=1, shape=_AT_SIZES, strides=_AT_SIZES, two=2, capsule=True):
        self.memory = (ctypes.c_float * 8)()
        self.interface = _Interface(two, rank, b"f", 4, 0x700, shape, strides, ctypes.addressof(self.memory), None)
        self.__array_struct__ = _new_capsule(ctypes.addressof(self.interface), None, None) if capsule else 3


def test_shapes_that_are_not_there(add):
    at = ctypes.addressof(SIZES)
    for liar in (SaysByDlpack(-1, at), SaysByDlpack(2**31 - 1, at), SaysByDlpack(65, at), SaysByDlpack(1, None),
                 SaysByStruct(-1), SaysByStruct(1000), SaysByStruct(1, None), SaysByStruct(1, at, None), SaysByStruct(two=7),
                 SaysByStruct(capsule=False)):
        with pytest.raises(tilevm.ArgumentError, match="cannot be read|must be a PyCapsule"):
            add(liar, liar)
    zero = SaysByDlpack(0, None)
    with pytest.raises(tilevm.ArgumentError, match="rank 0"):
        add(zero, zero)


def test_arrays_of_numpy_that_are_no_plain_numbers(add):
    x = numpy.ones(8, "float32")
    with pytest.raises(tilevm.ArgumentError, match="an array of records"):
        add(numpy.zeros(8, [("a", "f4"), ("b", "f4")]), x)
    masked = numpy.ma.masked_array(x, mask=[True] + 7 * [False])
    with pytest.raises(tilevm.ArgumentError, match="masked array"):
        add(masked, x)
    assert (add(numpy.ma.masked_array(x), x) == 2).all()
    with pytest.raises(tilevm.ArgumentError, match="no such elements|no array"):
        add(numpy.array(["a"] * 8), x)


def test_numbers_of_numpy_live_as_long_as_their_launch():
    scalar = tilevm.loads("""entry @next(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) interface {
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
    launches = [scalar.prepare(numpy.float32(i)) for i in range(50)]
    assert [float(launch()) for launch in launches] == [i + 1 for i in range(50)]
