"""The listings of README, docs/cutile.md, python.md and triton.md run as they stand, each in a process of its own, after what it takes for
granted. So do the commands that need the package; tests/readme/pages.py says which these are, and which blocks nobody runs."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy
import pytest
import tilevm
from conftest import EXAMPLES, OUTSIDE, is_installed

ROOT = pathlib.Path(__file__).absolute().parents[2]
sys.path.insert(0, str(ROOT / "tests/readme"))
import pages  # noqa: E402

pages.ROOT = ROOT
BLOCKS = [block for page in pages.PYTHON for block in pages.blocks(page, (ROOT / page).read_text(encoding="utf-8")) if not block.marked]

ADD = """
import numpy, tilevm
add = tilevm.load("examples/vector_add.tile")["vector_add"]
a = numpy.arange(8, dtype="float32")
c = add(a, a)
"""
TORCH = """
import torch
x, weight, bias = torch.randn(4, 64), torch.ones(64), torch.zeros(64)
"""
CUTILE = """
import numpy, tilevm
import cuda.tile as ct

@ct.kernel
def kernel(x, y):
    ct.scatter(y, ct.arange(8, dtype=ct.int32), ct.gather(x, ct.arange(8, dtype=ct.int32), check_bounds=False))

x, y, stream, grid = numpy.ones(6, "float32"), numpy.zeros(8, "float32"), 0, (1,)
"""
TRITON = """
import torch, tilevm
import triton
import triton.language as tl

@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at), mask=at < n)

