"""cuTile Python with torch on a machine without a GPU: torch's "cuda" is the CPU."""
import re

import pytest

START = '''
import torch
import cuda.tile as ct
import tilevm

@ct.kernel
def add(x, y, z, T: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(z, (i,), ct.load(x, (i,), (T,)) + ct.load(y, (i,), (T,)))

@ct.kernel
def increment(x):
    ct.store(x, (0,), ct.load(x, (0,), (4,)) + 1)
'''


def test_tensors(run_cutile):
    assert run_cutile(START + '''
stream = torch.cuda.current_stream()
x, z = torch.arange(64.0, device="cuda"), torch.zeros(64, device="cuda")
ct.launch(stream, (4,), add, (x, x, z, 16))
assert torch.equal(z, 2 * x)
for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.int64):
    x, z = torch.arange(32, device="cuda", dtype=dtype), torch.zeros(32, device="cuda", dtype=dtype)
    ct.launch(stream, (2,), add, (x, x, z, 16))
    assert torch.equal(z, 2 * x), dtype
y = torch.zeros(4)                      # of the CPU: taken too
ct.launch(0, (1,), increment, (y,))
t = torch.zeros(8, device="cuda", requires_grad=True)
ct.launch(stream, (1,), increment, (t.detach()[4:],))
print(y.tolist(), t.tolist())
''') == "[1.0, 1.0, 1.0, 1.0] [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]\n"


def test_where_tensors_are(run_cutile):
    assert run_cutile(START + '''
x = torch.zeros(4, device="cuda")
c = x.cpu()
ct.launch(0, (1,), increment, (x,))
print(x.device, x.is_cuda, c.device, c.is_cuda, c.sum().item(), x.sum().item())
host = torch.ones(3)
there = host.cuda()
there += 1
print(host.device, host.tolist(), there.device, there.to("cpu").device, (there + 1).device, (host + 1).device, host.to(there.device).device)
print(torch.empty_like(host).device, torch.empty_like(there).device, torch.zeros(2, device=torch.device("cuda", 0)).get_device())
module = torch.nn.Linear(2, 2).to("cuda")
print(next(module.parameters()).device, module(torch.ones(1, 2, device="cuda")).device)
with torch.device("cuda"):
    print(torch.ones(2).device)
''') == """cuda:0 True cpu False 0.0 4.0
cpu [1.0, 1.0, 1.0] cuda:0 cpu cuda:0 cpu cuda:0
cpu cuda:0 0
cuda:0 cuda:0
cuda:0
"""


def test_graphs(run_cutile):
    assert run_cutile(START + '''
x, total = torch.zeros(4, device="cuda"), torch.zeros(4, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    ct.launch(torch.cuda.current_stream(), (1,), increment, (x,))
    twice = x * 2
    total.add_(twice)
    view = total[:2]
print(x.tolist(), total.tolist(), torch.cuda.is_current_stream_capturing())
for _ in range(3):
    graph.replay()
print(x.tolist(), twice.tolist(), total.tolist(), view.tolist())
for wrong in (lambda: torch.cuda.CUDAGraph().replay(), lambda: torch.cuda.CUDAGraph().capture_begin()):
    try:
        wrong()
    except RuntimeError as error:
        print("RuntimeError")
with torch.cuda.graph(torch.cuda.CUDAGraph()):
    try:
        x.sum().item()
    except RuntimeError:
        print("no value while capturing")
''') == """[0.0, 0.0, 0.0, 0.0] [0.0, 0.0, 0.0, 0.0] False
[3.0, 3.0, 3.0, 3.0] [6.0, 6.0, 6.0, 6.0] [12.0, 12.0, 12.0, 12.0] [12.0, 12.0]
RuntimeError
RuntimeError
no value while capturing
"""


def test_streams_events_generators_properties(run_cutile):
    assert run_cutile(START + '''
print(torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.get_device_capability())
print(torch.cuda.get_device_properties("cuda").major, torch.cuda.get_device_name() == torch.cuda.get_device_properties(0).name)
try:
    torch.cuda.get_device_properties(1)
except RuntimeError as error:
    print(error)
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    print(torch.cuda.current_stream() == stream, stream != torch.cuda.default_stream())
    x = torch.zeros(4, device="cuda")
    ct.launch(stream, (1,), increment, (x,))
start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
start.record(); sum(range(100000)); end.record()
print(torch.cuda.current_stream() == torch.cuda.default_stream(), start.elapsed_time(end) > 0, end.query())
try:
    torch.cuda.Event().elapsed_time(end)
except ValueError:
    print("no timing")
g = torch.Generator(device="cuda").manual_seed(3)
a = torch.rand(3, device="cuda", generator=g)
print(torch.equal(a, torch.rand(3, device="cuda", generator=g.manual_seed(3))), isinstance(g, torch.Generator))
torch.cuda.synchronize()
''') == """True 1 (9, 0)
9 True
CUDA error: invalid device ordinal
True True
True True True
no timing
True True
"""


