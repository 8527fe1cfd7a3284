"""examples/cutile, as docs/cutile.md walks through it: run without a GPU, a mistake found, one file made, launched from C."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import tilevm

EXAMPLE = pathlib.Path(os.environ.get("TILEVM_EXAMPLES", pathlib.Path(__file__).resolve().parents[2] / "examples")) / "cutile"
SAYS = "differences of 1000 neighbours: 1 3 5 7 9 ...\n"


@pytest.fixture(autouse=True)
def frontend():
    for module, package in (("torch", "torch"), ("cuda", "cuda-tile"), ("cuda.tile", "cuda-tile")):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{package} is not installed")


def python(*arguments, **more):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300, **more)


def test_runs():
    ran = python("-m", "tilevm.cutile", EXAMPLE / "neighbours.py")
    assert (ran.returncode, ran.stdout) == (0, SAYS), ran.stderr


def test_the_mistake_is_found_at_its_line():
    ran = python("-m", "tilevm.cutile", EXAMPLE / "neighbours.py", "--wrong")
    line = next(n for n, text in enumerate((EXAMPLE / "neighbours.py").read_text().splitlines(), 1) if "right = " in text)
    assert ran.returncode == 1
    assert f"neighbours.py:{line}:" in ran.stderr and "at index 1000 of `x` (f32[1000], 4000 bytes)" in ran.stderr, ran.stderr


def test_ships_to_c(tmp_path):
    made = python(EXAMPLE / "ship.py", "neighbours.tbc", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    native = pathlib.Path(tilevm.get_include()).parent
    if shutil.which("gcc") is None:
        pytest.skip("no C compiler")
    subprocess.run(["gcc", "-std=c11", "-Wall", "-Werror", EXAMPLE / "launch.c", f"-I{tilevm.get_include()}", native / "lib" / "libtilevm.so.1",
                    "-o", "launch"], cwd=tmp_path, check=True)
    env = {**os.environ, "LD_LIBRARY_PATH": str(native / "lib")}
    ran = subprocess.run(["./launch", "neighbours.tbc", "cpu"], cwd=tmp_path, capture_output=True, text=True, check=False, env=env)
    assert (ran.returncode, ran.stdout) == (0, SAYS), ran.stderr