@triton.jit
def add(x, y, z, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(z + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

x, out = torch.ones(100), torch.zeros(100)
"""

SOFTMAX = """
import torch, tilevm.torch
from tilevm import script

@script.kernel("x: f32[m, n] -> y: f32[m, n]", grid="m")
def softmax(x, y, SIZE=1024):
    row = script.load(x, (script.bid(), 0), (1, SIZE), padding_mode="neg_inf")
    e = script.exp(row - row.max())
    script.store(y, (script.bid(), 0), e / e.sum())
"""

# What begins a listing; how it runs, what stands before it, what it prints.
RUNS = {
    "import numpy, tilevm\n": ("", "", r"vector_add\(a: f32\[n\], b: f32\[n\]\) -> c: f32\[n\]"),
    "launch = add.prepare": ("", ADD, ""),
    "try:\n    kernel(x": ("", f"import numpy, tilevm\nkernel = tilevm.loads({OUTSIDE!r}, 'k.tile')['outside']\nx = numpy.ones(3, 'float32')\n",
                           r"k.tile:\d+:\d+: error\[vm.out_of_bounds\](.|\n)*k.tile \d+ outside \(0, 0, 0\) load_ptr_tko x 3"),
    'module = tilevm.load("kernel.tilebc")': ("", ADD + "add.module.export('kernel.tilebc')\n", "entry @vector_add"),
    "import numpy\nfrom tilevm import script": ("", "", ""),
    "from tilevm import script": ("", "import numpy\nx = numpy.ones((3, 100), 'float32')\n", ""),
    "b = tilevm.Builder": ("", "import tilevm\n", ""),
    "device = tilevm.device": ("", ADD, r"^\d+\.\d+"),
    "import tilevm, tilevm.torch": ("torch", TORCH, ""),
    "softmax_op = tilevm.torch.op": ("torch", SOFTMAX, ""),
    "import jax, jax.numpy": ("jax", "import tilevm\n", ""),
    "import numpy, tilevm, tilevm.tvm_ffi": ("tvm_ffi", "", ""),
    "try:\n    ct.launch": ("cutile", CUTILE, r"program.py:\d+: x\[6\], block \(0, 0, 0\)"),
    "import tilevm.cutile": ("cutile", "", r"^4032\.0$"),
    "try:\n    copy[(2,)]": ("triton", TRITON, r"program.py:\d+: x_ptr\[100\], program \(1, 0, 0\), kernel copy"),
    "import triton": ("triton", TRITON, ""),
}
NEEDED = {"torch": ["torch"], "jax": ["jax"], "tvm_ffi": ["tvm_ffi"], "cutile": ["cuda.tile", "numpy"], "triton": ["triton", "torch"]}
LISTINGS = [(block.page, block.text) for block in BLOCKS if block.language == "python"]


def test_every_listing_is_known():
    assert len(LISTINGS) == len(RUNS) and all(sum(text.startswith(begin) for begin in RUNS) == 1 for _, text in LISTINGS)


def need(how):
    for module in NEEDED.get(how, ()):
        if not is_installed(module):
            pytest.skip(f"{module} is not installed")


def has_tilec():
    try:
        return bool(tilevm.tool("tilec"))
    except tilevm.UnavailableError:
        return False


def environment_in(folder):
    """Caches are the test's own, and the commands are those of the package."""
    return {**os.environ, "CUDA_TILE_CACHE_DIR": str(folder / "cache"), "TRITON_CACHE_DIR": str(folder / "cache"), "TILEVM_CHECK": "",
            "PATH": str(pathlib.Path(sys.executable).parent) + ":" + os.environ["PATH"]}


@pytest.mark.parametrize("page, text", LISTINGS, ids=[f"{page}:{text.splitlines()[0][:30]}" for page, text in LISTINGS])
def test_listing(tmp_path, page, text):
    how, before, prints = next(run for begin, run in RUNS.items() if text.startswith(begin))
    need(how)
    if not has_tilec():
        text = "".join(line + "\n" for line in text.splitlines() if "compile(" not in line or "triton" in line)
    if not tilevm.has_gpu():
        text = "".join(line + "\n" for line in text.splitlines() if 'device("cuda")' not in line)
    (tmp_path / "examples").symlink_to(EXAMPLES)
    (tmp_path / "program.py").write_text(before + text, encoding="utf-8")
    words = [] if how in ("", "torch", "jax", "tvm_ffi") else ["-m", f"tilevm.{how}"]
    ran = subprocess.run([sys.executable, *words, "program.py"], capture_output=True, text=True, cwd=tmp_path, env=environment_in(tmp_path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(prints, ran.stdout), ran.stdout


ADD_FILE = """import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) + tl.load(y_ptr + at, mask=at < n), mask=at < n)
"""
COMMANDS = {page: [b for b in BLOCKS if b.page == page and b.language == "console" and pages.runner(b).startswith("python/tests")]
            for page in pages.PYTHON}
NEEDED_BY = {"README.md": "cutile", "docs/cutile.md": "cutile", "docs/triton.md": "triton"}


def test_commands_are_known():
    assert {page for page, blocks in COMMANDS.items() if blocks} <= set(NEEDED_BY)


def prepare(folder, page):
    """What the commands of a page take for granted."""
    shutil.copytree(EXAMPLES, folder / "examples")
    if page == "docs/triton.md":
        (folder / "add.py").write_text(ADD_FILE)
        for name in ("x", "y", "z"):
            numpy.save(folder / f"{name}.npy", numpy.arange(1000, dtype="float32"))
        listing = next(text for _, text in LISTINGS if text.startswith("import triton"))
        (folder / "dump.py").write_text(TRITON + listing)
        subprocess.run([sys.executable, "-m", "tilevm.triton", "dump.py"], cwd=folder, env=environment_in(folder), check=True)


@pytest.mark.parametrize("page", [page for page, blocks in COMMANDS.items() if blocks])
def test_commands(tmp_path, page):
    need(NEEDED_BY[page])
    prepare(tmp_path, page)
    for block in COMMANDS[page]:
        for command, shown in pages.commands(block.text):
            if not has_tilec():
                command = command.replace(" --sm 80,90", "")
                if command.startswith("tilec "):
                    continue
            ran = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path,
                                 env=environment_in(tmp_path))
            assert (ran.returncode == 0) == ("error[" not in shown), f"{page}:{block.line}: {command}\n{ran.stdout}"
            assert not shown or pages.is_as_shown(ran.stdout, shown), f"{page}:{block.line}: {command}\n{ran.stdout}"
