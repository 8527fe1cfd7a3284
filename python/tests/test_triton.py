"""Triton kernels, unmodified, under tilevm.triton: each function of triton_cases/ is a case here, run in one process, because tilevm.triton
changes Triton and torch for good; then what concerns processes."""
import os
import pathlib
import re
import subprocess
import sys

import numpy
import pytest
import tilevm
from conftest import is_installed, run_triton_cases, triton_cases

needs_triton = pytest.mark.skipif(not is_installed("triton"), reason="triton is not installed")
needs_torch = pytest.mark.skipif(not is_installed("torch") or not is_installed("triton"), reason="torch or triton is not installed")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    return run_triton_cases("cases_*.py", "cpu", tmp_path_factory.mktemp("triton"))


@needs_torch
@pytest.mark.parametrize("name", triton_cases("cases_*.py"))
def test_case(outcomes, name):
    assert name in outcomes, "the case did not run"
    assert outcomes[name] == "", outcomes[name]


@pytest.fixture(scope="module")
def checked_outcomes(tmp_path_factory):
    return run_triton_cases("checked_*.py", "cpu", tmp_path_factory.mktemp("checked"), "full")


@needs_torch
@pytest.mark.parametrize("name", triton_cases("checked_*.py"))
def test_checked_case(checked_outcomes, name):
    assert name in checked_outcomes, "the case did not run"
    assert checked_outcomes[name] == "", checked_outcomes[name]


# --- processes

KERNEL = """
import sys
import numpy
import triton
import triton.language as tl

@triton.jit
def twice(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)

def use(n=8, block=8):
    x = numpy.arange(8, dtype="float32")
    twice[(1,)](x, n, BLOCK=block)
    return x
"""


