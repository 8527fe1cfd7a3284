"""`pytest --tilevm`, in processes of its own: a suite for a GPU runs on the CPU, and the summary names what its kernels do wrong."""
import os
import subprocess
import sys

import pytest
from conftest import is_installed

needs_triton = pytest.mark.skipif(not is_installed("triton") or not is_installed("torch"), reason="triton or torch is not installed")
needs_cutile = pytest.mark.skipif(not is_installed("cuda.tile") or not is_installed("torch"), reason="cuda-tile or torch is not installed")

KERNELS = """
import torch, triton, triton.language as tl

@triton.jit
def double(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)

@triton.jit
def unmasked(x, y, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at))

@triton.jit
def race(p, B: tl.constexpr):
    tl.store(p + tl.arange(0, B), tl.program_id(0))

def run_unmasked(n):
    x = torch.ones(n, device="cuda")
    unmasked[(triton.cdiv(n, 64),)](x, torch.empty_like(x), B=64)
"""

SUITE = """
import pytest, torch, triton
from kernels import double, race, run_unmasked

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")

def test_right():
    x = torch.arange(100., device="cuda")
    assert x.is_cuda
    y = torch.empty_like(x)
    double[(2,)](x, y, 100, B=64)
    torch.testing.assert_close(y, 2 * x)

@pytest.mark.parametrize("n", [100, 64, 200])
def test_unmasked(n):
    run_unmasked(n)

def test_race():
    race[(4,)](torch.zeros(16, dtype=torch.int32, device="cuda"), B=16)

def test_assertion():
    assert torch.ones(2, device="cuda").sum() == 3

@pytest.mark.xfail
def test_known():
    run_unmasked(100)
"""


@pytest.fixture
def suite(tmp_path):
    """suite({file: text}, *options): the finished process of pytest on these files."""
    def run(files, *options, status=0, **environment):
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        ours = ("TILEVM_CHECK", "TILEVM_TRITON", "TILEVM_CUTILE", "TRITON", "GITHUB", "PYTEST")
        cleared = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
        environment = {**cleared, "TRITON_CACHE_DIR": str(tmp_path / "cache"), "CUDA_TILE_CACHE_DIR": str(tmp_path / "cutile"), "COLUMNS": "200",
                       **environment}
        ran = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *options], capture_output=True, text=True,
                             env=environment, cwd=tmp_path)
        assert ran.returncode == status, ran.stdout + ran.stderr
        return ran.stdout + ran.stderr

    return run


def test_without_the_option_nothing_happens(suite):
    out = suite({"test_plain.py": "import sys\ndef test_plain():\n    assert 'tilevm._frontend.state' not in sys.modules\n"})
    assert "1 passed" in out and "tilevm" not in out


def test_options_are_checked(suite):
    files = {"test_plain.py": "def test_plain(): pass\n"}
    assert "--tilevm-check has no meaning without --tilevm" in suite(files, "--tilevm-check=full", status=4)
    assert "invalid choice: 'much'" in suite(files, "--tilevm", "--tilevm-check=much", status=4)
    assert "capability 'new' is none" in suite(files, "--tilevm", "--tilevm-capability=new", status=4)


def test_a_launcher_that_imports_tilevm_first_gives_no_warning():
    block = "import tilevm, pytest; raise SystemExit(pytest.main(['--version', '-W', 'error']))"
    ran = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True)
    assert ran.returncode == 0 and "cannot be rewritten" not in ran.stdout + ran.stderr, ran.stdout + ran.stderr


@needs_triton
def test_a_suite_of_triton(suite):
    files = {"kernels.py": KERNELS, "test_kernels.py": SUITE}
    out = suite(files, "--tilevm", status=1)
    assert "3 failed, 3 passed, 1 xfailed" in out
    # The mistake once, with the tests that meet it, the line of the kernel in the failure, and no line of Triton.
    assert "kernels.py:12:22: error[vm.out_of_bounds]" in out
    assert "2 tests: test_kernels.py::test_unmasked[100], test_kernels.py::test_unmasked[200]" in out
    assert "1 mistake, 0 warnings" in out and "jit.py" not in out
    assert "jit.py" in suite(files, "--tilevm", "--full-trace", status=1)

    out = suite(files, "--tilevm", "--tilevm-check=full", status=1, GITHUB_ACTIONS="true")
    assert "4 failed, 2 passed, 1 xfailed" in out and "error[vm.race]" in out and "2 mistakes, 0 warnings" in out
    annotations = [line for line in out.splitlines() if line.startswith("::error file=")]
    assert len(annotations) == 2 and any("line=16,col=5,title=vm.race::" in line for line in annotations), annotations


@needs_triton
def test_warnings_and_what_a_filter_makes_of_them(suite):
    files = {"kernels.py": KERNELS, "test_slice.py": """
import torch
from kernels import unmasked

def test_a_slice():
    x = torch.ones(128, device="cuda")
    unmasked[(1,)](x[:60], torch.empty(64, device="cuda"), B=64)

def test_the_same_slice():
    test_a_slice()
"""}
    out = suite(files, "--tilevm")
    assert "warning[vm." in out
    assert "2 tests: test_slice.py::test_a_slice, test_slice.py::test_the_same_slice" in out and "0 mistakes, 1 warning" in out
    out = suite(files, "--tilevm", "-W", "error::tilevm.KernelWarning", status=1)
    assert "2 failed" in out and "1 mistake, 0 warnings" in out


@needs_triton
def test_child_processes_do_as_pytest(suite):
    files = {"kernels.py": KERNELS, "test_child.py": """
import subprocess, sys

def test_child():
    program = "import kernels, torch; kernels.run_unmasked(64); print(torch.cuda.is_available())"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "True\\n"
"""}
    assert "1 passed" in suite(files, "--tilevm")


@needs_cutile
def test_a_suite_of_cutile(suite):
    out = suite({"test_tiles.py": """
import cuda.tile as ct, torch

@ct.kernel
def double(x, y):
    ct.store(y, (ct.bid(0),), 2 * ct.load(x, (ct.bid(0),), (64,)))

@ct.kernel
def outside(x, y):
    i = ct.arange(64, dtype=ct.int32)
    ct.scatter(y, i, ct.gather(x, i, check_bounds=False))

def launch(kernel, n):
    x = torch.ones(n, device="cuda")
    y = torch.zeros(64, device="cuda")
    ct.launch(torch.cuda.current_stream(), (1,), kernel, (x, y))
    return y

def test_double():
    assert launch(double, 64).sum() == 128

def test_outside():
    launch(outside, 60)
"""}, "--tilevm", status=1)
    assert "1 failed, 1 passed" in out and "test_tiles.py:11:" in out and "error[vm.out_of_bounds]" in out and "1 mistake, 0 warnings" in out
