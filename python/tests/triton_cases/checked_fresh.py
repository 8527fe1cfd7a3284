"""Tensors that torch makes without values, and nobody wrote before a kernel reads them. Run by test_triton.py with every check."""
import numpy
import pytest
import tilevm
import torch
import triton
import triton.language as tl

from tilevm._frontend.torch_cuda import fresh


@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def through(x_ptr, t_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(t_ptr + at, tl.load(x_ptr + at), mask=at < BLOCK - 1)  # not the last one
    tl.store(out_ptr + at, tl.load(t_ptr + at))


def reads(x, n=None):
    """Whether a kernel that copies x is told that nobody wrote it."""
    n = x.numel() if n is None else n
    try:
        copy[(triton.cdiv(n, 64),)](x, torch.zeros(n, dtype=x.dtype, device="cuda"), n, BLOCK=64)
    except tilevm.TrapError as error:
        assert error.code == "vm.uninitialized" and "x_ptr" in error.message, str(error)
        return True
    return False


def test_scratch_of_which_one_element_is_not_written():
    t, out = torch.empty(64, device="cuda"), torch.empty(64, device="cuda")
    with pytest.raises(tilevm.TrapError) as caught:
        through[(1,)](torch.ones(64, device="cuda"), t, out, BLOCK=64)
    assert caught.value.code == "vm.uninitialized" and caught.value.array == "out_ptr" and "`t_ptr`" in caught.value.message


@pytest.mark.parametrize("make", [
    lambda: torch.empty(100, device="cuda"), lambda: torch.empty(100), lambda: torch.empty(10, 10, device="cuda"),
    lambda: torch.empty_like(torch.ones(100, device="cuda")), lambda: torch.ones(1, device="cuda").new_empty(100),
    lambda: torch.empty_strided((10, 10), (1, 10), device="cuda"), lambda: torch.empty_permuted((10, 10), (1, 0), device="cuda"),
    lambda: torch.ones(1, device="cuda").new_empty_strided((100,), (1,)), lambda: torch.empty(0, device="cuda").resize_(100),
    lambda: torch.empty(100, dtype=torch.bool, device="cuda"), lambda: torch.empty(100, dtype=torch.uint8, device="cuda"),
    lambda: torch.empty(100, dtype=torch.bfloat16, device="cuda"), lambda: torch.empty(200, device="cuda")[100:],
    lambda: torch.empty(100, device="cuda").view(torch.int32), lambda: torch.empty(100, device="cuda").detach(),
])
def test_reading_what_nobody_wrote(make):
    assert reads(make())


def in_numpy(t):
    t.numpy()[:] = 1


def as_dlpack(t):
    numpy.from_dlpack(torch.from_dlpack(t))
    torch.from_dlpack(t.detach()).fill_(1)


@pytest.mark.parametrize("write", [
    lambda t: t.zero_(), lambda t: t.fill_(3), lambda t: t.copy_(torch.ones(100)), lambda t: t.normal_(), lambda t: t.add_(1),
    lambda t: t[:].fill_(1), lambda t: t.view(10, 10).zero_(), lambda t: t.data.fill_(1), lambda t: t.detach().zero_(),
    lambda t: torch.add(torch.ones(100), 1, out=t), lambda t: torch.arange(100, out=t), lambda t: t.__setitem__(slice(None), 2),
    lambda t: torch.nn.init.uniform_(t), lambda t: t.index_fill_(0, torch.arange(100), 1), in_numpy, as_dlpack,
    lambda t: t.set_(torch.ones(100)), lambda t: torch._foreach_zero_([t]),
])
def test_what_torch_writes_has_values(write):
    t = torch.empty(100, device="cuda")
    write(t)
    assert not reads(t)


def test_writes_that_torch_does_not_count():
    with torch.inference_mode():
        t = torch.empty(100, device="cuda")
        assert reads(t)
        t.fill_(1)
        assert not reads(t)
        t = torch.empty(100, dtype=torch.bool, device="cuda")
        t[0] = True
        assert not reads(t)  # a byte may well be what it was: nothing is said


def test_results_of_operations_have_values():
    x = torch.ones(100, device="cuda")
    for result in (x + 1, torch.empty(100, device="cuda") * 0, x.clone(), torch.empty(100, device="cuda").clone(), torch.zeros_like(x),
                   torch.full((100,), 2.0, device="cuda"), x.to(torch.float16)):
        assert not reads(result)


def test_what_a_kernel_wrote_is_remembered():
    t, x = torch.empty(100, device="cuda"), torch.ones(100, device="cuda")
    copy[(1,)](x, t, 60, BLOCK=64)
    assert not reads(t, 60)
    assert reads(t)
    copy[(1,)](x, t[40:], 60, BLOCK=64)
    assert not reads(t)


def test_memory_that_is_used_again():
    for _ in range(20):
        t = torch.empty(1000, device="cuda")
        assert reads(t)
        del t
        assert not reads(torch.ones(1000, device="cuda"))
    before = len(fresh._known)
    for _ in range(20):
        torch.empty(1 << 16, device="cuda")
    assert len(fresh._known) <= before + 1


def test_a_tensor_that_grows():
    t = torch.ones(50, device="cuda").resize_(100)
    assert not reads(t, 50)
    assert reads(t)


def test_a_buffer_that_is_filled_in_parts_by_torch_has_values():
    t = torch.empty(100, device="cuda")
    t[:50] = 1
    assert not reads(t)


def test_a_search_may_measure_with_what_nobody_wrote():
    from tilevm._frontend.trials import Memory

    x, t = torch.empty(100, device="cuda"), torch.empty(100, device="cuda")
    memory = Memory({"pair": (x, t)})
    copy[(2,)](x, t, 100, BLOCK=64)
    memory.put_back()
    assert reads(x) and reads(t)


def test_arrays_that_a_kernel_only_writes(tmp_path):
    t = torch.empty(100, device="cuda")
    copy[(2,)](torch.arange(100.0, device="cuda"), t, 100, BLOCK=64)
    assert torch.equal(t, torch.arange(100.0, device="cuda"))


@triton.jit
def count(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr + tl.load(x_ptr + at, mask=at < n, other=0), 1, mask=at < n)


def test_counters_that_nobody_cleared():
    x = torch.arange(100, dtype=torch.int32, device="cuda") % 7
    out = torch.empty(7, dtype=torch.int32, device="cuda")
    with pytest.raises(tilevm.TrapError) as caught:
        count[(2,)](x, out, 100, BLOCK=64)
    assert caught.value.code == "vm.uninitialized" and caught.value.array == "out_ptr"
    out = torch.empty(7, dtype=torch.int32, device="cuda").zero_()
    count[(2,)](x, out, 100, BLOCK=64)
    assert out.sum() == 100


@triton.jit
def any_of(x_ptr, out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr.to(tl.pointer_type(tl.int8)), tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK)).to(tl.int8)).to(tl.int8))


def test_a_byte_that_is_no_bool():
    out = torch.zeros(1, dtype=torch.bool, device="cuda")
    any_of[(1,)](torch.tensor([1, 0], dtype=torch.bool, device="cuda"), out, BLOCK=2)
    assert out.item()
    with pytest.raises(tilevm.TrapError) as caught:
        any_of[(1,)](torch.tensor([1, 1], dtype=torch.bool, device="cuda"), out, BLOCK=2)
    assert caught.value.code == "vm.bool_value" and caught.value.array == "out_ptr" and "byte 2" in caught.value.message
    with pytest.raises(tilevm.TrapError) as caught:
        any_of[(1,)](torch.tensor([1, 5], dtype=torch.uint8, device="cuda").view(torch.bool), out, BLOCK=2)
    assert caught.value.code == "vm.bool_value" and caught.value.array == "x_ptr" and caught.value.index == 1
