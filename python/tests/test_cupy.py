"""Programs with CuPy under tilevm.cutile: its arrays are NumPy's, and cuTile's kernels take them."""
import pytest

START = """
import cupy as cp
import numpy as np
import cuda.tile as ct

@ct.kernel
def add(a, b, c, TILE: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(c, index=(i,), tile=ct.load(a, index=(i,), shape=(TILE,)) + ct.load(b, index=(i,), shape=(TILE,)))

a, b = cp.random.rand(64, dtype=cp.float32), cp.arange(64, dtype="float32")
c = cp.zeros_like(a)
"""

CASES = {
    "kernels": """
for stream in cp.cuda.get_current_stream(), cp.cuda.Stream(non_blocking=True):
    c[:] = 0
    with stream:
        ct.launch(cp.cuda.get_current_stream(), (4, 1, 1), add, (a, b, c, 16))
    stream.synchronize()
    np.testing.assert_array_equal(cp.asnumpy(c), a.get() + b.get())
    cp.testing.assert_array_equal(c, a + b)
""",
    "numbers_are_arrays": """
for made in a + 1, a.sum(), cp.sum(a), a.max(), cp.argmax(a), a[0], a @ b, cp.float32(2) * a, cp.linalg.norm(a), a.T, *cp.split(a, 2), cp.where(a > 0)[0]:
    assert isinstance(made, cp.ndarray), made
    assert type(made.get()) is np.ndarray
assert a.sum().shape == () and float(a.sum()) == a.get().sum() and f"{cp.float32(2) * b[3]:.1f}" == "6.0" and bool((a == a).all())
assert a.device.id == 0 and a.data.ptr == a.__cuda_array_interface__["data"][0] and cp.get_array_module(a) is cp and cp.get_array_module(1) is np
""",
    "memory_of_the_host_is_copied": """
host = np.ones(3)
on = cp.asarray(host)
host[0] = 7
assert on.tolist() == [1, 1, 1] and cp.asarray(on) is not host and cp.shares_memory(cp.asarray(on), on)
back = on.get()
on[0] = 5
assert back[0] == 1
on.set(host)
assert on[0] == 7
try:
    on.set(np.ones(4))
    assert False
except TypeError:
    pass
""",
    "the_device": """
import cupy.cuda.runtime
import cupy.random
start, end = cp.cuda.Event(), cp.cuda.Event()
start.record(), end.record(), end.synchronize()
assert cp.cuda.get_elapsed_time(start, end) >= 0
with cp.cuda.Device(0) as device:
    assert device.compute_capability == "90" and cupy.cuda.runtime.getDeviceProperties(0)["major"] == 9
assert cupy.cuda.runtime.getDeviceCount() == 1 and cp.cuda.is_available() and cp.is_available()
cp.get_default_memory_pool().free_all_blocks()
try:
    cp.cuda.Device(1)
    assert False
except ValueError as error:
    assert "device 0" in str(error)
""",
    "random_numbers": """
cp.random.seed(3)
first = cp.random.randn(4, 5, dtype=cp.float32)
cp.random.seed(3)
assert (first == cp.random.randn(4, 5, dtype=cp.float32)).all() and first.dtype == cp.float32 and cp.random.rand(2).dtype == cp.float64
assert isinstance(cp.random.default_rng(1).standard_normal(3, dtype=np.float32), cp.ndarray) and cp.random.randint(0, 5, 8, dtype=cp.int32).dtype == np.int32
assert cp.random.uniform(-1, 1, (2, 2)).shape == (2, 2) and cp.random.normal().shape == ()
""",
    "what_is_not_there": """
import tilevm
for name in "RawKernel", "ElementwiseKernel", "fuse":
    try:
        getattr(cp, name)
        assert False
    except tilevm.UnsupportedError as error:
        assert name in str(error) and "fix:" in str(error)
try:
    cp.no_such_function
    assert False
except AttributeError as error:
    assert "no_such_function" in str(error)
""",
    "torch": """
import torch
for made in torch.as_tensor(a, device="cuda"), torch.from_dlpack(a), torch.utils.dlpack.from_dlpack(a):
    assert made.device.type == "cuda" and made.data_ptr() == a.data.ptr and made.tolist() == a.tolist()
x = torch.ones(3, device="cuda")
made = cp.from_dlpack(x)
made[0] = 4
assert x[0] == 4 and cp.asarray(x).tolist() == [4, 1, 1]
""",
}


@pytest.mark.parametrize("name", CASES)
def test_cupy(run_cutile, name):
    assert run_cutile(START + CASES[name] + "\nprint('done')\n") == "done\n"


def test_uses_beyond_an_array_are_found(run_cutile):
    said = run_cutile(START + "ct.launch(cp.cuda.get_current_stream(), (4, 1, 1), add, (a, b, cp.zeros(60, dtype='f4'), 16))\n"
                      "@ct.kernel\ndef wild(a, TILE: ct.Constant[int]):\n    far = ct.arange(TILE, dtype=ct.int32) + 60\n"
                      "    ct.store(a, index=(0,), tile=ct.gather(a, far, check_bounds=False))\n"
                      "ct.launch(cp.cuda.get_current_stream(), (1, 1, 1), wild, (a, 16))\n", status=1)
    assert "vm.out_of_bounds" in said, said
