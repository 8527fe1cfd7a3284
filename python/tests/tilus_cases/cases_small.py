"""Integers and floats of one to seven bits: packed in global memory, in shared memory, cast. Run by test_tilus.py with every check."""
import itertools
import random

import pytest
import tilevm
import tilus
import torch
from .packed import number_of, pack, tensor_of, unpack
from tilus import float16, float32, int32, uint8, void_p
from tilus.hidet.ir import dtypes
from tilus.ir.layout.ops import spatial
from tilus.utils import cdiv

INTEGERS = [getattr(dtypes, f"{kind}{bits}b") for kind in ("int", "uint") for bits in range(1, 8)]
FLOATS = [getattr(dtypes, name) for name in ("float7_e5m1", "float7_e4m2", "float7_e3m3", "float7_e2m4", "float6_e4m1", "float6_e3m2", "float6_e2m3",
                                             "float5_e3m1", "float5_e2m2", "float4_e2m1", "float3_e1m1")]
SMALL = INTEGERS + FLOATS


def ids(dtype):
    return dtype.name


class Widen(tilus.Script):
    """Packed elements as float32, by way of an offset that no byte begins at."""

    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype

    def __call__(self, n: int32, first: int32, x_ptr: void_p, y_ptr: ~float32):
        self.attrs.blocks = [cdiv(n, 32)]
        self.attrs.warps = 1
        x = self.global_view(x_ptr, dtype=self.dtype, shape=[n])
        y = self.global_view(y_ptr, dtype=float32, shape=[n])
        part = self.load_global(x, offsets=[first + 32 * self.blockIdx.x], shape=[32])
        self.store_global(y, self.cast(part, dtype=float32), offsets=[32 * self.blockIdx.x])


@pytest.mark.parametrize("dtype", SMALL, ids=ids)
def test_every_code_of_a_type(dtype):
    codes = list(range(1 << dtype.nbits)) * 2 + [1, 0, (1 << dtype.nbits) - 1]
    for first in (0, 3):
        n = len(codes)
        y = torch.full((n,), 7.0, device="cuda")
        Widen(dtype)(n, first, tensor_of(pack(codes, dtype.nbits)), y)
        assert y.tolist() == [number_of(code, dtype) for code in codes[first:]] + [0.0] * first


class Narrow(tilus.Script):
    """float32 as packed elements. The last tile ends inside of a byte, whose other bits stay."""

    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype

    def __call__(self, n: int32, x_ptr: ~float32, y_ptr: void_p):
        self.attrs.blocks = [cdiv(n, 32)]
        self.attrs.warps = 1
        x = self.global_view(x_ptr, dtype=float32, shape=[n])
        y = self.global_view(y_ptr, dtype=self.dtype, shape=[n])
        part = self.load_global(x, offsets=[32 * self.blockIdx.x], shape=[32])
        self.store_global(y, self.cast(part, dtype=self.dtype), offsets=[32 * self.blockIdx.x])


