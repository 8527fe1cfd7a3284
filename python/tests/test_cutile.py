"""cuTile Python on the VM: launches with NumPy arrays, faults, checks, prints, exports, caches."""

START = '''
import sys
import numpy as np
import cuda.tile as ct
import tilevm

@ct.kernel
def add(x, y, z, T: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(z, (i,), ct.load(x, (i,), (T,)) + ct.load(y, (i,), (T,)))
'''


def test_numpy(run_cutile):
    out = run_cutile(START + '''
x, z = np.arange(100, dtype="float32"), np.zeros(100, "float32")
ct.launch(0, (7,), add, (x, x, z, 16))
assert (z == 2 * x).all()

strided = np.arange(200, dtype="float32")[::2]
ct.launch(0, (7,), add, (strided, x, z, 16))
assert (z == 3 * x).all()
print("ok")
''')
    assert out == "ok\n"


def test_element_types_and_scalars(run_cutile):
    out = run_cutile(START + '''
@ct.kernel
def scale(x, f, n, flag, z):
    t = ct.load(x, (0,), (8,))
    if flag:
        t = t * ct.astype(f, t.dtype) + ct.astype(n, t.dtype)
    ct.store(z, (0,), t)

for name in ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"):
    x, z = np.arange(8).astype(name), np.zeros(8, name)
    ct.launch(0, (1,), scale, (x, 2.0, 3, True, z))
    assert (z == 2 * x + 3).all(), (name, z)
    ct.launch(0, (1,), scale, (x, 2.0, 3, False, z))
    assert (z == x).all(), (name, z)
print("ok")
''')
    assert out == "ok\n"


def test_lists_tuples(run_cutile):
    out = run_cutile(START + '''
@ct.kernel
def total(arrays, pair, z):
    t = ct.load(pair[0], (0,), (8,)) * ct.astype(pair[1], ct.float32)
    for i in range(len(arrays)):
        t = t + ct.load(arrays[i], (0,), (8,))
    ct.store(z, (0,), t)

z, ones = np.zeros(8, "float32"), np.ones(8, "float32")
for n in (1, 2, 5):
    ct.launch(0, (1,), total, ([k * ones for k in range(n)], (ones, 10), z))
    assert (z == 10 + sum(range(n))).all(), z
print("ok")
''')
    assert out == "ok\n"


FAULT = START + '''
@ct.kernel
def wild(x, z):
    i = ct.arange(16, dtype=ct.int32) + ct.bid(0) * 16
    ct.scatter(z, i, ct.gather(x, i), check_bounds=False)      # the line

z = np.zeros(40, "float32")
try:
    ct.launch(0, (3,), wild, (np.zeros(48, "float32"), z))
except tilevm.TrapError as error:
    print(error.file == __file__, error.line, error.array, error.index, error.block, error.kernel, error.code)
'''


def test_fault(run_cutile):
    line = 1 + FAULT[:FAULT.index("# the line")].count("\n")
    assert run_cutile(FAULT) == f"True {line} z 40 (2, 0, 0) wild vm.out_of_bounds\n"


def test_fault_of_a_list_names_the_array(run_cutile):
    assert run_cutile(START + '''
@ct.kernel
def wild(arrays):
    ct.store(arrays[1], (0,), ct.load(arrays[0], (0,), (8,)))
    ct.scatter(arrays[1], ct.arange(8, dtype=ct.int32) + 1, ct.zeros((8,), ct.float32), check_bounds=False)

try:
    ct.launch(0, (1,), wild, ([np.zeros(8, "float32"), np.zeros(8, "float32")],))
except tilevm.TrapError as error:
    print(error.array, error.index)
''') == "arrays[1] 8\n"


RACE = START + '''
@ct.kernel
def race(z):
    ct.store(z, (0,), ct.full((8,), ct.bid(0), ct.int32))

z = np.zeros(8, "int32")
try:
    ct.launch(0, (4,), race, (z,))
    print("runs")
except tilevm.TrapError as error:
    print(error.code)
'''


