"""tests/bench: the side of a duel that runs kernels in Triton, its rows from a folder of cases."""
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "tests/bench"

CASES = """
import torch
import triton
import triton.language as tl
from rows import row

@triton.jit
def double(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 2 * tl.load(x + at))

@triton.jit
def less(x, out, by, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) - by)

def make():
    x, y, z = (torch.ones(64, device="cuda") for _ in range(3))
    def fn():
        double[(2,)](x, y, BLOCK=32)
        double[(2,)](y, z, BLOCK=32)
        less[(4,)](z, y, 3.0, BLOCK=16)
        return y
    return fn

row("small", "fourfold less", 64, make, timer=lambda fn: (fn(), 5.0)[1])
row("small", "left out", 64, make)
"""


@pytest.fixture()
def duel(monkeypatch):
    spec = importlib.util.spec_from_file_location("duel", BENCH / "duel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_cases_of_a_folder(tmp_path, duel):
    pytest.importorskip("triton")
    cases = tmp_path / "cases"
    cases.mkdir()
    (cases / "a.py").write_text("raise RuntimeError('this file has no rows')\n")
    (cases / "b.py").write_text(CASES)
    environment = dict(os.environ, DUEL_SIDE="tilevm", DUEL_CHOICES=str(tmp_path), DUEL_CONFIGS="0", DUEL_ONLY="fourfold", CASES=str(cases),
                       LAUNCHES="1", TRITON_CACHE_DIR=str(tmp_path / "cache"), PYTHONPATH=duel.paths())
    command = [sys.executable, "-m", "tilevm.triton", "--device=cpu", str(BENCH / "triton_worker.py")]
    worker = duel.Worker("tilevm", command, environment, tmp_path, tmp_path)
    assert worker.read()["what"] == {"file": "small", "series": "fourfold less", "size": "64", "call": 0, "what_is_near": 1e-4}
    answer = worker.ask(do="time")
    assert answer == {"us": 15.0, "launches": [{"kernel": "double", "times": 2, "us": 5.0}, {"kernel": "less", "times": 1, "us": 5.0}]}
    assert worker.ask(do="save", path=str(tmp_path / "out.pt")) == {"saved": 1}
    assert worker.ask(do="compare", path=str(tmp_path / "out.pt")) == {"difference": 0.0}
    assert worker.ask(do="next") is None
    assert worker.process.wait(60) == 0
    assert "this file has no rows" in (tmp_path / "tilevm.txt").read_text()


def test_launches_of_both_sides(duel, capsys):
    row = {"file": "small", "series": "fourfold less", "size": "64"}
    for key, us in (("peer_us", 4.0), ("tilevm_us", 10.0), ("peer_us", 6.0), ("tilevm_us", 8.0)):
        duel.add_launches(row, key, [{"kernel": "double", "times": 2, "us": us}, {"kernel": "less", "times": 1, "us": 1.0}])
    assert row["launches"] == [{"kernel": "double", "times": 2, "peer_us": 4.0, "tilevm_us": 8.0},
                               {"kernel": "less", "times": 1, "peer_us": 1.0, "tilevm_us": 1.0}]
    duel.report_launches([row], "triton")
    printed = capsys.readouterr().out
    assert "| double | small fourfold less 64 | 4.0 | 8.0 | 0.50 |" in printed
    assert "geometric mean of 2 launches: 0.71; 1 below 0.8" in printed


def test_command_needs_rows():
    ran = subprocess.run([sys.executable, str(BENCH / "triton")], capture_output=True, text=True)
    assert ran.returncode == 2 and "a folder of cases" in ran.stderr