@pytest.mark.parametrize("dtype", SMALL, ids=ids)
def test_every_number_of_a_type_goes_there_and_back(dtype):
    codes = [code for code in range(1 << dtype.nbits) if number_of(code, dtype) != 0.0 or code == 0]
    random.seed(dtype.name)
    codes += random.choices(codes, k=77 - len(codes) % 32)
    n, bits = len(codes), dtype.nbits
    y = tensor_of(b"\xff" * ((n * bits + 7) // 8))
    Narrow(dtype)(n, torch.tensor([float(number_of(code, dtype)) for code in codes], device="cuda"), y)
    assert unpack(y.tolist(), bits, n) == codes
    assert int.from_bytes(bytes(y.tolist()), "little") >> (n * bits) == (1 << (-n * bits % 8)) - 1


@pytest.mark.parametrize("dtype", FLOATS, ids=ids)
def test_floats_are_rounded(dtype):
    """Numbers between two neighbours: the nearest, and the even one of two. Numbers that are too large become the largest."""
    e, m = dtype.exponent_nbits, dtype.mantissa_nbits
    normal = range(1 << m, (1 << (e + m)) - 1)
    values, expected = [], []
    for code, share in itertools.product(list(normal)[:40], (0.25, 0.5, 0.75)):
        low, high = number_of(code, dtype), number_of(code + 1, dtype)
        values.append(low + share * (high - low))
        expected.append(code + (share > 0.5 or (share == 0.5 and code % 2 == 1)))
    values += [3.0 * number_of((1 << (e + m)) - 1, dtype), -3.0 * number_of((1 << (e + m)) - 1, dtype), 0.0]
    expected += [(1 << (e + m)) - 1, (1 << (e + m + 1)) - 1, 0]
    y = tensor_of(bytes((len(values) * dtype.nbits + 7) // 8))
    Narrow(dtype)(len(values), torch.tensor(values, dtype=torch.float32, device="cuda"), y)
    assert unpack(y.tolist(), dtype.nbits, len(values)) == expected


class ByShared(tilus.Script):
    """Rows become columns by way of shared memory, whose tensors cannot have small types in Tilus: the bytes go there."""

    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype
        self.layout = spatial(8, 4).local(1, 8)
        self.flat = spatial(8, 4).local(1, dtype.nbits)
        self.bytes = 4 * dtype.nbits

    def __call__(self, m: int32, x_ptr: void_p, y_ptr: ~float16):
        self.attrs.blocks = [cdiv(m, 8)]
        self.attrs.warps = 1
        x = self.global_view(x_ptr, dtype=self.dtype, shape=[m, 32])
        y = self.global_view(y_ptr, dtype=float16, shape=[m, 32])
        s = self.shared_tensor(dtype=uint8, shape=[8, self.bytes])
        part = self.load_global(x, offsets=[8 * self.blockIdx.x, 0], shape=[8, 32])
        self.annotate_layout(part, self.layout)
        self.store_shared(s, self.view(part, dtype=uint8, layout=self.flat))
        self.sync()
        back = self.load_shared(s)
        self.annotate_layout(back, self.flat)
        wide = self.cast(self.view(back, dtype=self.dtype, layout=self.layout), dtype=float16)
        self.store_global(y, wide * float16(2.0), offsets=[8 * self.blockIdx.x, 0])


@pytest.mark.parametrize("dtype", [dtypes.int4b, dtypes.uint3b, dtypes.int6b, dtypes.float4_e2m1, dtypes.float6_e3m2, dtypes.float7_e2m4], ids=ids)
def test_shared_memory(dtype):
    random.seed(7)
    m = 21
    codes = [random.randrange(1 << dtype.nbits) for _ in range(m * 32)]
    y = torch.zeros(m, 32, dtype=torch.float16, device="cuda")
    ByShared(dtype)(m, tensor_of(pack(codes, dtype.nbits)), y)
    assert torch.equal(y.float().cpu(), torch.tensor([float(number_of(code, dtype)) for code in codes]).reshape(m, 32) * 2)


class Slice(tilus.Script):
    """A row of a packed matrix, as a slice, and one of its elements as a number."""

    def __call__(self, m: int32, x_ptr: void_p, y_ptr: ~int32):
        self.attrs.blocks = [m]
        self.attrs.warps = 1
        x = self.global_view(x_ptr, dtype=dtypes.int3b, shape=[m, 96])
        y = self.global_view(y_ptr, dtype=int32, shape=[m, 96])
        row = x[self.blockIdx.x]
        self.store_global(y[self.blockIdx.x], self.cast(self.load_global(row, offsets=[0], shape=[96]), dtype=int32), offsets=[0])


def test_slices_of_packed_tensors():
    codes = [(5 * i + i // 3) % 8 for i in range(480)]
    y = torch.zeros(5, 96, dtype=torch.int32, device="cuda")
    Slice()(5, tensor_of(pack(codes, 3)), y)
    assert y.flatten().tolist() == [number_of(code, dtypes.int3b) for code in codes]


class Arithmetic(tilus.Script):
    """In int32, and cut to the type where it is stored."""

    def __call__(self, x_ptr: void_p, y_ptr: ~int32, z_ptr: void_p):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        x = self.load_global(self.global_view(x_ptr, dtype=dtypes.int4b, shape=[16]), offsets=[0], shape=[16])
        wide = self.cast(x, dtype=int32)
        self.store_global(self.global_view(y_ptr, dtype=int32, shape=[16]), wide * wide + wide, offsets=[0])
        self.store_global(self.global_view(z_ptr, dtype=dtypes.int4b, shape=[16]), self.cast(wide * 3, dtype=dtypes.int4b), offsets=[0])


def test_arithmetic():
    y, z = torch.zeros(16, dtype=torch.int32, device="cuda"), tensor_of(bytes(8))
    Arithmetic()(tensor_of(pack(range(16), 4)), y, z)
    numbers = [number_of(code, dtypes.int4b) for code in range(16)]
    assert y.tolist() == [n * n + n for n in numbers] and unpack(z.tolist(), 4, 16) == [3 * n % 16 for n in numbers]


class Unaligned(tilus.Script):
    """Stores rows that begin inside of a byte."""

    def __call__(self, first: int32, y_ptr: void_p):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        y = self.global_view(y_ptr, dtype=dtypes.uint4b, shape=[64])
        self.store_global(y, self.cast(self.register_tensor(dtype=int32, shape=[32], init=5), dtype=dtypes.uint4b), offsets=[first])


def test_a_store_that_begins_inside_of_a_byte_is_a_mistake():
    y = tensor_of(bytes(32))
    Unaligned()(2, y)
    assert unpack(y.tolist(), 4, 64) == [0, 0] + [5] * 32 + [0] * 30
    with pytest.raises(tilevm.TrapError) as caught:
        Unaligned()(3, y)
    assert caught.value.code == "vm.assert" and "inside of a byte" in str(caught.value) and "cases_small.py" in str(caught.value)


class Rows(tilus.Script):
    def __call__(self, y_ptr: void_p):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        y = self.global_view(y_ptr, dtype=dtypes.uint3b, shape=[4, 4])
        self.store_global(y, self.cast(self.register_tensor(dtype=int32, shape=[4, 4], init=5), dtype=dtypes.uint3b), offsets=[0, 0])


def test_rows_that_end_inside_of_a_byte_are_refused():
    with pytest.raises(tilevm.UnsupportedError) as caught:
        Rows()(tensor_of(bytes(8)))
    assert "cases_small.py" in str(caught.value) and "rows of 4 elements of uint3b" in str(caught.value) and "fix: " in str(caught.value)
