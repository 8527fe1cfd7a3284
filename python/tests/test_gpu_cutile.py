"""cuTile Python on a GPU, with torch: what the driver would do besides running kernels."""
import pytest
import tilevm

pytestmark = pytest.mark.skipif(not tilevm.has_gpu(), reason="there is no GPU")

START = '''
import torch
import cuda.tile as ct
import tilevm

@ct.kernel
def say(x):
    ct.printf("block %d: %d\\n", ct.bid(0), ct.load(x, (0,), (1,)).item())

@ct.kernel
def demand(x):
    ct.assert_(ct.load(x, (0,), (4,)) > 0, "not positive")

@ct.kernel
def scale(x, T: ct.Constant[int]):
    ct.store(x, (0,), ct.load(x, (0,), (T,)) * 2)

stream = torch.cuda.current_stream()
x = torch.arange(4, device="cuda", dtype=torch.int32)
'''


def test_prints_come_when_torch_waits(run_cutile):
    assert run_cutile(START + '''
ct.launch(stream, (2,), say, (x,))
torch.cuda.synchronize()
own = torch.cuda.Stream()
ct.launch(own, (1,), say, (x,))
own.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    ct.launch(torch.cuda.current_stream(), (1,), say, (x,))
x += 7
graph.replay()
graph.replay()
torch.cuda.synchronize()
''', "--device=cuda").split("\n").count("block 0: 7") == 2


@pytest.mark.parametrize("wait", ["torch.cuda.synchronize()", "stream.synchronize()"])
def test_failed_asserts_are_exceptions_of_who_waits(run_cutile, wait):
    said = run_cutile(START + f'''
ct.launch(stream, (1,), demand, (x,))
try:
    {wait}
except tilevm.TrapError as error:
    print(error.code, "kernel `demand`" in str(error))
{wait}
x += 1
ct.launch(stream, (1,), demand, (x,))
{wait}
''', "--device=cuda")
    assert said == "not positive (element 0 of the tile)\nvm.assert True\n"


def test_failed_asserts_that_nobody_waited_for(run_cutile):
    assert "not positive" in run_cutile(START + "ct.launch(stream, (1,), demand, (x,))\n", "--device=cuda")


def test_tune_measures_on_the_gpu(run_cutile):
    assert run_cutile(START + '''
y = torch.ones(1 << 16, device="cuda")
for limit in (None, 20.0):
    found = ct.tune.exhaustive_search([256, 1 << 15], stream, lambda t: (1,), scale, lambda t: (y, t), quiet=True, single_run_timeout_sec=limit)
    print(len(found.successes), found.best.mean_us > 0)
''', "--device=cuda") == "2 True\n2 True\n"
