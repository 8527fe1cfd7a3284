"""Programs of the examples, found by TILEVM_EXAMPLES or beside this folder; programs of cuTile Python, in processes of their own."""
import ast
import importlib.util
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
import tilevm

EXAMPLES = pathlib.Path(os.environ.get("TILEVM_EXAMPLES", pathlib.Path(__file__).resolve().parents[2] / "examples"))

# Adds what lies behind the mask of the example: reads past the end of arrays that are no multiple of 4.
OUTSIDE = """entry @outside(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) interface {
  in x: f32[?] at %x
  out y: f32[4] at %y
  grid 1
} {
  %i = iota : tile<4xi32>
  %one = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
  %all = broadcast %one : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %at = offset %all, %i : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %v, %t = load_ptr_tko weak %at : tile<4xptr<f32>> -> tile<4xf32>, token
  %o = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
  %oo = broadcast %o : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %to = offset %oo, %i : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %u = store_ptr_tko weak %to, %v : tile<4xptr<f32>>, tile<4xf32> -> token
  return
}
"""

# x[0] = f * x[0], without interface.
RAW = """entry @raw(%x: tile<ptr<f32>>, %f: tile<f32>) {
  %v, %t = load_ptr_tko weak %x : tile<ptr<f32>> -> tile<f32>, token
  %w = mulf %v, %f : tile<f32>
  %u = store_ptr_tko weak %x, %w token = %t : tile<ptr<f32>>, tile<f32> -> token
  return
}
"""

# Takes n rounds; prints each block's number.
COUNTS = """entry @counts(%n: tile<i64>) interface {
  scalar n = %n
  grid 2
} {
  %zero = constant <i64: 0> : tile<i64>
  %one = constant <i64: 1> : tile<i64>
  for %i in (%zero to %n, step %one) : tile<i64> {
  }
  %x, %y, %z = get_tile_block_id
  print_tko "block %d\\n", %x : tile<i32>
  return
}
"""


# y[i] = f * x[i] + i for blocks of one element; x may have any stride.
SCALE = """entry @scale(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>, %s: tile<i32>, %f: tile<f32>, %i: tile<i32>) interface {
  in x: f32[%n] strides [%s] at %x
  out y: f32[%n] at %y
  scalar f = %f default 2.0
  scalar i = %i value x.shape[0]
  grid x.shape[0]
} {
  %b, %_, %__ = get_tile_block_id
  %o = muli %b, %s
  %p = offset %x, %o
  %v = load_ptr_tko weak %p
  %w = mulf %v, %f
  %g = itof %i signed : tile<f32>
  %r = addf %w, %g
  %q = offset %y, %b
  store_ptr_tko weak %q, %r
  return
}
entry @scale_backward(%dy: tile<ptr<f32>>, %dx: tile<ptr<f32>>, %n: tile<i32>, %f: tile<f32>) interface {
  in dy: f32[%n] at %dy
  out dx: f32[%n] at %dx
  scalar f = %f
  grid dy.shape[0]
} {
  %b, %_, %__ = get_tile_block_id
  %p = offset %dy, %b
  %v = load_ptr_tko weak %p
  %r = mulf %v, %f
  %q = offset %dx, %b
  store_ptr_tko weak %q, %r
  return
}
entry @add_to(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) interface {
  in x: f32[%n] at %x
  inout y: f32[%n] at %y
  grid x.shape[0]
} {
  %b, %_, %__ = get_tile_block_id
  %p = offset %x, %b
  %v = load_ptr_tko weak %p
  %q = offset %y, %b
  %w, %t = load_ptr_tko weak %q
  %r = addf %v, %w
  store_ptr_tko weak %q, %r token = %t
  return
}
"""


@pytest.fixture
def example():
    return lambda name: tilevm.load(EXAMPLES / f"{name}.tile")


@pytest.fixture
def add(example):
    return example("vector_add")["vector_add"]


@pytest.fixture
def outside():
    return tilevm.loads(OUTSIDE, "outside.tile")["outside"]


@pytest.fixture
def raw():
    return tilevm.loads(RAW, "raw.tile")["raw"]


@pytest.fixture
def counts():
    return tilevm.loads(COUNTS, "counts.tile")["counts"]


def pytest_collection_modifyitems(items):
    """Those that judge in this process come last: a judge changes torch of its process for good, as install() does."""
    items.sort(key=lambda item: item.path.name.startswith("test_judge"))


@pytest.fixture
def run_cutile(tmp_path):
    """Runs a program under tilevm.cutile, because it changes cuTile and torch for good: run(text, *options, **environment)."""
    needed = {"cuda.tile": "cuda-tile", "numpy": "NumPy"}
    for module, package in needed.items():
        if not is_installed(module):
            pytest.skip(f"{package} is not installed")

    def run(text, *options, status=0, **environment):
        if "import torch" in text and not is_installed("torch"):
            pytest.skip("torch is not installed")
        program = tmp_path / "program.py"
        program.write_text(text)
        environment = {**os.environ, "CUDA_TILE_CACHE_DIR": str(tmp_path / "cache"), "TILEVM_CHECK": "", **environment}
        ran = subprocess.run([sys.executable, "-m", "tilevm.cutile", *options, str(program)], capture_output=True, text=True,
                             env=environment, cwd=tmp_path)
        assert ran.returncode == status, ran.stdout + ran.stderr
        return ran.stdout + (ran.stderr if status else "")

    return run


def is_installed(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


TRITON_CASES = pathlib.Path(__file__).resolve().parent / "triton_cases"


def triton_cases(files):
    """Names of the test functions in these files: "cases_launch:test_grids"."""
    return [f"{file.stem}:{node.name}" for file in sorted(TRITON_CASES.glob(files)) for node in ast.parse(file.read_text()).body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]


def run_triton_cases(files, device, folder, check=""):
    """Runs them in one process, because tilevm.triton changes Triton and torch for good: {name: text of failures}."""
    command = [sys.executable, "-m", "tilevm.triton", f"--device={device}", "-m", "pytest", "-q", "-p", "no:cacheprovider",
               f"--junitxml={folder}/results.xml", "-o", f"python_files={files}", str(TRITON_CASES)]
    environment = {**os.environ, "TRITON_CACHE_DIR": str(folder / "cache"), "TILEVM_CHECK": check}
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
    if not (folder / "results.xml").exists():
        pytest.fail(ran.stdout + ran.stderr)
    found = {}
    for case in ElementTree.parse(folder / "results.xml").iter("testcase"):
        name = f"{case.get('classname').rsplit('.', 1)[-1]}:{case.get('name').split('[')[0]}"
        wrong = "".join(f"{case.get('name')}: {part.text or part.get('message')}\n" for part in case if part.tag in ("failure", "error"))
        found[name] = found.get(name, "") + wrong
    return found
