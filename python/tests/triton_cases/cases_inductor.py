"""Files in the form that torch.compile writes for a GPU (TORCH_LOGS=output_code): our kernels, its frame."""
import pytest
import tilevm
import torch

# A kernel by itself, guarded and launched as generated files do.
PLAIN = '''
import torch
import triton
import triton.language as tl
from torch._C import _cuda_getCurrentRawStream as get_raw_stream
from torch._dynamo.testing import rand_strided

empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
empty_strided_cpu = torch._C._dynamo.guards._empty_strided_cpu
reinterpret_tensor = torch._C._dynamo.guards._reinterpret_tensor
assert_size_stride = torch._C._dynamo.guards.assert_size_stride


@triton.jit
def plus_three(in_ptr0, out_ptr0, xnumel, XBLOCK: tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    tl.store(out_ptr0 + xindex, tl.load(in_ptr0 + xindex, xmask) + 3.0, xmask)


def call(args):
    arg0, = args
    args.clear()
    assert_size_stride(arg0, (10, 10), (10, 1))
    with torch.cuda._DeviceGuard(0):
        torch.cuda.set_device(0)
        buf0 = empty_strided_cuda((10, 10), (10, 1), torch.float32)
        plus_three[(1,)](arg0, buf0, 100, XBLOCK=128)
        assert get_raw_stream(0) == 0
        buf1 = empty_strided_cpu((4,), (1,), torch.float32)
        buf1.copy_(reinterpret_tensor(buf0, (4,), (1,), 0))
    return (reinterpret_tensor(buf0, (100,), (1,), 0), buf1)


out = call([torch.ones(10, 10, device="cuda")])
made = rand_strided((2,), (1,), device="cuda:0", dtype=torch.float32)
'''

# A kernel behind the heuristics of torch._inductor, compiled by its AsyncCompile, called by its Runner.
HEURISTICS = """
import torch
from torch import device
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.select_algorithm import extern_kernels
from torch._inductor.runtime.triton_heuristics import start_graph, end_graph
from torch._C import _cuda_getCurrentRawStream as get_raw_stream

empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
reinterpret_tensor = torch._C._dynamo.guards._reinterpret_tensor
async_compile = AsyncCompile()
META = "'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, major=9, regs_per_multiprocessor=65536, " \\
       "max_threads_per_multi_processor=2048, max_threads_per_block=1024, warp_size=32), 'constants': {}"

HEAD = '''
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_gpu()
'''

add_in_place = async_compile.triton('add_in_place', HEAD + f'''
@triton_heuristics.pointwise(
    size_hints={{'x': 2048}}, filename=__file__,
    triton_meta={{'signature': {{'in_out_ptr0': '*fp32', 'in_ptr0': '*fp32', 'xnumel': 'i32', 'XBLOCK': 'constexpr'}}, {META},
                 'configs': [{{(0,): [['tt.divisibility', 16]]}}]}},
    inductor_meta={{'grid_type': 'Grid1D', 'kernel_name': 'add_in_place', 'mutated_arg_names': ['in_out_ptr0']}}, min_elem_per_thread=0)
@triton.jit
def add_in_place(in_out_ptr0, in_ptr0, xnumel, XBLOCK : tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex % 30
    tmp0 = tl.load(in_out_ptr0 + xindex, xmask) + tl.load(in_ptr0 + x0, xmask, eviction_policy='evict_last')
    tl.store(in_out_ptr0 + xindex, triton_helpers.maximum(tl.full([1], 0, tl.int32), tmp0), xmask)
''', device_str='cuda')

row_sums = async_compile.triton('row_sums', HEAD + f'''
@triton_heuristics.reduction(
    size_hints={{'x': 64, 'r0_': 4096}}, reduction_hint=ReductionHint.INNER, filename=__file__,
    triton_meta={{'signature': {{'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32', 'XBLOCK': 'constexpr',
                 'R0_BLOCK': 'constexpr'}}, {META}, 'configs': [{{(0,): [['tt.divisibility', 16]]}}]}},
    inductor_meta={{'grid_type': 'Grid1D', 'kernel_name': 'row_sums', 'mutated_arg_names': []}})
@triton.jit
def row_sums(in_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    total = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        tmp0 = tl.load(in_ptr0 + (r0_index + r0_numel * xindex), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        total = tl.where(r0_mask & xmask, total + tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK]), total)
    tl.store(out_ptr0 + xindex, tl.sum(total, 1)[:, None], xmask)
''', device_str='cuda')

async_compile.wait(globals())
del async_compile


def call(args):
    x, w, bias = args
    args.clear()
    with torch.cuda._DeviceGuard(0):
        torch.cuda.set_device(0)
        buf0 = empty_strided_cuda((40, 30), (30, 1), torch.float32)
        extern_kernels.mm(x, w, out=buf0)
        stream0 = get_raw_stream(0)
        add_in_place.run(buf0, bias, 1200, stream=stream0)
        buf1 = empty_strided_cuda((2,), (1,), torch.float32)
        row_sums.run(reinterpret_tensor(buf0, (2, 600), (600, 1), 0), buf1, 2, 600, stream=stream0)
    return (buf0, buf1)


torch.manual_seed(0)
given = [torch.randn(40, 20, device="cuda"), torch.randn(20, 30, device="cuda"), torch.randn(30, device="cuda")]
out = call([*given])
again = call([*given])
"""


def run(text, tmp_path):
    path = tmp_path / "output_code.py"
    path.write_text(text)
    names = {"__name__": "output_code", "__file__": str(path)}
    exec(compile(text, str(path), "exec"), names)
    return names


def test_a_kernel_in_the_frame(tmp_path, monkeypatch):
    import linecache

    path = tmp_path / "output_code.py"
    path.write_text(PLAIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    import output_code

    linecache.checkcache(str(path))
    assert output_code.out[0].device.type == "cuda" and (output_code.out[0] == 4).all()
    assert output_code.out[1].device.type == "cpu" and (output_code.out[1] == 4).all()
    assert output_code.made.shape == (2,) and output_code.made.device.type == "cuda"


def test_kernels_behind_heuristics(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "inductor"))
    names = run(HEURISTICS, tmp_path)
    x, w, bias = names["given"]
    wanted = torch.relu(x @ w + bias)
    for buf0, buf1 in (names["out"], names["again"]):
        torch.testing.assert_close(buf0, wanted)
        torch.testing.assert_close(buf1, wanted.view(2, 600).sum(1))


def test_a_mistake_in_generated_code_has_its_line(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "inductor"))
    with pytest.raises(tilevm.TrapError) as caught:
        run(HEURISTICS.replace("'add_in_place'", "'add_too_far'").replace("def add_in_place", "def add_too_far")
            .replace("xindex % 30", "xindex % 31"), tmp_path)
    assert caught.value.code == "vm.out_of_bounds" and caught.value.array == "in_ptr0"