def test_full_checks_reach_kernels(run_cutile):
    assert run_cutile(RACE) == "runs\n"
    assert run_cutile(RACE, TILEVM_CHECK="full") == "vm.race\n"
    assert run_cutile(RACE, "--check=full") == "vm.race\n"


WARNS = START + '''
@ct.kernel
def too_far(x, z):
    ct.store(z, (ct.bid(0),), ct.load(x, (ct.bid(0),), (8,)))

z = np.zeros(8, "float32")
import warnings
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    try:
        ct.launch(0, (2,), too_far, (np.ones(8, "float32"), z))
    except tilevm.TrapError as error:
        print(error.code)
print(sorted({w.message.code for w in found}), {w.filename == __file__ for w in found}, (z == 1).all())
'''


def test_a_block_too_many_is_a_warning(run_cutile):
    assert run_cutile(WARNS) == "['vm.index_out_of_bounds'] {True} True\n"
    assert run_cutile(WARNS, TILEVM_CHECK="full").startswith("vm.index_out_of_bounds\n")


def test_print_and_assert(run_cutile):
    out = run_cutile(START + '''
@ct.kernel
def says(x):
    ct.printf("block %d\\n", ct.bid(0))
    ct.assert_(ct.load(x, (0,), (4,)) < 3, "too large")

ct.launch(0, (1,), says, (np.arange(3, dtype="int32"),))
try:
    ct.launch(0, (1,), says, (np.arange(4, dtype="int32"),))
except tilevm.TrapError as error:
    print(error.code, "too large" in str(error))
''')
    assert out.splitlines()[0] == "block 0"
    assert out.splitlines()[-1] == "vm.assert True"


def test_export(run_cutile):
    out = run_cutile(START + '''
import io
import tilevm.cutile
from cuda.tile.compilation import CallingConvention, KernelSignature, export_kernel
x, z = np.arange(32, dtype="float32"), np.zeros(32, "float32")
ct.launch(0, (2,), add, (x, x, z, 16))

class Cuda:
    def __init__(self, a):
        self.__cuda_array_interface__ = {**a.__array_interface__, "version": 3}
signature = KernelSignature.from_kernel_args(add, (Cuda(x), Cuda(x), Cuda(z), 16), CallingConvention.cutile_python_v1())
made = io.BytesIO()
export_kernel(add, [signature], made, gpu_code="sm_90", output_format="cubin")
module = tilevm.cutile.load_exported(made.getvalue())
[kernel] = module.kernels.values()
z[:] = 0
kernel(x, 32, 1, x, 32, 1, z, 32, 1, grid=2)
assert (z == 2 * x).all()
bytecode = io.BytesIO()
export_kernel(add, [signature], bytecode, gpu_code="sm_90", output_format="tileir_bytecode")
print(len(tilevm.load(bytecode.getvalue()).kernels))
''')
    assert out == "1\n"


def test_cache_on_disk(run_cutile):
    program = START + '''
import time, cuda.tile._compile as c
compile_cubin = c.compile_cubin
def counted(*a, **k):
    print("compiled")
    return compile_cubin(*a, **k)
c.compile_cubin = counted
x, z = np.arange(100, dtype="float32"), np.zeros(100, "float32")
for _ in range(3):
    ct.launch(0, (7,), add, (x, x, z, 16))
assert (z == 2 * x).all()
'''
    assert run_cutile(program) == "compiled\n"
    assert run_cutile(program) == ""


def test_grids(run_cutile):
    assert run_cutile(START + '''
x = np.zeros(8, "float32")
for grid in ((0,), (1, 65536), (1 << 24,), (1, 2, 3, 4)):
    try:
        ct.launch(0, grid, add, (x, x, x, 8))
        print("runs")
    except (RuntimeError, ValueError, TypeError) as error:
        print(type(error).__name__)
''') == "RuntimeError\nValueError\nValueError\nValueError\n"


