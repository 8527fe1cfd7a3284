"""Verdicts in tests: tilevm.judge.check, and the fixture `tilevm_judge` of the pytest plugin, in processes of their own."""
import os
import subprocess
import sys

import pytest
import tilevm.judge
from tilevm.judge import _session
from tilevm.judge._verdict import Verdict

TASK = """
import numpy

INPUTS = {"a": "f32[n] contiguous", "b": "f32[n] contiguous"}


def reference(a, b):
    return a + 2 * b
"""

ANSWER = """
from tilevm import script


@script.kernel("a: f32[n], b: f32[n] -> c: f32[n]", grid="ceildiv(n, B)")
def add(a, b, c, B=64):
    i = script.bid()
    script.store(c, i, script.load(a, i, B) + 2.0 * script.load(b, i, B))


def right(a, b):
    return add(a, b)


def wrong(a, b):
    return add(b, a)
"""

SUITE = """
import kernels


def in_numpy(a, b):
    return a + 2 * b


def test_files(tilevm_judge):
    verdict = tilevm_judge("task.py", "kernels.py:right", budget=1)
    assert verdict.cases >= 6 and verdict.kernels == ["add"]


def test_functions(tilevm_judge):
    tilevm_judge(in_numpy, kernels.right, inputs={"a": "f32[n] contiguous", "b": "f32[n] contiguous"}, sizes="n <= 200", budget=1)


def test_wrong(tilevm_judge):
    tilevm_judge("task.py", kernels.wrong, budget=1)


def test_no_file(tilevm_judge):
    tilevm_judge("task.py", "missing.py", budget=1)


def test_process_is_as_it_was(tilevm_judge):
    import sys
    assert "torch" not in sys.modules
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With the task, kernels and a suite; all of it is skipped where no process can be shut in."""
    made = tmp_path_factory.mktemp("suite")
    for name, text in (("task.py", TASK), ("kernels.py", ANSWER), ("test_suite.py", SUITE)):
        (made / name).write_text(text)
    try:
        tilevm.judge.judge(str(made / "task.py"), f"{made / 'kernels.py'}:right", budget=0.1)
    except tilevm.UnavailableError as error:
        pytest.skip(str(error).split("\n", maxsplit=1)[0])
    return made


def test_fixture(folder):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_suite.py"], cwd=folder, capture_output=True, text=True,
                         env={**environment, "COLUMNS": "200"})
    assert "2 failed, 3 passed" in ran.stdout, ran.stdout + ran.stderr
    assert "kernels.py: wrong: error[judge.differs]" in ran.stdout and "_pytest_plugin.py" not in ran.stdout
    assert "there is no answer" in ran.stdout


def test_check(folder):
    verdict = tilevm.judge.check(str(folder / "task.py"), f"{folder / 'kernels.py'}:right", budget=1)
    assert verdict.verdict == "right"
    with pytest.raises(tilevm.judge.NotRight, match="judge.differs") as failed:
        tilevm.judge.check(str(folder / "task.py"), f"{folder / 'kernels.py'}:wrong", budget=1)
    assert failed.value.verdict.verdict == "wrong"


def test_places():
    assert _session.place_of("a.py:f", "/x") == "/x/a.py:f" and _session.place_of("/y/a.py", "/x") == "/y/a.py"
    assert _session.place_of(test_places) == f"{os.path.abspath(__file__)}:test_places"
    for unnamed in (lambda: 0, print, Verdict):
        with pytest.raises(tilevm.ArgumentError, match="top of a file"):
            _session.place_of(unnamed)


def test_verdict_there_and_back():
    made = Verdict("wrong", "t.py", "a.py", "judge.differs", "text", line=3, element=[1, 2], expected=1.5, got=2.0)
    assert Verdict.from_json({**made.to_json(), "id": "7"}) == made
