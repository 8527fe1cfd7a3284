"""Outputs of which no kernel wrote a part, and what torch makes of them. Run by test_triton.py with every check."""
import warnings

import pytest
import tilevm
import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n, other=0), mask=at < n)


def partly(n=100, written=96, dtype=torch.float32):
    """An output of n elements, of which the kernel writes the first ones."""
    x, out = torch.arange(n, device="cuda").to(dtype), torch.empty(n, dtype=dtype, device="cuda")
    double[(triton.cdiv(written, 32),)](x, out, written, BLOCK=32)
    return x, out


def told(use, *arguments):
    """The codes of the warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        use(*arguments)
    return [w.message.code for w in said if isinstance(w.message, tilevm.KernelWarning)]


USES = {
    "allclose": lambda x, out: torch.allclose(out, 2 * x),
    "equal": lambda x, out: torch.equal(out, 2 * x),
    "difference": lambda x, out: (out - 2 * x).abs().max(),
    "wider": lambda x, out: torch.allclose(out.double(), 2 * x.double(), atol=1),
    "elsewhere": lambda x, out: torch.allclose(out.cpu(), (2 * x).cpu()),
    "shape": lambda x, out: torch.allclose(out.view(10, 10), (2 * x).view(10, 10)),
    "turned": lambda x, out: torch.allclose(out.view(10, 10).t().contiguous(), (2 * x).view(10, 10).t()),
    "sum": lambda x, out: out.sum(),
    "all": lambda x, out: (out == 2 * x).all(),
    "NaNs": lambda x, out: torch.equal(torch.isnan(out), torch.isnan(x)),
    "scaled": lambda x, out: (out * 0.5 - x).abs().max(),
    "item": lambda x, out: out[97].item(),
    "part": lambda x, out: out[90:].mean(),
    "list": lambda x, out: out.tolist(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32, torch.int8])
def test_elements_that_nobody_wrote_are_used(use, dtype):
    x, out = partly(dtype=dtype)
    if use in ("part", "wider") and dtype in (torch.int32, torch.int8):
        x, out = partly()
    assert told(USES[use], x, out) == ["vm.not_written"]


def test_whether_it_is_the_memory_or_computed_from_it():
    for use, whose in ((lambda x, out: out.sum(), "of float32[100], first [96], that nobody wrote"),
                       (lambda x, out: (out > x).all(), "of bool[100], first [96], that were computed from memory that nobody wrote")):
        with pytest.warns(tilevm.KernelWarning) as said:
            use(*partly())
        assert whose in str(said[0].message)


def test_a_comparison_of_torch_testing():
    x, out = partly()

    def compare():
        with pytest.raises(AssertionError):
            torch.testing.assert_close(out, 2 * x)

    assert told(compare) == ["vm.not_written"]


def test_what_is_said():
    x, out = partly()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        out.sum()
        out.sum()  # once for each memory
    assert len(said) == 1
    text = str(said[0].message)
    assert said[0].filename == __file__
    assert "`sum` uses 4 of 100 elements of a tensor of float32[100], first [96], that nobody wrote" in text
    assert "kernel `double` got the memory as `out_ptr`; it was made at" in text and f"{__file__}:{partly.__code__.co_firstlineno + 2}" in text


NO_USES = {
    "the part that is written": lambda x, out: torch.allclose(out[:96], 2 * x[:96]),
    "a copy of the part": lambda x, out: out.double()[:96].sum(),
    "a choice": lambda x, out: torch.where(x < 96, out, 0.0).sum(),
    "times 0": lambda x, out: (out * (x < 96)).sum(),
    "filled first": lambda x, out: out[96:].fill_(0) + out.sum(),
    "written by torch": lambda x, out: out.copy_(x).sum(),
    "written as an output": lambda x, out: torch.add(x, x, out=out).sum(),
    "by rows": lambda x, out: out.view(25, 4).sum(1),
    "a copy": lambda x, out: out.clone(),
    "shown": lambda x, out: repr(out),
    "an index": lambda x, out: out[torch.arange(96)].sum(),
    "a copy that is written": lambda x, out: out.clone().zero_().sum(),
    "a type": lambda x, out: x[:50].to(out).sum(),
    "a shape": lambda x, out: (out.shape, out.stride(), out.numel(), out.data_ptr()),
}


@pytest.mark.parametrize("use", NO_USES)
def test_elements_that_nobody_wrote_are_not_used(use):
    assert told(NO_USES[use], *partly()) == []


def test_a_second_kernel_writes_the_rest():
    x, out = partly()
    double[(1,)](x[96:], out[96:], 4, BLOCK=32)
    assert told(lambda: torch.allclose(out, 2 * x)) == []


def test_a_kernel_writes_to_a_copy():
    x, out = partly()
    copy = out.clone()
    double[(4,)](x, copy, 100, BLOCK=32)
    assert told(lambda: torch.allclose(copy, 2 * x)) == []


def test_memory_that_no_kernel_got():
    out = torch.empty(100, device="cuda")
    assert told(lambda: out.sum()) == []


def test_nothing_was_written():
    x, out = torch.ones(100, device="cuda"), torch.empty(100, device="cuda")
    double[(1,)](x, out, 0, BLOCK=32)
    assert told(lambda: out.sum()) == ["vm.not_written"]


def test_functions_of_torch_func():
    """What stands for a tensor there has no memory."""
    one = torch.ones(3, 2, device="cuda")
    assert torch.equal(torch.vmap(lambda a: torch.empty_like(a).fill_(1) + a)(one), one + 1)
    assert torch.vmap(lambda a: (a > 0).all())(one).all()
    assert torch.equal(torch.vmap(lambda a: a.cpu().double())(one), one.cpu().double())
    assert torch.equal(torch.func.grad(lambda a: (a * 2).sum())(one), one * 2)
    assert torch.equal(torch.func.functionalize(lambda a: torch.empty_like(a).fill_(2) + a)(one), one + 2)
