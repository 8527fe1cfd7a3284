"""`view` of registers in other layouts and types, dequantisation with it, and shapes that are not powers of two. Run by test_tilus.py with every
check."""
import random

import pytest
import tilevm
import tilus
import torch
from .packed import number_of, pack, tensor_of, unpack, viewed
from tilus import float16, float32, int8, int32, uint8, void_p
from tilus.hidet.ir import dtypes
from tilus.ir.layout.ops import local, reduce, spatial
from tilus.lang.modules.cuda import cuda


class View(tilus.Script):
    """Packed elements, seen in another way, packed again."""

    def __init__(self, dtype, layout, new_dtype, new_layout):
        super().__init__()
        self.dtype = dtype
        self.layout = layout
        self.new_dtype = new_dtype
        self.new_layout = new_layout
        self.zeros = [0] * len(layout.shape)
        self.new_zeros = [0] * len(new_layout.shape)

    def __call__(self, x_ptr: void_p, y_ptr: void_p):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        x = self.load_global(self.global_view(x_ptr, dtype=self.dtype, shape=self.layout.shape), offsets=self.zeros, shape=self.layout.shape)
        self.annotate_layout(x, self.layout)
        y = self.view(x, dtype=self.new_dtype, layout=self.new_layout)
        self.store_global(self.global_view(y_ptr, dtype=self.new_dtype, shape=self.new_layout.shape), y, offsets=self.new_zeros)


