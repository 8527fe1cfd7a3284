"""Launches of Triton kernels under tilevm.triton: arguments of every kind, grids, hooks, tuning. Run by test_triton.py."""
import collections
import threading

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


@triton.jit
def positions(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    tl.store(out_ptr + (z * tl.num_programs(1) + y) * tl.num_programs(0) + x, 100 * z + 10 * y + x)


@triton.jit
def store_scalar(out_ptr, value):
    tl.store(out_ptr, value)


@triton.jit
def double_constant(x_ptr: tl.const, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def store_pair(out_ptr, pair, rest):
    tl.store(out_ptr, tl.load(pair[0]) * pair[1])
    tl.store(out_ptr + 1, rest.scale * rest.inner[0])


def test_grids():
    x = torch.arange(1000, device="cuda", dtype=torch.float32)
    for grid in ((8,), [8], lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)):
        out = torch.empty_like(x)
        add[grid](x, x, out, 1000, BLOCK=128)
        assert torch.equal(out, 2 * x) and out.is_cuda
    out = torch.zeros(24, dtype=torch.int32, device="cuda")
    positions[(4, 3, 2)](out)
    assert out.view(2, 3, 4)[1, 2, 3] == 123 and out[0] == 0 and out[5] == 11
    before = out.clone()
    positions[(4, 0, 2)](out + 5)  # nothing runs
    assert torch.equal(out, before)
    with pytest.raises(tilevm.ArgumentError, match=r"dimension 0 of the grid is 4.0, must be an integer\n  fix: divide by triton.cdiv"):
        positions[(24 / 6,)](out)


def test_many_sizes_of_one_kernel():
    for n in (1, 2, 16, 127, 128, 129, 1000):
        x, y = torch.randn(n), torch.randn(n)  # tensors of the CPU are taken, too
        out = torch.full((n + 1,), 7.0)
        add[(triton.cdiv(n, 128),)](x, y, out, n, BLOCK=128)
        assert torch.equal(out[:n], x + y) and out[n] == 7


@pytest.mark.parametrize("annotation, dtype, value", [
    ("tl.int8", torch.int8, -128), ("tl.int16", torch.int16, -2), ("tl.int32", torch.int32, 5), ("tl.int64", torch.int64, -2**62),
    ("tl.uint8", torch.uint8, 255), ("tl.uint32", torch.int64, 2**32 - 1), ("tl.int1", torch.int32, True),
    ("tl.float16", torch.float16, 0.1), ("tl.bfloat16", torch.bfloat16, 0.5), ("tl.float32", torch.float32, 0.1),
    ("tl.float64", torch.float64, 0.1), ("tl.float16", torch.float16, 6e-8), ("tl.float16", torch.float16, float("-inf")),
])
def test_annotated_scalars(annotation, dtype, value, tmp_path):
    file = tmp_path / "annotated.py"
    file.write_text(f"import triton\nimport triton.language as tl\n@triton.jit\ndef put(out, v: {annotation}):\n    tl.store(out, v)\n")
    namespace = {}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    out = torch.zeros(1, dtype=dtype)
    namespace["put"][(1,)](out, value)
    assert torch.equal(out, torch.tensor([value], dtype=dtype))


@pytest.mark.parametrize("value, dtype", [(0, torch.int32), (1, torch.int32), (16, torch.int32), (2**31, torch.int64), (-2**63, torch.int64),
                                          (2**63 + 5, torch.uint64), (True, torch.int32), (3.25, torch.float32), (float("nan"), torch.float32)])
def test_scalars_by_value(value, dtype):
    out = torch.zeros(1, dtype=dtype)
    store_scalar[(1,)](out, value)
    assert out.item() == value or value != value and out.item() != out.item()


def test_pointers_to_constants():
    x, out = torch.arange(30, device="cuda", dtype=torch.float32), torch.zeros(30, device="cuda")
    double_constant[(1,)](x, out, 30, BLOCK=32)
    assert torch.equal(out, 2 * x)


def test_tuples():
    Rest = collections.namedtuple("Rest", "scale inner")
    out = torch.zeros(2, dtype=torch.float32)
    store_pair[(1,)](out, (torch.full((1,), 3.0), 2.5), Rest(4, (0.5, None)))
    assert out.tolist() == [7.5, 2.0]


@triton.jit
def optional(x_ptr, bias_ptr, HAS: tl.constexpr):
    v = tl.load(x_ptr)
    if HAS:
        v += tl.load(bias_ptr)
    tl.store(x_ptr, v)


def test_none_and_constants():
    x = torch.tensor([1.0])
    optional[(1,)](x, None, HAS=False)
    optional[(1,)](x, torch.tensor([2.0]), HAS=True)
    assert x.item() == 3.0


def test_views_and_in_place():
    base = torch.arange(64, dtype=torch.float32)
    view = base[16:32]
    add[(1,)](view, view, view, 16, BLOCK=16)
    assert torch.equal(base[16:32], 2 * torch.arange(16, 32.0)) and base[15] == 15 and base[32] == 32


def test_numpy_arrays():
    x = numpy.arange(100, dtype="float32")
    out = numpy.zeros(100, "float32")
    add[(1,)](x, x[::-1].copy(), out, 100, BLOCK=128)
    assert (out == 99).all()
    wide = numpy.zeros((4, 100), "float32")
    add[(1,)](x, x, wide[2], 100, BLOCK=128)
    assert (wide[2] == 2 * x).all() and (wide[[0, 1, 3]] == 0).all()


class Memory:
    """What has data_ptr() and says how large it is."""
    dtype = "float32"

    def __init__(self, array):
        self.array, self.nbytes = array, array.nbytes

    def data_ptr(self):
        return self.array.ctypes.data


def test_objects_with_data_ptr():
    x, out = numpy.ones(8, "float32"), numpy.zeros(8, "float32")
    add[(1,)](Memory(x), Memory(x), Memory(out), 8, BLOCK=8)
    assert (out == 2).all()


class Wrapper:
    """Has some of what a tensor has, as classes of programs do that give it other strides."""

    def __init__(self, base):
        self.base, self.dtype, self.shape = base, base.dtype, base.shape

    def data_ptr(self):
        return self.base.data_ptr()

    def untyped_storage(self):
        return self.base.untyped_storage()


def test_objects_with_some_of_a_tensor():
    x, out = torch.ones(8, device="cuda"), torch.zeros(8, device="cuda")
    add[(1,)](Wrapper(x), Wrapper(x), Wrapper(out), 8, BLOCK=8)
    assert (out == 2).all()


def test_operators_that_a_program_implements():
    def doubled(x):
        out = torch.empty_like(x)
        add[(1,)](x, x, out, x.numel(), BLOCK=8)
        assert torch.zeros(1).to("cuda").is_cuda  # the mode holds within
        return out

    x = torch.full((8,), -1.0, device="cuda")
    library = torch.library.Library("aten", "IMPL")
    library.impl("abs", doubled, "CUDA")
    assert (torch.abs(x) == -2).all() and torch.abs(x).is_cuda
    library._destroy()
    assert (torch.abs(x) == 1).all()

    @torch.library.custom_op("tilevm_cases::doubled", mutates_args=(), device_types="cuda")
    def operator(x: torch.Tensor) -> torch.Tensor:
        return doubled(x)

    assert (operator(x) == -2).all()


def test_reinterpreted():
    out = torch.zeros(4, dtype=torch.int32)
    store_scalar[(1,)](triton.reinterpret(out, tl.float32), 1.0)
    assert out[0] == 0x3F800000


@triton.jit
def copy_described(src, dst_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    dst = tl.make_tensor_descriptor(dst_ptr, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    i, j = tl.program_id(0) * M, tl.program_id(1) * N
    dst.store([i, j], src.load([i, j]))


def test_descriptors():
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    x = torch.randn(30, 40, device="cuda")
    out = torch.zeros_like(x)
    copy_described[(2, 3)](TensorDescriptor.from_tensor(x, [16, 16]), out, 30, 40, M=16, N=16)
    assert torch.equal(out, x)


@triton.jit
def load_described(src, out_ptr, M: tl.constexpr, N: tl.constexpr):
    tile = src.load([tl.program_id(0) * M, 0])
    tl.store(out_ptr + (tl.program_id(0) * M + tl.arange(0, M))[:, None] * N + tl.arange(0, N)[None, :], tile)


def test_padding_of_descriptors():
    x = torch.randn(20, 12)
    for padding, outside in (("zero", 0.0), ("nan", float("nan")), ("zero", 0.0)):
        out = torch.full((32, 16), 7.0)
        load_described[(2,)](TensorDescriptor(x, list(x.shape), list(x.stride()), [16, 16], padding=padding), out, M=16, N=16)
        expected = torch.full((32, 16), outside)
        expected[:20, :12] = x
        torch.testing.assert_close(out, expected, rtol=0, atol=0, equal_nan=True)


@triton.jit
def product_and_sum(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4))
    tl.store(out_ptr + tl.arange(0, 4), x * x - 1)


def test_products_are_contracted_unless_told_otherwise():
    x = 1 + torch.tensor([1, 3, 5, 7]) * 2.0**-13
    fused, apart = torch.empty(4), torch.empty(4)
    product_and_sum[(1,)](x, fused)
    product_and_sum[(1,)](x, apart, enable_fp_fusion=False)
    assert torch.equal(fused, (x.double() * x.double() - 1).float())
    assert torch.equal(apart, x * x - 1) and not torch.equal(fused, apart)


def test_hooks():
    seen = []
    knobs = triton.knobs.runtime
    enter, leave = (lambda data: seen.append(("enter", data.get()["name"]))), (lambda data: seen.append(("leave", data.get()["name"])))
    knobs.launch_enter_hook.add(enter)
    knobs.launch_exit_hook.add(leave)
    try:
        store_scalar[(1,)](torch.zeros(1), 2.5)
    finally:
        knobs.launch_enter_hook.remove(enter)
        knobs.launch_exit_hook.remove(leave)
    assert seen == [("enter", "store_scalar"), ("leave", "store_scalar")]


def test_warmup_and_what_a_kernel_says():
    kernel = add.warmup(torch.float32, torch.float32, torch.float32, 1000, BLOCK=128, grid=(1,))
    kernel._init_handles()
    assert "tt.func" in kernel.asm["ttir"] and kernel.asm["tbc"].startswith(b"\x89") or kernel.asm["tbc"]
    assert kernel.metadata.num_warps == 4 and kernel.n_regs > 0 and kernel.metadata.shared > 0
    x = torch.ones(1000)
    out = torch.zeros(1000)
    kernel[(8, 1, 1)](x, x, out, 1000, 128)
    assert (out == 2).all()


def test_the_cache_on_disk(fresh_cache):
    @triton.jit
    def kernel(x_ptr):
        tl.store(x_ptr, 42)

    x = torch.zeros(1, dtype=torch.int32)
    kernel[(1,)](x)
    assert x.item() == 42 and list(fresh_cache.rglob("kernel.tbc"))
    events = []
    triton.knobs.compilation.listener = lambda **said: events.append(said["cache_hit"])
    try:
        kernel.device_caches.clear()
        kernel[(1,)](x)
    finally:
        triton.knobs.compilation.listener = None
    assert events == [True]


@triton.autotune(configs=[triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64}, num_warps=2)], key=["n"], reset_to_zero=["out_ptr"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned(x_ptr, out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.atomic_add(out_ptr + at, tl.load(x_ptr + at))
    else:
        tl.atomic_add(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


def test_autotune():
    for n in (64, 100):
        x, out = torch.randn(n), torch.zeros(n)
        tuned[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
        assert torch.equal(out, x) and tuned.best_config.kwargs["BLOCK"] in (32, 64)


def test_measuring():
    x, out = torch.ones(64), torch.zeros(64)
    run = lambda: add[(1,)](x, x, out, 64, BLOCK=64)  # noqa: E731
    assert triton.testing.do_bench(run, warmup=1, rep=2) > 0
    assert len(triton.runtime.driver.active.get_benchmarker()(run, quantiles=(0.5, 0.2, 0.8))) == 3


def test_the_device():
    driver = triton.runtime.driver.active
    assert driver.get_current_target().backend == "cuda" and driver.get_current_target().arch == 90
    assert driver.get_active_torch_device() == torch.device("cuda", 0)
    properties = driver.utils.get_device_properties(driver.get_current_device())
    assert properties["multiprocessor_count"] >= 1 and properties["warpSize"] == 32 and properties["max_shared_mem"] > 0
    assert driver.get_current_stream(0) == 0
    with torch.cuda.stream(torch.cuda.Stream()) as _:
        assert driver.get_current_stream(0) != 0
    assert torch.cuda.is_available() and torch.zeros(1, device="cuda").is_cuda


def test_graphs():
    x, out = torch.ones(8, device="cuda"), torch.zeros(8, device="cuda")
    add[(1,)](x, x, out, 8, BLOCK=8)
    out.zero_()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        add[(1,)](x, x, out, 8, BLOCK=8)
    assert (out == 0).all()
    graph.replay()
    assert (out == 2).all()


def test_threads():
    x = torch.arange(4096, dtype=torch.float32)
    outs = [torch.zeros(4096) for _ in range(8)]

    def work(out):
        for _ in range(10):
            add[(32,)](x, x, out, 4096, BLOCK=128)

    threads = [threading.Thread(target=work, args=(out,)) for out in outs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(out, 2 * x) for out in outs)


@triton.jit
def sum_of_tables(table_ptr, sizes_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    source = tl.load(table_ptr + i).to(tl.pointer_type(tl.float32))
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.sum(tl.load(source + at, mask=at < tl.load(sizes_ptr + i), other=0.0)))


def test_tables_of_addresses():
    parts = [torch.randn(n) for n in (3, 16, 9)]
    table = torch.tensor([p.data_ptr() for p in parts], dtype=torch.int64)
    sizes = torch.tensor([p.numel() for p in parts], dtype=torch.int32)
    out = torch.zeros(3)
    sum_of_tables[(3,)](table, sizes, out, BLOCK=16)
    torch.testing.assert_close(out, torch.stack([p.sum() for p in parts]))


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    tl.store(c_ptr + m[:, None] * N + n[None, :], tl.dot(a, b))


def test_dot():
    a, b = torch.randn(16, 32, device="cuda", dtype=torch.float16), torch.randn(32, 16, device="cuda", dtype=torch.float16)
    c = torch.empty(16, 16, device="cuda")
    product[(1,)](a, b, c, 16, 16, 32)
    torch.testing.assert_close(c, a.float() @ b.float(), rtol=1e-3, atol=1e-3)
