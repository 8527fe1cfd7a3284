"""What programs around Triton kernels ask of torch's "cuda". Run by test_triton.py."""
import time

import pytest
import torch


def test_the_number_of_a_stream():
    assert torch._C._cuda_getCurrentRawStream(0) == 0
    with torch.cuda.stream(torch.cuda.Stream()) as unused:
        assert unused is None
        assert torch._C._cuda_getCurrentRawStream(0) == torch.cuda.current_stream().cuda_stream != 0


def test_the_state_of_random_numbers_is_a_seed_and_an_offset():
    torch.manual_seed(3)
    first = torch.rand(4, device="cuda")
    state = torch.cuda.get_rng_state()
    assert state.view(torch.int64).tolist() == [3, 4]
    second = torch.rand(4, device="cuda")
    torch.cuda.set_rng_state(state)
    assert torch.equal(torch.rand(4, device="cuda"), second)
    generator = torch.cuda.default_generators[0]
    generator.manual_seed(3)
    assert torch.equal(torch.rand(4, device="cuda", generator=generator), first) and generator.get_offset() == 4


def test_a_state_with_a_greater_offset():
    generator = torch.cuda.default_generators[0].manual_seed(7)
    drawn = []
    for _ in range(2):
        state = generator.get_state()
        state.view(torch.int64)[1] = 16
        generator.set_state(state)
        assert generator.get_state().view(torch.int64).tolist() == [7, 16]
        drawn.append(torch.rand(4, device="cuda"))
    assert torch.equal(*drawn)
    generator.set_state(torch.tensor([7, 0]))
    drawn.append(torch.rand(4, device="cuda"))
    assert not torch.equal(*drawn[1:]) and torch.equal(drawn[2], torch.rand(4, generator=torch.Generator().manual_seed(7)))


def test_generators_of_one_s_own():
    own = torch.Generator("cuda").manual_seed(2**64 - 5)
    assert isinstance(own, torch.Generator) and own.device == torch.device("cuda", 0) and own.initial_seed() == 2**64 - 5
    torch.rand(3, device="cuda", generator=own)
    state, before = own.get_state(), torch.get_rng_state()
    drawn = torch.rand(3, device="cuda", generator=own)
    copy = own.clone_state()
    own.set_state(state)
    assert torch.equal(drawn, torch.rand(3, device="cuda", generator=own)) and torch.equal(before, torch.get_rng_state())
    assert torch.equal(torch.rand(3, generator=copy), torch.rand(3, device="cuda", generator=own))
    assert torch.Generator().device == torch.Generator("cpu").device == torch.device("cpu")


def test_there_is_one_device():
    for device in (None, 0, "cuda", "cuda:0", torch.device("cuda"), (0, "anything")):
        assert torch.cuda.get_device_capability(device) == (9, 0)
    for device in (1, "cuda:1", torch.device("cuda", 1)):
        with pytest.raises(RuntimeError, match="invalid device ordinal"):
            torch.cuda.get_device_capability(device)


def test_the_default_device():
    def made():
        return (torch.ones(2), torch.tensor([1]), torch.randperm(3), torch.ones(2) + 1, torch.zeros(2, device=None))

    with torch.device("cuda"):
        assert all(x.device.type == "cuda" for x in made()) and torch.ones(2, device="cpu").device.type == "cpu"
    assert all(x.device.type == "cpu" for x in made())
    torch.set_default_device("cuda:0")
    try:
        assert torch.get_default_device() == torch.device("cuda:0") and all(x.device.type == "cuda" for x in made())
        assert torch.ones(2, device="cpu").device.type == torch.arange(2).cpu().device.type == "cpu"
        product = torch.ones(3, 4, dtype=torch.float16) @ torch.ones(4, 2, dtype=torch.float16)  # rounded as on a GPU
        assert product.device.type == "cuda" and (product == 4).all()
    finally:
        torch.set_default_device(None)
    assert all(x.device.type == "cpu" for x in made())


def test_what_any_accelerator_has():
    with torch.accelerator.device_index(0):
        assert torch.accelerator.current_device_index() == 0
    assert torch.accelerator.memory_allocated() == 0
    start, end = torch.Event(enable_timing=True), torch.Event("cuda", enable_timing=True)
    start.record()
    time.sleep(0.01)
    end.record()
    end.synchronize()
    assert 10 <= start.elapsed_time(end) < 10000 and isinstance(start, torch.Event) and isinstance(torch.cuda.Event(), torch.Event)


def test_what_is_compiled_runs_as_it_is():
    @torch.compile(fullgraph=True)
    def twice(x):
        return 2 * x

    assert twice(torch.ones(3, device="cuda")).tolist() == [2, 2, 2]
    assert torch.compile(torch.nn.ReLU())(torch.tensor([-1.0, 1], device="cuda")).tolist() == [0, 1]


def test_tensors_made_below_the_mode():
    from torch.nn.attention.flex_attention import flex_attention

    q = torch.randn(1, 2, 16, 16, device="cuda", requires_grad=True)
    out = torch.compile(flex_attention)(q, q, q, score_mod=lambda score, batch, head, i, j: score * 2)
    expected = torch.nn.functional.scaled_dot_product_attention(q, q, q, scale=0.5)
    torch.testing.assert_close(out, expected)
    out.sum().backward()
    assert q.grad.shape == q.shape and torch.ones(1).new_ones(2, device="cuda").device.type == "cuda"


class Shifts(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x + 1

    @staticmethod
    def backward(ctx, gradient):
        made = torch.ones(2).to(gradient.device) + torch.zeros(2).to("cuda", torch.float32) + torch.zeros(2).to(device="cuda:0")
        assert made.device.type == "cuda" and made.to("cpu").device.type == "cpu" and made.new_zeros(2, device="cuda").device.type == "cuda"
        return gradient * 2 * made


def test_what_is_there_already_is_not_copied():
    x, host = torch.zeros(2, device="cuda"), torch.zeros(2)
    for same in (x.to("cuda"), x.to(x.device), x.to(device="cuda:0"), x.to(torch.float32), x.to(x), x.cuda()):
        assert same.data_ptr() == x.data_ptr() and same.device.type == "cuda"
    for same in (host.to("cpu"), host.to(host.device), host.to(host), host.cpu()):
        assert same.data_ptr() == host.data_ptr() and same.device.type == "cpu"
    for other in (x.to("cpu"), host.to("cuda"), host.to(x), x.to(host)):
        assert other.data_ptr() not in (x.data_ptr(), host.data_ptr())
    with torch.device("cuda"):
        assert x.to("cuda").data_ptr() == x.data_ptr()


def test_backward_functions_put_tensors_on_the_device():
    x = torch.zeros(2, device="cuda", requires_grad=True)
    Shifts.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2] and x.grad.device.type == "cuda"
