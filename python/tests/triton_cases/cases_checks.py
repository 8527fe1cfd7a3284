"""What is wrong with a Triton kernel or its launch, exactly. Run by test_triton.py."""
import inspect

import numpy
import pytest
import tilevm
import torch
import triton
import triton.language as tl


def line_of(function, text):
    """Number of the line of a kernel that has this text."""
    lines, first = inspect.getsourcelines(function.fn)
    return first + next(i for i, line in enumerate(lines) if text in line)


@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x_ptr + at)
    tl.store(out_ptr + at, v, mask=at < n)


def test_a_read_out_of_bounds():
    x, out = torch.zeros(5, 20), torch.zeros(100)
    with pytest.raises(tilevm.TrapError) as caught:
        copy[(2,)](x, out, 100, BLOCK=64)
    error = caught.value
    assert error.code == "vm.out_of_bounds" and error.kernel == "copy" and error.block == (1, 0, 0)
    assert error.file == __file__ and error.line == line_of(copy, "tl.load")
    assert error.array == "x_ptr" and error.index == 100 and "f32[5,20]" in error.message


def test_a_write_out_of_bounds():
    x, out = torch.zeros(128), torch.zeros(10)
    with pytest.raises(tilevm.TrapError) as caught:
        copy[(2,)](x, out, 128, BLOCK=64)
    assert caught.value.line == line_of(copy, "tl.store") and caught.value.array == "out_ptr" and caught.value.index == 10


def test_a_view_reaches_to_the_end_of_its_storage():
    base, out = torch.arange(128.0), torch.zeros(64)
    with pytest.warns(tilevm.KernelWarning, match=r"index 8 of `x_ptr` \(f32\[8\], 32 bytes\), just past its end, in the rest of "
                                                  r"`x_ptr.untyped_storage\(\)` \(f32\[128\], 512 bytes\)") as told:
        copy[(1,)](base[32:40], out, 64, BLOCK=64)
    assert [w.message.code for w in told] == ["vm.outside_view"] and told[0].lineno == line_of(copy, "tl.load")
    assert torch.equal(out, base[32:96])
    with pytest.raises(tilevm.TrapError) as caught:
        copy[(1,)](base[100:], out, 64, BLOCK=64)
    assert caught.value.array == "x_ptr" and caught.value.index == 28


@pytest.mark.filterwarnings("error")
def test_views_that_are_kept_to():
    base = torch.arange(128.0).reshape(8, 16)
    for view in (base[2:6], base[:, 4:8], base.t(), base[1:3].t(), base[:, ::4], base[2:3].expand(4, 16), base[3:3]):
        out = torch.zeros(64)
        rows[(1,)](view, *view.shape, *view.stride(), out, ROWS=16, COLUMNS=16)
        assert torch.equal(out[:view.numel()], view.reshape(-1)[:64])
    # The same memory, of other shapes: launches are kept.
    for n in (4, 8):
        rows[(1,)](base[0, :n], 1, n, 0, 1, torch.zeros(64), ROWS=1, COLUMNS=8)
    with pytest.raises(tilevm.KernelWarning, match="index 4 of `x_ptr`"):
        rows[(1,)](base[0, :4], 1, 8, 0, 1, torch.zeros(64), ROWS=1, COLUMNS=8)