def test_threads(run_cutile):
    assert run_cutile(START + '''
import threading
def work(k):
    x, z = np.full(64, k, "float32"), np.zeros(64, "float32")
    for _ in range(50):
        ct.launch(0, (4,), add, (x, x, z, 16))
        ct.launch(0, (4,), add, (x, z, z, 16))
    good.append((z == 3 * k).all())
good = []
threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
print(len(good), all(good))
''') == "8 True\n"


def test_keyboard_interrupt(run_cutile):
    assert run_cutile(START + '''
import _thread, threading, time
@ct.kernel
def long(x, n):
    t = ct.load(x, (0,), (8,))
    for i in range(n):
        t = t + 1
    ct.store(x, (0,), t)
x = np.zeros(8, "int32")
ct.launch(0, (1,), long, (x, 3))
threading.Timer(0.3, _thread.interrupt_main).start()
begin = time.time()
try:
    ct.launch(0, (1,), long, (x, 2000000000))
except KeyboardInterrupt:
    print("interrupted", time.time() - begin < 10)
ct.launch(0, (1,), long, (x, 3))
print(x[0])
''') == "interrupted True\n6\n"


def test_children(run_cutile):
    assert run_cutile(START + '''
import subprocess
if len(sys.argv) == 1:
    print(subprocess.run([sys.executable, __file__, "child"], capture_output=True, text=True, check=True).stdout, end="")
else:
    x, z = np.ones(16, "float32"), np.zeros(16, "float32")
    ct.launch(0, (1,), add, (x, x, z, 16))
    print(z.sum())
''') == "32.0\n"


def test_installed_twice_and_too_late(run_cutile):
    assert run_cutile(START + '''
import tilevm.cutile
state = tilevm.cutile.install("cpu")
print(state is tilevm.cutile.installed(), state.device.name, state.architecture)
for wrong in (lambda: tilevm.cutile.install("cpu", check="all"), lambda: tilevm.cutile.install("cpu", tune="never"),
              lambda: tilevm.cutile.install("moon")):
    try:
        wrong()
        print("no error")
    except tilevm.Error as error:
        print(type(error).__name__)
''', "--capability=10.0") == "True cpu sm_100\nArgumentError\nArgumentError\nArgumentError\n"


def test_command_line(run_cutile):
    assert "no option --devise" in run_cutile("", "--devise=cpu", status=1)
    assert "only" not in run_cutile("print(__name__)", "--device", "cpu")


# --- arrays with a dimension of size 1, of whose strides cuTile promises what need not hold


TOTAL = '''
import numpy as np
import cuda.tile as ct
import tilevm

@ct.kernel
def total(x, y, TILE: ct.Constant[int]):
    ct.store(y, (0,), ct.sum(ct.load(x, (ct.bid(0),), (TILE,)), keepdims=True))

@ct.kernel
def rows(x, y, N: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(y, (i, 0), ct.sum(ct.load(x, (i, 0), (1, N)), axis=1, keepdims=True))

@ct.kernel
def gathered(x, y, N: ct.Constant[int]):
    at = ct.arange(N, dtype=ct.int32)
    ct.scatter(y, (at, ct.zeros((N,), ct.int32)), ct.gather(x, (at, ct.zeros((N,), ct.int32))))
'''


def test_dimensions_of_size_one_promise_nothing(run_cutile):
    program = TOTAL + '''
for kind in ("float16", "float32", "float64", "int32"):
    x = np.arange(128).astype(kind)
    y = np.zeros(1, kind)
    ct.launch(0, (1,), total, (x[:64], y, 64))
    assert y[0] == x[:64].sum(), kind
    whole, column, one = np.ones((16, 8), kind), np.zeros((16, 1), kind), np.zeros((1, 1), kind)
    ct.launch(0, (16,), rows, (whole, column, 8))
    ct.launch(0, (16,), rows, (whole[:, :1], column, 1))
    ct.launch(0, (16,), rows, (whole, whole[:, 3:4], 8))
    ct.launch(0, (1,), rows, (whole[:1], one, 8))
    ct.launch(0, (1,), gathered, (column, whole[:, :1], 16))
    assert (column == 1).all() and one[0, 0] == 15, kind
print("ok")
'''
    assert run_cutile(program, "--check=full") == "ok\n"
    assert run_cutile(program) == "ok\n"


