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