def compare(dtype, layout, new_dtype, new_layout):
    random.seed(f"{dtype.name} {new_dtype.name}")
    indices = list(map(tuple, torch.cartesian_prod(*map(torch.arange, layout.shape)).reshape(-1, len(layout.shape)).tolist()))
    codes = {index: random.randrange(1 << dtype.nbits) for index in indices}
    expected = viewed(codes, dtype.nbits, layout, new_dtype.nbits, new_layout)
    y = tensor_of(bytes((len(expected) * new_dtype.nbits + 7) // 8))
    View(dtype, layout, new_dtype, new_layout)(tensor_of(pack(codes.values(), dtype.nbits)), y)
    assert unpack(y.tolist(), new_dtype.nbits, len(expected)) == [expected[index] for index in sorted(expected)]


MMA = spatial(1, 4).local(2, 1).spatial(8, 1)  # a layout in which a thread has neighbours along rows
B = local(2, 1).column_spatial(4, 8).local(2, 1)  # [16, 8], the second operand of mma.m16n8k16
WEIGHTS = local(1, 2) * B  # [16, 16]


@pytest.mark.parametrize("layout, new_layout", [
    (spatial(8, 4).local(1, 4), spatial(8, 4).local(1, 4)),
    (spatial(8, 4).local(1, 4), local(4, 1).column_spatial(4, 8)),
    (spatial(32).local(8), WEIGHTS), (WEIGHTS, spatial(32).local(8)), (local(2, 4).spatial(4, 8), local(8).spatial(32))], ids=str)
def test_one_type_in_another_layout(layout, new_layout):
    compare(uint8, layout, uint8, new_layout)


@pytest.mark.parametrize("dtype, count, new_dtype, new_count", [
    (uint8, 8, int32, 2), (int32, 2, uint8, 8), (float16, 4, int32, 2), (int32, 1, dtypes.uint4b, 8), (uint8, 4, dtypes.int2b, 16),
    (dtypes.uint1b, 8, int8, 1), (float32, 2, dtypes.uint64, 1), (dtypes.uint4b, 4, float16, 1), (uint8, 4, dtypes.uint4b, 8)],
    ids=lambda value: getattr(value, "name", str(value)))
def test_another_type(dtype, count, new_dtype, new_count):
    compare(dtype, spatial(32).local(count), new_dtype, spatial(32).local(new_count))


@pytest.mark.parametrize("dtype", [dtypes.int3b, dtypes.uint5b, dtypes.int6b, dtypes.uint7b, dtypes.float6_e3m2, dtypes.int4b, dtypes.uint2b, uint8],
                         ids=lambda dtype: dtype.name)
def test_weights_as_bytes_and_back(dtype):
    """As Tilus' quantized product has them: 8 elements a thread, and 3 pieces of 2 bytes for 6 bits."""
    count = WEIGHTS.local_size * dtype.nbits // 8
    inner = next(n for n in (16, 8, 4, 2, 1) if count % n == 0)
    flat = local(count // inner).spatial(32).local(inner)
    compare(dtype, WEIGHTS, uint8, flat)
    compare(uint8, flat, dtype, WEIGHTS)


def test_threads_that_have_the_same_elements():
    repeated = reduce(spatial(4, 8).local(1, 2), dims=[0], keepdims=True)  # [1, 16], four times
    compare(uint8, repeated, uint8, repeated)
    compare(uint8, repeated, dtypes.uint4b, reduce(spatial(4, 8).local(1, 4), dims=[0], keepdims=True))
    compare(uint8, repeated, uint8, spatial(4, 8).local(1, 2))
    compare(uint8, reduce(spatial(4, 8).local(1, 3), dims=[0], keepdims=True), dtypes.uint3b, spatial(4, 8).local(1, 8))


class Dequantized(tilus.Script):
    """A product with packed weights: bytes in shared memory, a view in the layout of the product, a cast, a scale for each column."""

    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype
        self.mma = self.cuda.mma_dot_config(self.cuda.atomic_mma_configs.m16n8k16_f16_f32, warp_spatial=(1, 1), warp_repeat=(1, 2, 1))
        self.flat = flat_layout(self.mma.lb, dtype)
        self.bytes = self.flat.shape[0]

    def __call__(self, m: int32, k: int32, a_ptr: ~float16, w_ptr: ~uint8, scale_ptr: ~float16, c_ptr: ~float16):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        ga = self.global_view(a_ptr, dtype=float16, shape=[m, k])
        gw = self.global_view(w_ptr, dtype=uint8, shape=[k // 16, self.bytes])
        gs = self.global_view(scale_ptr, dtype=float16, shape=[1, 16])
        gc = self.global_view(c_ptr, dtype=float16, shape=[m, 16])
        s = self.shared_tensor(dtype=uint8, shape=[self.bytes])
        acc = self.register_tensor(dtype=float32, shape=[16, 16], init=0.0)
        scale = self.load_global(gs, offsets=[0, 0], shape=[1, 16])
        for i in self.range(k // 16):
            self.copy_async(src=gw, dst=s, offsets=[i, 0], dims=[1])
            self.copy_async_wait_all()
            self.sync()
            packed = self.load_shared(s)
            self.annotate_layout(packed, self.flat)
            w = self.cast(self.view(packed, dtype=self.dtype, layout=self.mma.lb), dtype=float16) * scale
            a = self.load_global(ga, offsets=[0, 16 * i], shape=[16, 16])
            self.annotate_layout(a, self.mma.la)
            self.dot(a, w, acc, out=acc)
            self.sync()
        self.annotate_layout(acc, self.mma.lc)
        self.store_global(gc, self.cast(acc, dtype=float16), offsets=[0, 0])


def flat_layout(layout, dtype):
    """The bytes of the threads of a layout, in pieces of up to four."""
    count = layout.local_size * dtype.nbits // 8
    inner = 4 if count % 4 == 0 else 2 if count % 2 == 0 else 1
    return local(count // inner).spatial(layout.spatial_size).local(inner)


@pytest.mark.parametrize("dtype", [dtypes.int4b, dtypes.int3b, dtypes.int6b, dtypes.float6_e3m2, dtypes.float4_e2m1, dtypes.float3_e1m1],
                         ids=lambda dtype: dtype.name)
def test_a_product_with_packed_weights(dtype):
    random.seed(dtype.name)
    m, k, bits = 11, 48, dtype.nbits
    script = Dequantized(dtype)
    layout = cuda.mma_dot_config(cuda.atomic_mma_configs.m16n8k16_f16_f32, (1, 1), (1, 2, 1)).lb
    weights, stored = torch.zeros(k, 16), []
    for block in range(k // 16):
        codes = {(row, column): random.randrange(1 << bits) for row in range(16) for column in range(16)}
        for (row, column), code in codes.items():
            weights[16 * block + row, column] = number_of(code, dtype)
        found = viewed(codes, bits, layout, 8, flat_layout(layout, dtype))
        stored += [found[index] for index in sorted(found)]
    a, scale = (torch.rand(m, k) - 0.5).half(), (torch.rand(1, 16) + 0.5).half()
    c = torch.zeros(m, 16, dtype=torch.float16, device="cuda")
    script(m, k, a.cuda(), tensor_of(stored), scale.cuda(), c)
    torch.testing.assert_close(c.cpu().float(), a.float() @ (weights.half() * scale).float(), atol=2e-2, rtol=2e-2)


class OddShapes(tilus.Script):
    def __init__(self, old, new):
        super().__init__()
        self.old = old
        self.new = new

    def __call__(self, x_ptr: ~int32, y_ptr: ~int32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        x = self.load_global(self.global_view(x_ptr, dtype=int32, shape=self.old), offsets=[0, 0], shape=self.old)
        self.store_global(self.global_view(y_ptr, dtype=int32, shape=self.new), self.reshape(x, shape=self.new), offsets=[0, 0])


@pytest.mark.skipif(not hasattr(tilus.Script, "reshape"), reason="this Tilus has no reshape of registers; 0.2.0 does not")
@pytest.mark.parametrize("old, new", [([6, 32], [3, 64]), ([2, 96], [6, 32])])
def test_reshapes_of_sizes_that_are_not_powers_of_two(old, new):
    x, y = torch.arange(192, dtype=torch.int32).reshape(old).cuda(), torch.zeros(new, dtype=torch.int32).cuda()
    OddShapes(old, new)(x, y)
    assert torch.equal(y, x.reshape(new))


class WrongThreads(tilus.Script):
    def __call__(self, x_ptr: ~uint8):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        x = self.load_global(self.global_view(x_ptr, dtype=uint8, shape=[128]), offsets=[0], shape=[128])
        self.annotate_layout(x, spatial(32).local(4))
        self.store_global(self.global_view(x_ptr, dtype=uint8, shape=[256]), self.view(x, dtype=uint8, layout=spatial(32).local(8)), offsets=[0])


def test_a_view_of_more_bits_than_there_are_is_refused():
    with pytest.raises((tilevm.UnsupportedError, RuntimeError)) as caught:
        WrongThreads()(torch.zeros(256, dtype=torch.uint8).cuda())
    assert "cases_views.py" in str(caught.value)
