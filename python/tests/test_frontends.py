"""What cuTile and Triton have in common: options of install(), both in one program, searches of configurations; in processes of their own."""
import os
import re
import subprocess
import sys

import pytest
import tilevm
from conftest import is_installed

needs_triton = pytest.mark.skipif(not is_installed("triton") or not is_installed("torch"), reason="triton or torch is not installed")
needs_both = pytest.mark.skipif(not all(map(is_installed, ("triton", "torch", "cuda.tile"))), reason="triton, torch or cuda-tile is not installed")


@pytest.fixture
def run(tmp_path):
    """run(text, *words, **environment): output of the program, in an environment that does not ask for tilevm by itself."""
    def run(text, *words, status=0, arguments=(), **environment):
        program = tmp_path / "program.py"
        program.write_text(text)
        cleared = {k: v for k, v in os.environ.items() if not k.startswith(("TILEVM_CHECK", "TILEVM_TRITON", "TILEVM_CUTILE", "TRITON"))}
        environment = {**cleared, "TRITON_CACHE_DIR": str(tmp_path / "cache"), "CUDA_TILE_CACHE_DIR": str(tmp_path / "cutile"), **environment}
        ran = subprocess.run([sys.executable, *words, str(program), *arguments], capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert ran.returncode == status, ran.stdout + ran.stderr
        return ran.stdout + (ran.stderr if status else "")

    return run


TRITON = """
import torch, triton, triton.language as tl, tilevm

@triton.jit
def race(p, B: tl.constexpr):
    tl.store(p + tl.arange(0, B), tl.program_id(0))

def try_triton():
    try:
        race[(4,)](torch.zeros(16, dtype=torch.int32), B=16)
        print("runs")
    except tilevm.TrapError as error:
        print(error.code)
"""

CUTILE = """
import cuda.tile as ct, torch, tilevm

@ct.kernel
def race_of_tiles(z):
    ct.store(z, (0,), ct.full((16,), ct.bid(0), ct.int32))

def try_cutile():
    try:
        ct.launch(torch.cuda.current_stream(), (4,), race_of_tiles, (torch.zeros(16, dtype=torch.int32, device="cuda"),))
        print("runs")
    except tilevm.TrapError as error:
        print(error.code)
"""


# --- install() again


@needs_triton
def test_a_later_install_changes_the_checks(run):
    begin = "import os, tilevm.triton\ntilevm.triton.install()\n" + TRITON
    assert run(begin + "tilevm.triton.install(check='full')\ntry_triton()") == "vm.race\n"
    assert run(begin + "try_triton()\ntilevm.triton.install(check='full')\ntry_triton()\ntilevm.triton.install(check='none')\ntry_triton()"
               ) == "runs\nvm.race\nruns\n"
    assert run(begin + "tilevm.triton.install(check='full')\ntilevm.triton.install()\ntry_triton()") == "vm.race\n"
    assert run(begin + "os.environ['TILEVM_CHECK'] = 'full'\ntilevm.triton.install()\ntry_triton()") == "vm.race\n"
    assert run(begin + "tilevm.triton.install(check='full')\ntilevm.triton.install()\ntry_triton()", TILEVM_CHECK="none") == "vm.race\n"
    assert "ArgumentError" in run(begin + "tilevm.triton.install(check='much')", status=1)


@needs_triton
def test_other_options_of_a_later_install(run):
    begin = "import os, tilevm.triton\ntilevm.triton.install()\n" + TRITON
    out = run(begin + "state = tilevm.triton.install(threads=1, tune='first')\nprint(state.threads, state.tune, state.check)\n"
              "print(tilevm.triton.installed() is state, tilevm.triton.install().threads)")
    assert out == "1 first \nTrue 1\n"
    for options in ("capability='8.0'", "device='cuda:1'"):
        assert "Error" in run(begin + f"tilevm.triton.install({options})", status=1)
    assert "StateError" in run(begin + "os.environ['TILEVM_TRITON_CAPABILITY'] = '8.0'\ntilevm.triton.install()", status=1)
    for threads in ("2**40", "-1", "'many'", "True"):
        assert "ArgumentError" in run(begin + f"tilevm.triton.install(threads={threads})", status=1)
    assert "ArgumentError" in run("import tilevm.triton\ntilevm.triton.install(threads=2**40)", status=1)


@needs_both
def test_a_later_install_of_the_other_frontend(run):
    both = TRITON + CUTILE
    assert run("import tilevm.triton, tilevm.cutile\ntilevm.triton.install(check='full')\ntilevm.cutile.install()\n" + both +
               "try_triton(); try_cutile()") == "vm.race\nvm.race\n"
    assert run("import tilevm.triton, tilevm.cutile\ntilevm.triton.install()\ntilevm.cutile.install(check='full')\n" + both +
               "try_triton(); try_cutile()") == "vm.race\nvm.race\n"
    assert run("import tilevm.triton, tilevm.cutile\ntilevm.cutile.install()\n" + both +
               "try_cutile()\ntilevm.cutile.install(check='full')\ntry_cutile()") == "runs\nvm.race\n"
    assert "StateError" in run("import tilevm.triton, tilevm.cutile\ntilevm.triton.install(capability='8.0')\n"
                               "tilevm.cutile.install(capability='9.0')", status=1)
    assert run("import tilevm.triton, tilevm.cutile\ntilevm.triton.install(capability='8.0')\n"
               "print(tilevm.cutile.install().capability)") == "(8, 0)\n"


# --- both in one program


@needs_both
@pytest.mark.parametrize("words", [("-m", "tilevm"), ("-m", "tilevm.cutile"), ("-m", "tilevm.triton")])
def test_programs_with_kernels_of_both(run, words):
    program = TRITON + CUTILE + """
import subprocess, sys
try_triton(); try_cutile()
if len(sys.argv) == 1:
    print(subprocess.run([sys.executable, __file__, "child"], capture_output=True, text=True).stdout, end="")
"""
    assert run(program, *words) == 4 * "runs\n"
    assert run(program, *words, "--check=full") == 4 * "vm.race\n"


@needs_both
def test_install_of_both(run):
    assert run("import tilevm\ntilevm.install(check='full')\n" + TRITON + CUTILE + "try_triton(); try_cutile()") == "vm.race\nvm.race\n"


@needs_both
def test_capability_of_both(run):
    program = CUTILE + "import triton\nprint(torch.cuda.get_device_capability(), triton.runtime.driver.active.get_current_target().arch)"
    for words in (("-m", "tilevm"), ("-m", "tilevm.cutile"), ("-m", "tilevm.triton")):
        assert run(program, *words, "--capability=10.0") == "(10, 0) 100\n"


def test_words_of_the_command(run):
    ran = subprocess.run([sys.executable, "-m", "tilevm"], capture_output=True, text=True)
    assert ran.returncode == 2 and "python -m tilevm" in ran.stdout
    ran = subprocess.run([sys.executable, "-m", "tilevm", "--help"], capture_output=True, text=True)
    assert ran.returncode == 0 and "script.py" in ran.stdout
    ran = subprocess.run([sys.executable, "-m", "tilevm", "--version"], capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stdout == f"tilevm {tilevm.__version__}\n"
    ran = subprocess.run([sys.executable, "-m", "tilevm", "verify"], capture_output=True, text=True)
    assert ran.returncode == 1 and "`tilevm` is the command" in ran.stderr
    assert "no option --chek" in run("", "-m", "tilevm", "--chek=full", status=1)


# --- what frontends say of a mistake


TRITON_MISTAKES = """
import torch, triton, triton.language as tl
from tilevm._frontend import foreign, uncaught

@triton.jit
def rising(start, B: tl.constexpr):
    return start + tl.arange(0, B)  # inner

@triton.jit
def copy(x, y, n, B: tl.constexpr):
    i = rising(tl.program_id(0) * 16, B)
    tl.store(y + i, tl.load(x + i, mask=i < n).to(tl.flot32), mask=i < n)  # store

@triton.jit
def zeros(y, n, B: tl.constexpr):
    tl.store(y + tl.arange(0, B), tl.zeros((n,), tl.float32))  # zeros

@triton.jit
def fill(y, n, B: tl.constexpr):
    tl.store(y + tl.arange(0, B), 1.0, mask=tl.arange(0, B) < n)

x, y = torch.ones(16, device="cuda"), torch.ones(16, device="cuda")
for wrong in (lambda: copy[(1,)](x, y, 16, B=10), lambda: copy[(1,)](x, y, 16, B=16), lambda: zeros[(1,)](y, 16, B=16), lambda: fill[4](y, 16, B=16),
              lambda: fill(y, 16, B=16), lambda: fill[(1,)](y, B=16), lambda: fill[(1,)]([1.0], 16, B=16),
              lambda: fill[lambda meta: (16 // meta["BLOCK"],)](y, 16, B=16), lambda: x + torch.ones(3), lambda: {}["B"]):
    try:
        wrong()
    except Exception as error:
        print(foreign.text_of(error, uncaught._called_from(error)), end="\\n\\n")
"""


@needs_triton
def test_what_triton_says_has_a_line_and_a_fix(run):
    said = run(TRITON_MISTAKES, "-m", "tilevm.triton").split("\n\n")
    expected = (("arange's range must be a power of 2", "# inner", "power of two"), ("has no attribute 'flot32'", "# store", "tl.float32 is meant"),
                ("Shape element 0 must", "# zeros", "tl.constexpr"), ("error[triton.launch]", "fill[4]", "a grid is a tuple"),
                ("outside of the scope", "fill(y", "with a grid"), ("argument: 'n'", "fill[(1,)](y, B", "each parameter"),
                ("failed to specialize", "[1.0]", "pass tensors"),
                ("the grid asks for 'BLOCK'; the arguments of the launch are y, n, B", "meta", "by its name"))
    for text, (what, source, fix) in zip(said, expected):
        first, *rest = text.splitlines()
        assert re.match(r".*program.py:\d+(:\d+)?: error\[triton\.\w+\]: ", first) and what in first, text
        assert source in rest[0] and rest[-1].startswith("  fix: ") and fix in rest[-1], text
    assert [text.strip() for text in said[len(expected):]] == ["None", "None", ""]  # mistakes of the program's own


# --- searches


DOUBLE = """
import torch, triton, triton.language as tl, warnings, tilevm

@triton.autotune(configs=[triton.Config({"B": b}) for b in (16, 32, 64)], key=["n"]%s)
@triton.jit
def double(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2.0, mask=i < n)
    tl.store(y + i, i * 1.0, mask=i < n)

x, y = torch.ones(100, device="cuda"), torch.empty(100, device="cuda")
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    double[lambda meta: (triton.cdiv(100, meta["B"]),)](x, y, 100)
print(x.unique().tolist(), y[99].item())
for w in found:
    if isinstance(w.message, tilevm.KernelWarning):
        print(w.message.code, "`x`" in str(w.message), "`y`" in str(w.message), "restore_value=['x']" in str(w.message), w.filename == __file__)
"""


@needs_triton
def test_autotune_of_a_kernel_that_works_in_place(run):
    told = "triton.autotune True False True True\n"
    for words in ((), ("--check=full",), ("--check=none",)):
        assert run(DOUBLE % "", "-m", "tilevm.triton", *words) == "[2.0] 99.0\n" + told
    assert run(DOUBLE % ", restore_value=['x']", "-m", "tilevm.triton") == "[2.0] 99.0\n"
    assert run(DOUBLE % "", "-m", "tilevm.triton", "--tune=first") == "[2.0] 99.0\n"
    one_by_one = ", restore_value=['x'], prune_configs_by={'early_config_prune': lambda configs, nargs, **meta: (c for c in configs)}"
    for words in ((), ("--tune=first",)):
        assert run(DOUBLE % one_by_one, "-m", "tilevm.triton", *words) == "[2.0] 99.0\n"


ADDS = """
import numpy, torch, triton, triton.language as tl, warnings, tilevm

@triton.autotune(configs=[triton.Config({"B": b}) for b in (16, 32)], key=[]%s)
@triton.jit
def total(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(y, tl.sum(tl.load(x + i, mask=i < n, other=0.0)))

%s
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    total[lambda meta: (triton.cdiv(100, meta["B"]),)](x, y, 100)
print(float(y[0]), [w.message.code for w in found if isinstance(w.message, tilevm.KernelWarning)])
"""


@needs_triton
def test_autotune_of_a_kernel_that_adds(run):
    tensors = 'x, y = torch.ones(100, device="cuda"), torch.zeros(1, device="cuda")'
    arrays = 'x, y = numpy.ones(100, "float32"), numpy.zeros(1, "float32")'
    assert run(ADDS % ("", tensors), "-m", "tilevm.triton") == "100.0 ['triton.autotune']\n"
    assert run(ADDS % ("", arrays), "-m", "tilevm.triton") == "100.0 ['triton.autotune']\n"
    assert run(ADDS % (", reset_to_zero=['y']", tensors), "-m", "tilevm.triton") == "100.0 []\n"


@needs_both
def test_searches_of_cutile_leave_arrays_as_they_were(run):
    program = """
import cuda.tile as ct, torch

@ct.kernel
def double(x, T: ct.Constant[int]):
    ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (T,)) * 2)

x = torch.ones(128, device="cuda")
stream = torch.cuda.current_stream()
found = ct.tune.exhaustive_search([16, 32, 64], stream, lambda t: (128 // t,), double, lambda t: (x, t), quiet=True)
print(x.unique().tolist(), len(found.successes))
ct.launch(stream, (128 // found.best.config,), double, (x, found.best.config))
print(x.unique().tolist())
"""
    assert run(program, "-m", "tilevm.cutile") == "[1.0] 3\n[2.0]\n"
    assert run(program, "-m", "tilevm.cutile", "--tune=first") == "[1.0] 1\n[2.0]\n"


# --- versions


@needs_triton
@pytest.mark.parametrize("version, fine", [("3.4.0", False), ("3.3.1", False), ("2.1.0", False), ("3.5.1", True), ("4.0.0", True)])
def test_versions_of_triton(run, version, fine):
    program = f"import importlib.machinery, tilevm\nimport tilevm.triton._install as i\nimport sys, types\nsys.modules['triton'] = " \
              f"types.ModuleType('triton')\nsys.modules['triton'].__version__ = '{version}'\ni._register(types.ModuleType('triton.backends'))\n"
    out = run(program, status=0 if fine else 1)
    assert fine or (f"Triton {version}" in out and "3.5 to" in out and "pip install" in out)


@needs_both
def test_a_frontend_that_was_not_asked_for_may_be_of_any_version(run):
    program = "import sys, types\nsys.modules['triton'] = types.ModuleType('triton')\nsys.modules['triton'].__version__ = '3.3.1'\n" \
              "import tilevm.triton._install as i\ni._register(types.ModuleType('triton.backends'))\nprint('stays')"
    assert run(program, "-m", "tilevm.cutile") == "stays\n"
    assert "triton.version" in run(program, "-m", "tilevm.triton", status=1)


def test_a_torch_that_is_too_old(run):
    program = "import types\nfrom tilevm._frontend import torch_cuda\ntorch = types.ModuleType('torch')\ntorch.__version__ = '2.1.0'\n" \
              "torch_cuda.install(torch, None)"
    out = run(program, status=1)
    assert "error[torch.version]: torch 2.1.0 has no torch.Event" in out and "fix: pip install --upgrade torch" in out