def test_backward(run_cutile):
    assert run_cutile(START + '''
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        z = torch.empty_like(x)
        ct.launch(torch.cuda.current_stream(), (1,), add, (x, x, z, 4))
        return z
    @staticmethod
    def backward(ctx, dz):
        dx = torch.zeros(4, device="cuda")
        ct.launch(torch.cuda.current_stream(), (1,), add, (dz, dz, dx, 4))
        return dx
x = torch.ones(4, device="cuda", requires_grad=True)
Twice.apply(x).sum().backward()
print(x.grad.tolist(), x.grad.device)
''') == "[2.0, 2.0, 2.0, 2.0] cuda:0\n"


def test_references_round_as_on_a_gpu(run_cutile):
    assert run_cutile(START + '''
@ct.kernel
def product(a, b, c):
    ct.store(c, (0, 0), ct.astype(ct.mma(ct.load(a, (0, 0), (16, 256)), ct.load(b, (0, 0), (256, 16)), ct.zeros((16, 16), ct.float32)), c.dtype))
torch.manual_seed(0)
for dtype in (torch.float16, torch.bfloat16):
    a, b = torch.randn(16, 256, device="cuda").to(dtype), torch.randn(256, 16, device="cuda").to(dtype)
    c = torch.zeros(16, 16, device="cuda", dtype=dtype)
    ct.launch(0, (1,), product, (a, b, c))
    print(torch.equal(c, a @ b))
x = torch.arange(100, dtype=torch.int8, device="cuda")
print(torch.equal(torch.sqrt(x), torch.sqrt(x.double()).float()), torch.sqrt(x).dtype)
torch.backends.cuda.matmul.allow_tf32 = True
one = torch.tensor([[1 + 2 ** -12]], device="cuda")
print((one @ one).item())
''') == "True\nTrue\nTrue torch.float32\n1.0\n"


def test_threads_that_torch_did_not_start_here(run_cutile):
    assert run_cutile(START + '''
import threading
def work():
    x = torch.zeros(4, device="cuda")
    for _ in range(100):
        ct.launch(torch.cuda.current_stream(), (1,), increment, (x,))
    found.append(x.sum().item())
found = []
threads = [threading.Thread(target=work) for _ in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
print(found == 8 * [400.0])
''') == "True\n"


TUNE = START + '''
from cuda.tile.tune import exhaustive_search
x, z = torch.arange(64.0, device="cuda"), torch.zeros(64, device="cuda")
result = exhaustive_search([4, 8, 3, 16], torch.cuda.current_stream(), lambda t: (64 // t,), add, lambda t: (x, x, z, t), quiet=True)
print([m.config for m in result.successes] if len(result.successes) > 1 else result.best.config, [f[0] for f in result.failures])
assert torch.equal(z, torch.zeros(64))  # a search leaves memory as it was
'''


def test_tune(run_cutile):
    out = run_cutile(TUNE)
    assert sorted(eval(out[:out.index("]") + 1])) == [4, 8, 16] and out.endswith(" [3]\n")
    assert run_cutile(TUNE, "--tune=first") == "4 []\n"


def test_tune_with_tensors_that_nobody_filled(run_cutile):
    search = TUNE.replace('x, z = torch.arange(64.0, device="cuda"), torch.zeros(64, device="cuda")', "x, z = torch.empty(64), torch.empty(64)")
    search = search[:search.index("assert")]
    assert run_cutile(search, "--tune=first", "--check=full") == "4 []\n"
    launch = search + "ct.launch(torch.cuda.current_stream(), (16,), add, (x, x, z, 4))\n"
    assert "vm.uninitialized" in run_cutile(launch, "--tune=first", "--check=full", status=1)


@pytest.mark.parametrize("how", ["once", "first"])
def test_a_search_in_which_every_configuration_traps_raises_what_the_kernel_does(run_cutile, how):
    """Not the ValueError of a search without result, which pytest could not tell from one whose configurations do not compile."""
    out = run_cutile(START + '''
from cuda.tile.tune import exhaustive_search
@ct.kernel
def outside(x, n: ct.Constant[int]):
    ct.scatter(x, ct.arange(8, dtype=ct.int32) * n, ct.full((8,), 1, ct.int32), check_bounds=False)
x = torch.zeros(4, device="cuda", dtype=torch.int32)
try:
    exhaustive_search([1, 2], torch.cuda.current_stream(), lambda n: (1,), outside, lambda n: (x, n), quiet=True)
except tilevm.TrapError as error:
    print(error.code, error.line)
try:
    exhaustive_search([1, 2], torch.cuda.current_stream(), lambda n: (1,), outside, lambda n: (x, "no"), quiet=True)
except ValueError as error:
    print(str(error).splitlines()[0])
''', f"--tune={how}")
    assert re.fullmatch("vm.out_of_bounds \\d+\nNo valid config found in search space.\n", out), out


def test_tune_with_a_time_limit(run_cutile):
    assert run_cutile(START + '''
from cuda.tile.tune import exhaustive_search
@ct.kernel
def long(x, n):
    t = ct.load(x, (0,), (4,))
    for i in range(n):
        t = t + 1
    ct.store(x, (0,), t)
x = torch.zeros(4, device="cuda", dtype=torch.int32)
result = exhaustive_search([3, 2000000000], torch.cuda.current_stream(), lambda n: (1,), long, lambda n: (x, n), quiet=True,
                           single_run_timeout_sec=0.5)
print(result.best.config, [(config, getattr(error, "__name__", error)) for config, error, _ in result.failures])
''') == "3 [(2000000000, 'TileLaunchTimeoutError')]\n"
