"""The listings of docs/cutile.md, python.md and triton.md run as they stand, each in a process of its own, after what it takes for granted."""
import os
import pathlib
import re
import subprocess
import sys

import pytest
import tilevm
from conftest import EXAMPLES, OUTSIDE, is_installed

DOCS = pathlib.Path(__file__).absolute().parents[2] / "docs"

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
    "import numpy, tilevm": ("", "", r"vector_add\(a: f32\[n\], b: f32\[n\]\) -> c: f32\[n\]"),
    "launch = add.prepare": ("", ADD, ""),
    "try:\n    kernel(x": ("", f"import numpy, tilevm\nkernel = tilevm.loads({OUTSIDE!r}, 'k.tile')['outside']\nx = numpy.ones(3, 'float32')\n",
                           r"k.tile:\d+:\d+: error\[vm.out_of_bounds\](.|\n)*k.tile \d+ outside \(0, 0, 0\) load_ptr_tko x 3"),
    'module = tilevm.load("kernel.tilebc")': ("", ADD + "add.module.export('kernel.tilebc')\n", "entry @vector_add"),
    "from tilevm import script": ("", "import numpy\nx = numpy.ones((3, 100), 'float32')\n", ""),
    "b = tilevm.Builder": ("", "import tilevm\n", ""),
    "device = tilevm.device": ("", ADD, r"^\d+\.\d+"),
    "import tilevm, tilevm.torch": ("torch", TORCH, ""),
    "softmax_op = tilevm.torch.op": ("torch", SOFTMAX, ""),
    "try:\n    ct.launch": ("cutile", CUTILE, r"program.py:\d+: x\[6\], block \(0, 0, 0\)"),
    "try:\n    copy[(2,)]": ("triton", TRITON, r"program.py:\d+: x_ptr\[100\], program \(1, 0, 0\), kernel copy"),
    "import triton": ("triton", TRITON, ""),
}
NEEDED = {"torch": ["torch"], "cutile": ["cuda.tile", "numpy"], "triton": ["triton", "torch"]}
LISTINGS = [(page, text) for page in ("cutile.md", "python.md", "triton.md")
            for text in re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.S)]


def test_every_listing_is_known():
    assert len(LISTINGS) == len(RUNS) and all(sum(text.startswith(begin) for begin in RUNS) == 1 for _, text in LISTINGS)


@pytest.mark.parametrize("page, text", LISTINGS, ids=[f"{page}:{text.splitlines()[0][:30]}" for page, text in LISTINGS])
def test_listing(tmp_path, page, text):
    how, before, prints = next(run for begin, run in RUNS.items() if text.startswith(begin))
    for module in NEEDED.get(how, ()):
        if not is_installed(module):
            pytest.skip(f"{module} is not installed")
    try:
        tilevm.tool("tilec")
    except tilevm.UnavailableError:  # what needs the compiler
        text = "".join(line + "\n" for line in text.splitlines() if "compile(" not in line or "triton" in line)
    if not tilevm.has_gpu():
        text = "".join(line + "\n" for line in text.splitlines() if 'device("cuda")' not in line)
    (tmp_path / "examples").symlink_to(EXAMPLES)
    (tmp_path / "program.py").write_text(before + text, encoding="utf-8")
    words = [] if how in ("", "torch") else ["-m", f"tilevm.{how}"]
    environment = {**os.environ, "CUDA_TILE_CACHE_DIR": str(tmp_path / "cache"), "TRITON_CACHE_DIR": str(tmp_path / "cache"), "TILEVM_CHECK": ""}
    ran = subprocess.run([sys.executable, *words, "program.py"], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(prints, ran.stdout), ran.stdout