def test_a_race_into_an_array_of_one_element(run_cutile):
    assert run_cutile(TOTAL + '''
try:
    ct.launch(0, (2,), total, (np.ones(128, "float32"), np.zeros(1, "float32"), 64))
except tilevm.TrapError as error:
    print(error.code, error.array)
''', "--check=full") == "vm.race y\n"


def test_promises_of_the_frontend_are_not_the_program_s(run_cutile):
    """An exported kernel, launched with an array that its signature promises more about."""
    out = run_cutile(TOTAL + '''
import io
import tilevm.cutile
from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, export_kernel

def array(divisor):
    return ArrayConstraint(ct.float32, 1, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(), may_alias_internally=False,
                           shape_divisible_by=divisor)

buffer = io.BytesIO()
signature = KernelSignature([array(16), array(1), 64], CallingConvention.cutile_python_v1(), "total")
export_kernel(total, [signature], buffer, gpu_code="sm_90", output_format="cubin")
kernel = tilevm.cutile.load_exported(buffer.getvalue())["total"]
x, y = np.ones(60, "float32"), np.zeros(1, "float32")
try:
    kernel(x, 60, 1, y, 1, 1, grid=1, check="full")
except tilevm.TrapError as error:
    print(error.code, "promised by the frontend, not by your code" in error.message, "drop" in error.fix)
''')
    assert out == "vm.assume True False\n"


def test_arrays_of_rank_0(run_cutile):
    out = run_cutile('''
import numpy as np
import cuda.tile as ct

@ct.kernel
def scale(x, factor):
    ct.store(x, (0,), ct.load(x, (0,), (8,)) * ct.load(factor, (), ()))

ct.launch(0, (1,), scale, (np.ones(8, "float32"), np.array(2.0, "float32")))
''', status=1)
    assert "error[cutile.rank]: `factor` of kernel `scale` is an array of rank 0" in out and "program.py:5" in out
    assert "fix: pass factor.reshape(1)" in out and "type.c9" not in out.splitlines()[-2]


def test_a_tile_of_another_rank_than_its_array(run_cutile):
    out = run_cutile('''
import numpy as np
import cuda.tile as ct

@ct.kernel
def flat(x):
    ct.store(x, (0, 0), ct.load(x, (0, 0), (4, 8)).reshape((32,)))

ct.launch(0, (1,), flat, (np.ones((4, 8), "float32"),))
''', status=1)
    assert "error[cutile.rank]: kernel `flat` loads or stores a tile of rank 1, and the array has rank 2" in out and "program.py:5" in out


def test_a_damaged_cache_is_compiled_again(run_cutile, tmp_path):
    import sqlite3

    from tilevm.cutile._cache import unseal

    program = START + '''
x, z = np.arange(64, dtype="float32"), np.zeros(64, "float32")
ct.launch(0, (4,), add, (x, x, z, 16))
assert (z == 2 * x).all()
print("ok")
'''
    assert run_cutile(program) == "ok\n"
    database = tmp_path / "cache" / "cache.db"

    def blobs():
        with sqlite3.connect(database) as connection:
            return dict(connection.execute("SELECT key, blob FROM cache"))

    before = blobs()
    assert len(before) == 1
    key, blob = before.popitem()
    flipped = [bytes((*blob[:at], blob[at] ^ 1, *blob[at + 1:])) for at in (0, 20, len(blob) // 3, len(blob) // 2, len(blob) - 1)]
    for damaged in (*flipped[:3], b"", "text"):
        with sqlite3.connect(database) as connection:
            connection.execute("UPDATE cache SET blob = ? WHERE key = ?", (damaged, key))
        assert run_cutile(program) == "ok\n"
        assert list(blobs()) == [key] and unseal(blobs()[key]) is not None
