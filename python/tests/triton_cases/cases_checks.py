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
    copy[(1,)](base[32:40], out, 64, BLOCK=64)
    assert torch.equal(out, base[32:96])
    with pytest.raises(tilevm.TrapError) as caught:
        copy[(1,)](base[100:], out, 64, BLOCK=64)
    assert caught.value.array == "x_ptr.untyped_storage()" and caught.value.index == 128


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
    with pytest.raises(TypeError):
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
