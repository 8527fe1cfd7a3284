"""A sample of tests/judge/run.py: seeded mistakes are found, and what is right is judged right."""
import json
import os
import pathlib
import subprocess
import sys

import pytest
import tilevm.judge
from conftest import is_installed

ROOT = pathlib.Path(os.environ.get("TILEVM_EXAMPLES", pathlib.Path(__file__).resolve().parents[2] / "examples")).parent
SUITE = ROOT / "tests" / "judge" / "run.py"

pytestmark = [
    pytest.mark.skipif(not SUITE.exists(), reason="tests/judge is not here"),
    pytest.mark.skipif(not all(map(is_installed, ("torch", "triton", "cuda.tile"))), reason="torch, triton or cuda-tile is not installed"),
]


def test_sample(tmp_path):
    (tmp_path / "task.py").write_text("import numpy\n\nINPUTS = {\"a\": \"f32[n]\"}\n\n\ndef reference(a):\n    return a * 2\n")
    (tmp_path / "answer.py").write_text("def reference(a):\n    return a\n")
    try:
        tilevm.judge.judge(str(tmp_path / "task.py"), str(tmp_path / "answer.py"), budget=0.1)
    except tilevm.UnavailableError as error:
        pytest.skip(str(error).split("\n", maxsplit=1)[0])
    out = tmp_path / "sample.jsonl"
    ran = subprocess.run([sys.executable, str(SUITE), "--every=19", "--budget=3", "--jobs=2", f"--out={out}"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
    entries = [json.loads(line) for line in out.read_text().splitlines()]
    kinds = {entry["kind"] for entry in entries}
    assert len(entries) >= 25 and {"original", "equivalent"} < kinds and len({entry["kernel"] for entry in entries}) >= 12
    assert {entry["verdict"] for entry in entries} >= {"right", "wrong", "unsafe"}