@pytest.fixture
def run(tmp_path):
    """run(text, *words, **environment): the program, in an environment that does not ask for tilevm by itself."""
    def run(text, *words, status=0, **environment):
        program = tmp_path / "program.py"
        program.write_text(text)
        cleared = {k: v for k, v in os.environ.items() if not k.startswith(("TILEVM_CHECK", "TILEVM_TRITON", "TRITON"))}
        environment = {**cleared, "TRITON_CACHE_DIR": str(tmp_path / "cache"), **environment}
        ran = subprocess.run([sys.executable, *words, str(program)], capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert ran.returncode == status, ran.stdout + ran.stderr
        return ran.stdout + (ran.stderr if status else "")

    return run


@needs_triton
def test_by_environment_alone(run):
    out = run(KERNEL + "print(use().tolist(), 'torch' in sys.modules)", TRITON_DEFAULT_BACKEND="tilevm")
    assert out.split(" T")[0].split(" F")[0].strip() == "[0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]"


@needs_triton
def test_by_the_command_and_by_install(run):
    assert "14.0]" in run(KERNEL + "print(use().tolist())", "-m", "tilevm.triton")
    assert "14.0]" in run("import tilevm.triton\ntilevm.triton.install()\n" + KERNEL + "print(use().tolist())")
    assert "14.0]" in run(KERNEL + "import tilevm.triton\ntilevm.triton.install()\nprint(use().tolist())")


@needs_torch
def test_programs_that_look_for_torch_before_they_import_it(run):
    program = "import importlib.util\nimportlib.util.find_spec('torch')\nimport torch\nprint(torch.zeros(1, device='cuda').device)"
    assert run(program, "-m", "tilevm.triton") == "cuda:0\n"


@needs_triton
def test_not_active_unless_asked_for(run):
    text = """
import triton
from triton.backends import backends
print("tilevm" in backends, backends["tilevm"].driver.is_active())
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend
print(make_backend(GPUTarget("cuda", 90, 32)).binary_ext)
"""
    assert run(text).split() == ["True", "False", "cubin"]
    assert run(text, TRITON_DEFAULT_BACKEND="tilevm").split() == ["True", "True", "tbc"]


@needs_triton
def test_a_trap_that_nobody_catches_is_printed_as_by_the_commands(run):
    program = KERNEL + "use(9, 16)\n"
    shown = run(program, "-m", "tilevm.triton", status=1)
    assert "Traceback" not in shown and "runpy" not in shown
    first, *rest = shown[shown.index(f"{os.sep}program.py:10:"):].splitlines()  # behind warnings of Triton's
    assert re.match(r".program.py:10:\d+: error\[vm.out_of_bounds\]: ", first), shown
    assert any("tl.store(x_ptr + at" in text for text in rest) and rest[-1].startswith("  called from "), shown
    assert re.search(r"program.py:14; --traceback shows all calls", rest[-1]), shown
    assert "Traceback" in run(program, "-m", "tilevm.triton", "--traceback", status=1)


@needs_triton
def test_levels_of_checks(run):
    program = KERNEL + """
import tilevm
try:
    use(9, 16)
    print("nothing")
except tilevm.TrapError as error:
    print(error.code, error.array)
"""
    assert run(program, "-m", "tilevm.triton").split() == ["vm.out_of_bounds", "x_ptr"]
    assert run(program, "-m", "tilevm.triton", "--check=full").split() == ["vm.out_of_bounds", "x_ptr"]
    racy = KERNEL + "twice[(2,)](numpy.zeros(8, 'float32'), 8, BLOCK=8)\n"
    assert "vm.race" in run(racy, "-m", "tilevm.triton", "--check=full", status=1)
    run(racy, "-m", "tilevm.triton", "--check=bounds")
    assert "check='much'" in run(KERNEL, "-m", "tilevm.triton", "--check=much", status=1)


@needs_triton
def test_pointers_that_may_lead_into_any_array(run):
    program = KERNEL + """
import tilevm
x, y = numpy.zeros(16, "float32"), numpy.ones(16, "float32")
twice[(1,)](x[:8], 16, BLOCK=16)
@triton.jit
def across(x_ptr, y_ptr, distance):
    tl.store(y_ptr, 7.0 + tl.load(x_ptr + distance) + 0 * tl.load(y_ptr))
try:
    across[(1,)](x, y, (y.ctypes.data - x.ctypes.data) // 4)
    print("allowed", y[0])
except tilevm.TrapError as error:
    print(error.code, error.array)
"""
    assert run(program, "-m", "tilevm.triton", TILEVM_ANY_ARRAY="1").split() == ["allowed", "8.0"]
    said = run(program, "-m", "tilevm.triton", TILEVM_ANY_ARRAY="0")
    assert said.split() == ["vm.out_of_bounds", "x_ptr"]


@needs_triton
def test_wrong_words_of_the_command(run):
    assert "no option --chek" in run(KERNEL, "-m", "tilevm.triton", "--chek=full", status=1)


@needs_triton
def test_one_device_a_process(run):
    assert "Error" in run("import tilevm.triton\ntilevm.triton.install()\ntilevm.triton.install('cuda')", status=1)
    assert "StateError" in run("import tilevm.triton\ntilevm.triton.install()\nimport tilevm.cutile\n"
                               "tilevm.cutile.install(capability='8.0')", status=1)
    assert run("import tilevm.triton\ntilevm.triton.install()\nimport tilevm.cutile\ntilevm.cutile.install()\nprint('both')") == "both\n"


ADD = """
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 32})], key=["n"])
@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) + tl.load(y_ptr + at, mask=at < n), mask=at < n)
"""
TYPES = "*fp32:16, *fp32, *fp32:16, i32, 64"


def export(folder, *words, status=0):
    (folder / "add.py").write_text(ADD)
    environment = {**os.environ, "TRITON_CACHE_DIR": str(folder / "cache")}
    ran = subprocess.run([sys.executable, "-m", "tilevm.triton", "export", "add.py", "-o", "add.tbc", *words], capture_output=True, text=True,
                         env=environment, cwd=folder)
    assert ran.returncode == status, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


@needs_triton
def test_export(tmp_path):
    x = numpy.arange(1000, dtype="float32")
    out = export(tmp_path, "--kernel", "add", "--signature", TYPES, "--interface",
                 "in x: f32[%n] at %x_ptr; in y: f32[%n] at %y_ptr; out z: f32[%n] at %out_ptr; grid ceildiv(x.shape[0], 64)")
    assert "add(x: f32[n], y: f32[n]) -> z: f32[n]" in out
    assert (tilevm.load(tmp_path / "add.tbc").kernel(x, x) == 2 * x).all()
    export(tmp_path, "--kernel", "add", "--signature", TYPES)  # arrays of any size
    z = numpy.zeros(1000, "float32")
    kernel = tilevm.load(tmp_path / "add.tbc").kernel
    kernel(x, x, z, 1000, grid=16)
    assert (z == 2 * x).all()
    with pytest.raises(tilevm.TrapError) as caught:
        kernel(x, x.copy(), z, 1001, grid=16)
    assert caught.value.file == "add.py" and caught.value.index == 1000


@needs_triton
def test_export_says_what_is_wrong(tmp_path):
    assert "no kernel `sub`" in export(tmp_path, "--kernel", "sub", "--signature", TYPES, status=1)
    assert "x_ptr, y_ptr, out_ptr, n, BLOCK" in export(tmp_path, "--kernel", "add", "--signature", "*fp32", status=1)
    assert "speaks of %m" in export(tmp_path, "--kernel", "add", "--signature", TYPES, "--interface", "in x: f32[%m] at %x_ptr", status=1)
    assert "after the colon" in export(tmp_path, "--kernel", "add", "--signature", TYPES.replace("16", "8"), status=1)
    assert "error[" in export(tmp_path, "--kernel", "add", "--signature", TYPES, "--interface", "in x: f33[?] at %x_ptr", status=1)


@needs_triton
def test_export_compiles(tmp_path):
    if not (os.environ.get("TILEVM_TILEC") or (pathlib.Path(tilevm.__file__).parent / "_native/bin/tilec").exists()):
        pytest.skip("built without tilec")
    out = export(tmp_path, "--kernel", "add", "--signature", TYPES, "--sm", "80,90")
    assert "sm_80" in out and "sm_90" in out


@needs_triton
def test_child_processes(run):
    program = KERNEL + """
import subprocess, multiprocessing
if __name__ == "__main__" and len(sys.argv) == 1:
    print(subprocess.run([sys.executable, __file__, "child"], capture_output=True, text=True).stdout)
    use()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print(pool.apply(use).tolist())
elif len(sys.argv) == 2:
    print(use().tolist())
"""
    assert run(program, "-m", "tilevm.triton").count("14.0]") == 2
    assert run(program, TRITON_DEFAULT_BACKEND="tilevm").count("14.0]") == 2


@needs_torch
def test_the_interpreter_stays_what_it_is(run):
    program = """
import torch, triton, triton.language as tl
@triton.jit
def twice(x_ptr):
    print("in Python")
    tl.store(x_ptr, 2 * tl.load(x_ptr))
x = torch.ones(1)
twice[(1,)](x)
print(x.item())
"""
    assert run(program, TRITON_INTERPRET="1", TRITON_DEFAULT_BACKEND="tilevm").split("\n")[:2] == ["in Python", "2.0"]
