"""Triton kernels on a GPU under `tilevm.triton`, with torch. Run by test_gpu_triton.py."""
import numpy
import pytest
import tilevm
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)


def test_it_is_our_code():
    kernel = add[(1,)](*(torch.ones(4, device="cuda") for _ in range(3)), 4, BLOCK=16)
    assert "tbc" in kernel.asm and "cubin" not in kernel.asm
    assert [image["kind"] for image in tilevm.load(kernel.asm["tbc"]).images]


@pytest.mark.parametrize("n", [1, 16, 1000, 1 << 20])
def test_sizes(n):
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    out = torch.full((n + 1,), 7.0, device="cuda")
    add[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
    assert torch.equal(out[:n], x + y) and out[n] == 7


@triton.jit
def put(out_ptr, value):
    tl.store(out_ptr, value)


@pytest.mark.parametrize("value, dtype", [(0, torch.int32), (1, torch.int32), (2**31, torch.int64), (-2**63, torch.int64),
                                          (True, torch.int32), (3.25, torch.float32)])
def test_scalars(value, dtype):
    out = torch.zeros(1, dtype=dtype, device="cuda")
    put[(1,)](out, value)
    assert out.item() == value


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i, j = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptr + i[:, None] * K + start + k[None, :], mask=(i[:, None] < M) & (start + k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + (start + k[:, None]) * N + j[None, :], mask=(start + k[:, None] < K) & (j[None, :] < N), other=0.0)
        total = tl.dot(a, b, total)
    tl.store(c_ptr + i[:, None] * N + j[None, :], total, mask=(i[:, None] < M) & (j[None, :] < N))


def test_dot():
    a, b = torch.randn(300, 200, device="cuda", dtype=torch.float16), torch.randn(200, 100, device="cuda", dtype=torch.float16)
    c = torch.empty(300, 100, device="cuda")
    product[(5, 2)](a, b, c, 300, 100, 200, BM=64, BN=64, BK=32)
    torch.testing.assert_close(c, a.float() @ b.float(), rtol=1e-2, atol=1e-2)


@triton.jit
def copy_described(src, dst, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.program_id(0) * M, tl.program_id(1) * N
    dst.store([i, j], src.load([i, j]))


def test_descriptors():
    x, out = torch.randn(100, 64, device="cuda"), torch.zeros(100, 64, device="cuda")
    copy_described[(7, 4)](TensorDescriptor.from_tensor(x, [16, 16]), TensorDescriptor.from_tensor(out, [16, 16]), M=16, N=16)
    assert torch.equal(out, x)


def test_numpy_arrays_are_copied():
    x, out = numpy.arange(1000, dtype="float32"), numpy.zeros(1000, "float32")
    add[(8,)](x, x, out, 1000, BLOCK=128)
    assert (out == 2 * x).all()


def test_tensors_of_the_cpu_are_refused():
    with pytest.raises(ValueError, match="`y_ptr` cannot be accessed"):
        add[(1,)](torch.ones(4, device="cuda"), torch.ones(4), torch.ones(4, device="cuda"), 4, BLOCK=16)
    pinned = torch.ones(4).pin_memory()
    out = torch.zeros(4, device="cuda")
    add[(1,)](pinned, pinned, out, 4, BLOCK=16)
    assert out.tolist() == [2.0] * 4


def test_streams_and_graphs():
    x, out = torch.ones(1 << 16, device="cuda"), torch.zeros(1 << 16, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        add[(64,)](x, x, out, 1 << 16, BLOCK=1024)
        add[(64,)](out, x, out, 1 << 16, BLOCK=1024)
    torch.cuda.current_stream().wait_stream(stream)
    assert (out == 3).all()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        add[(64,)](out, x, out, 1 << 16, BLOCK=1024)
    for _ in range(3):
        graph.replay()
    assert (out == 6).all()


@triton.jit(debug=True)
def demand(x_ptr):
    tl.device_assert(tl.load(x_ptr) > 0, "not positive")


def test_asserts_come_when_torch_waits():
    demand[(1,)](torch.ones(1, device="cuda"))
    torch.cuda.synchronize()
    demand[(1,)](torch.zeros(1, device="cuda"))
    with pytest.raises(tilevm.TrapError, match="not positive"):
        torch.cuda.synchronize()


@triton.autotune(configs=[triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 1024})], key=["n"])
@triton.jit
def tuned(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


def test_autotune():
    x, out = torch.randn(5000, device="cuda"), torch.zeros(5000, device="cuda")
    tuned[lambda meta: (triton.cdiv(5000, meta["BLOCK"]),)](x, out, 5000)
    assert torch.equal(out, 2 * x)