@triton.jit
def rows(x_ptr, m, n, row_stride, column_stride, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    inside = (i < m) & (j < n)
    v = tl.load(x_ptr + i * row_stride + j * column_stride, mask=inside)
    tl.store(out_ptr + i * n + j, v, mask=inside & (i * n + j < 64))


@triton.jit
def shifted(x_ptr, y_ptr, out_ptr, off, KIND: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    y = tl.load(y_ptr + i)
    if KIND == "load":
        tl.store(out_ptr + i, tl.load(x_ptr + off + i) + 0 * y)
    elif KIND == "store":
        tl.store(x_ptr + off + i, y)
    else:
        tl.atomic_add(x_ptr + off + i, y)


@pytest.mark.parametrize("kind", ["load", "store", "atomic_add"])
def test_another_argument_is_out_of_bounds(kind):
    x, y, out = torch.ones(64), torch.full((64,), 5.0), torch.zeros(16)
    distance = (y.data_ptr() - x.data_ptr()) // 4
    with pytest.raises(tilevm.TrapError) as caught:
        shifted[(1,)](x, y, out, distance, KIND=kind, B=16)
    error = caught.value
    assert error.code == "vm.out_of_bounds" and error.array == "x_ptr" and error.index == distance
    assert "in `y_ptr` (f32[64], 256 bytes)" in error.message and "TILEVM_ANY_ARRAY=1" in error.fix
    assert error.line == line_of(shifted, {"load": "off + i) + 0", "store": "off + i, y)", "atomic_add": "atomic_add"}[kind])


@triton.jit
def row_of(x_ptr, out_ptr, row, stride, B: tl.constexpr):
    i = tl.arange(0, B)
    start = row * stride
    tl.store(out_ptr + i, tl.load(x_ptr + start + i))


def test_the_product_that_wrapped_is_named():
    for row, stride, becomes in ((70000, 40000, 2800000000 - 2**32), (200000, 30000, 6000000000 - 2**32), (-70000, 40000, -2800000000 + 2**32)):
        with pytest.raises(tilevm.TrapError) as caught:
            row_of[(1,)](torch.ones(64), torch.empty(16), row, stride, B=16)
        error = caught.value
        assert error.array == "x_ptr" and error.index == becomes and error.line == line_of(row_of, "tl.load")
        assert f"{row} * {stride} at {__file__}:{line_of(row_of, 'row * stride')}" in error.message
        assert f"does not fit i32 and becomes {becomes}" in error.message and ".to(tl.int64)" in error.fix


@triton.jit
def pick(v_ptr, table_ptr, out_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    row = tl.load(table_ptr + i)
    tl.store(out_ptr + i, tl.load(v_ptr + row * 64))


def test_the_array_of_the_pointer_is_named():
    lowest, *others = sorted((torch.zeros(512) for _ in range(3)), key=lambda t: t.data_ptr())
    table = others[0].view(torch.int32)
    table[:4] = torch.tensor([0, 1, 2, 70000])
    with pytest.raises(tilevm.TrapError) as caught:
        pick[(1,)](lowest.view(8, 64), table, others[1], B=4)
    assert caught.value.array == "v_ptr" and caught.value.index == 70000 * 64


def test_tensors_without_memory():
    with pytest.raises(tilevm.TrapError, match="through a null pointer: `x_ptr` has no memory"):
        copy[(1,)](torch.empty(64, device="meta"), torch.zeros(64), 64, BLOCK=64)


@triton.jit
def tables(table_ptr, out_ptr, which, i):
    base = tl.load(table_ptr + which).to(tl.pointer_type(tl.float32))
    tl.store(out_ptr, tl.load(base + i))


def test_pointers_of_a_table_belong_to_what_they_point_into():
    a, b, out = torch.arange(8.0), torch.arange(8.0) + 100, torch.zeros(1)
    table = torch.tensor([a.data_ptr(), b.data_ptr()])
    tables[(1,)](table, out, 1, 7)
    assert out.item() == 107
    with pytest.raises(tilevm.TrapError, match=r"index -?\d+ of `a tensor of float32\[8\]`"):
        tables[(1,)](table, out, 0, (b.data_ptr() - a.data_ptr()) // 4)


@triton.jit
def described(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(out_ptr + i * N + j, x.load([m - M, 0]))


def test_a_descriptor_larger_than_its_tensor():
    x, out = torch.ones(8, 16), torch.zeros(4, 16)
    described[(1,)](x, out, 8, 16, M=4, N=16)
    with pytest.raises(tilevm.TrapError) as caught:
        described[(1,)](x, out, 12, 16, M=4, N=16)
    assert "`x_ptr`" in caught.value.message and caught.value.code == "vm.out_of_bounds"


def test_numpy_has_bounds_too():
    x, out = numpy.zeros(10, "float32"), numpy.zeros(64, "float32")
    with pytest.raises(tilevm.TrapError) as caught:
        copy[(1,)](x, out, 64, BLOCK=64)
    assert caught.value.array == "x_ptr" and caught.value.index == 10 and "f32[10]" in caught.value.message


@triton.jit
def outer(x_ptr):
    inner(x_ptr)


@triton.jit
def inner(x_ptr):
    tl.store(x_ptr + 1000, 1.0)


def test_the_line_is_that_of_the_callee():
    with pytest.raises(tilevm.TrapError) as caught:
        outer[(1,)](torch.zeros(4))
    assert caught.value.line == line_of(inner, "tl.store") and caught.value.kernel == "outer"


@triton.jit(debug=True)
def asserts(x_ptr, n):
    v = tl.load(x_ptr)
    tl.device_assert(v < n, "too large")


def test_asserts():
    asserts[(1,)](torch.tensor([3]), 5)
    with pytest.raises(tilevm.TrapError) as caught:
        asserts[(1,)](torch.tensor([7]), 5)
    assert caught.value.code == "vm.assert" and "too large" in str(caught.value) and caught.value.line == line_of(asserts, "device_assert")


@triton.jit
def prints(x_ptr):
    tl.device_print("pid", tl.program_id(0))
    tl.device_print("x is", tl.load(x_ptr + tl.arange(0, 4)))


def test_prints():
    lines = []
    before = tilevm.set_print(lines.append)
    try:
        prints[(2,)](torch.arange(4, dtype=torch.int32))
    finally:
        tilevm.set_print(before)
    said = "".join(lines).splitlines()
    assert sorted(said) == sorted(f"pid ({p}, 0, 0) idx ({i}) x is: {i}" if i is not None else f"pid ({p}, 0, 0) idx () pid: {p}"
                                  for p in range(2) for i in (None, 0, 1, 2, 3))


@triton.jit
def assembly(x_ptr):
    v = tl.inline_asm_elementwise("mov.u32 $0, %clock;", "=r,r", [tl.load(x_ptr)], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(x_ptr, v)


def test_what_is_not_supported():
    with pytest.raises(tilevm.ModuleError) as caught:
        assembly[(1,)](torch.zeros(1, dtype=torch.int32))
    assert caught.value.code == "ttir.unsupported" and caught.value.line == line_of(assembly, "inline_asm") and caught.value.fix


@triton.jit
def wrong_type(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr).no_such_method())


def test_triton_reports_its_own_errors():
    with pytest.raises(triton.CompilationError):
        wrong_type[(1,)](torch.zeros(1))


def test_grids_that_no_gpu_takes():
    for grid in ((1, 65536), (1, 1, 65536), (-1,), (2**31,)):
        with pytest.raises(tilevm.ArgumentError, match="grid"):
            copy[grid](torch.zeros(64), torch.zeros(64), 64, BLOCK=64)
    with pytest.raises(tilevm.ArgumentError, match="must be an integer"):
        copy[(1.5,)](torch.zeros(64), torch.zeros(64), 64, BLOCK=64)


class OfUnknownSize:
    dtype = "float32"

    def data_ptr(self):
        return 64


class OnlyAPointer:
    """Of a program that gives itself out as its storage."""

    def __init__(self, tensor, offset):
        self.dtype, self.place = tensor.dtype, tensor.data_ptr() + offset

    def data_ptr(self):
        return self.place

    def untyped_storage(self):
        return self


def test_pointers_into_tensors():
    base, out = torch.arange(64.0), torch.zeros(32)
    copy[(1,)](OnlyAPointer(base, 16), out, 32, BLOCK=32)
    assert torch.equal(out, base[4:36])
    with pytest.raises(tilevm.TrapError) as caught:
        copy[(2,)](OnlyAPointer(base, 16), out, 64, BLOCK=32)
    assert caught.value.array == "x_ptr" and caught.value.index == 64


@triton.jit
def read_typed(x_ptr: tl.pointer_type(tl.float32), out_ptr):
    tl.store(out_ptr, tl.load(x_ptr + 2))


def test_pointers_of_unknown_size():
    with pytest.raises(tilevm.ArgumentError, match="`x_ptr` points to 0x40"):
        copy[(1,)](OfUnknownSize(), torch.zeros(64), 64, BLOCK=64)


def test_wrong_arguments():
    x = torch.zeros(64)
    with pytest.raises(TypeError):
        copy[(1,)](x, object(), 64, BLOCK=64)
    with pytest.raises(TypeError):
        copy[(1,)](x, BLOCK=64)
    with pytest.raises(KeyError, match="NO_SUCH"):
        copy[(1,)](x, x, 64, BLOCK=64, NO_SUCH=1)
    with pytest.raises(tilevm.TrapError):
        copy[(1,)](x, 1.0, 64, BLOCK=64) if False else copy[(2,)](x, x, 128, BLOCK=64)


@triton.jit
def annotated(out_ptr, n: tl.int8):
    tl.store(out_ptr, n)


def test_numbers_that_do_not_fit():
    with pytest.raises(OverflowError, match="`n`: 300 does not fit i8"):
        annotated[(1,)](torch.zeros(1), 300)
    with pytest.raises(TypeError, match="`n`"):
        annotated[(1,)](torch.zeros(1), 1.5)


def test_options_of_other_back_ends_mean_nothing():
    x = torch.ones(64)
    out = torch.zeros(64)
    copy[(1,)](x, out, 64, BLOCK=64, waves_per_eu=2, num_warps=8, num_stages=5)
    assert torch.equal(out, x)


def test_an_error_leaves_the_kernel_usable():
    x, out = torch.ones(64), torch.zeros(64)
    with pytest.raises(tilevm.TrapError):
        copy[(3,)](x, out, 64, BLOCK=64)
    copy[(1,)](x, out, 64, BLOCK=64)
    assert torch.equal(out, x)


@triton.jit
def reads_a_table(table_ptr, out_ptr):
    tl.store(out_ptr, tl.load(tl.load(table_ptr).to(tl.pointer_type(tl.float32)) + 1000))


def test_addresses_in_tables_have_bounds():
    part = torch.zeros(4)
    with pytest.raises(tilevm.TrapError) as caught:
        reads_a_table[(1,)](torch.tensor([part.data_ptr()]), torch.zeros(1))
    assert caught.value.line == line_of(reads_a_table, "tl.store")


# --- indices of tl.gather, values of tl.histogram


@triton.jit
def take(x_ptr, index_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + at, tl.gather(tl.load(x_ptr + at), tl.load(index_ptr + at), AXIS))


@pytest.mark.parametrize("axis, size", [(0, 4), (1, 8), (-1, 8)])
@pytest.mark.parametrize("beyond", [0, 1, -1, 1000])
def test_an_index_beyond_the_axis_of_gather(axis, size, beyond):
    x = torch.arange(32.0).reshape(4, 8)
    out, index = torch.zeros_like(x), torch.zeros(4, 8, dtype=torch.int32)
    index[2, 1] = size - 1
    take[(1,)](x, index, out, M=4, N=8, AXIS=axis)
    assert torch.equal(out, torch.gather(x, axis, index.long()))
    wrong = -1 if beyond < 0 else size + beyond
    index[2, 5] = wrong
    with pytest.raises(tilevm.TrapError) as caught:
        take[(1,)](x, index, out, M=4, N=8, AXIS=axis)
    error = caught.value
    assert error.code == "vm.index_out_of_bounds" and error.line == line_of(take, "tl.gather")
    assert f"element [2, 5]: index {wrong} of axis {axis % 2}, which has {size} elements" in error.message


@triton.jit
def take_line(x_ptr, index_ptr, out_ptr, N: tl.constexpr, K: tl.constexpr):
    index = tl.load(index_ptr + tl.arange(0, K))
    tl.store(out_ptr + tl.arange(0, K), tl.gather(tl.load(x_ptr + tl.arange(0, N)), index, 0))


def test_gather_of_a_line_by_small_indices():
    x, out, index = torch.arange(16.0), torch.zeros(4), torch.tensor([15, 0, 3, 16], dtype=torch.int8)
    with pytest.raises(tilevm.TrapError) as caught:
        take_line[(1,)](x, index, out, N=16, K=4)
    assert "element [3]: index 16 of axis 0, which has 16 elements" in caught.value.message
    index[3] = 5
    take_line[(1,)](x, index, out, N=16, K=4)
    assert out.tolist() == [15, 0, 3, 5]


@triton.jit
def count(x_ptr, keep_ptr, out_ptr, B: tl.constexpr, BINS: tl.constexpr, MASKED: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B))
    if MASKED:
        bins = tl.histogram(x, BINS, mask=tl.load(keep_ptr + tl.arange(0, B)) != 0)
    else:
        bins = tl.histogram(x, BINS)
    tl.store(out_ptr + tl.arange(0, BINS), bins)


def test_a_value_beyond_the_bins_of_histogram():
    x, out = torch.arange(16, dtype=torch.int32) % 8, torch.zeros(8, dtype=torch.int32)
    keep = torch.ones(16, dtype=torch.int32)
    count[(1,)](x, keep, out, B=16, BINS=8, MASKED=False)
    assert out.tolist() == [2] * 8
    x[3] = 8
    keep[3] = 0
    count[(1,)](x, keep, out, B=16, BINS=8, MASKED=True)
    assert out.tolist() == [2, 2, 2, 1, 2, 2, 2, 2]
    with pytest.raises(tilevm.TrapError) as caught:
        count[(1,)](x, keep, out, B=16, BINS=8, MASKED=False)
    assert caught.value.line == line_of(count, "bins = tl.histogram(x, BINS)\n") and "index 8 of axis 0" in caught.value.message


# --- contraction


@triton.jit
def product_and_sum(x_ptr, out_ptr, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B))
    tl.store(out_ptr + tl.arange(0, B), x * x - 1.0)


@pytest.mark.parametrize("option, variable, fused", [(None, "1", True), (None, "0", False), (True, "0", True), (False, "1", False)])
def test_contraction_follows_tritons_options(option, variable, fused, monkeypatch, fresh_cache):
    from triton import knobs

    if not hasattr(getattr(knobs, "language", None), "fp_fusion_enabled"):
        pytest.skip("this Triton has the option only")
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", variable)
    x = torch.full((16,), 1 + 2.0 ** -13)
    out = torch.empty_like(x)
    product_and_sum.device_caches.clear()
    product_and_sum[(1,)](x, out, B=16, **({} if option is None else {"enable_fp_fusion": option}))
    exact = 2.0 ** -12 + 2.0 ** -26
    assert out[0].item() == (exact if fused else 2.0 ** -12)
