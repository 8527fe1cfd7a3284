"""Verdicts in tests: tilevm.judge.check, and the fixture `tilevm_judge` of the pytest plugin, in processes of their own."""
import json
import os
import runpy
import subprocess
import sys
import types

import pytest
import tilevm.judge
from conftest import EXAMPLES
from judge_task import ANSWER, TASK
from tilevm.judge import _batch, _session
from tilevm.judge._verdict import Verdict

WRONG = """

def wrong(a, b):
    return add(b, a)
"""

SUITE = """
import kernels


def in_numpy(a, b):
    return a + 2 * b


def test_files(tilevm_judge):
    verdict = tilevm_judge("task.py", "kernels.py:reference", budget=1)
    assert verdict.cases >= 6 and verdict.kernels == ["add"]


def test_functions(tilevm_judge):
    tilevm_judge(in_numpy, kernels.reference, inputs={"a": "f32[n] contiguous", "b": "f32[n] contiguous"}, sizes="n <= 200", budget=1)


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
    for name, text in (("task.py", TASK), ("kernels.py", ANSWER + WRONG), ("test_suite.py", SUITE)):
        (made / name).write_text(text)
    try:
        tilevm.judge.judge(str(made / "task.py"), f"{made / 'kernels.py'}:reference", budget=0.1)
    except tilevm.UnavailableError as error:
        pytest.skip(str(error).split("\n", maxsplit=1)[0])
    return made


def test_fixture(folder):
    pytest.importorskip("torch")  # the reference of test_functions is compared in it
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_suite.py"], cwd=folder, capture_output=True, text=True,
                         env={**environment, "COLUMNS": "200"})
    assert "2 failed, 3 passed" in ran.stdout, ran.stdout + ran.stderr
    assert "kernels.py: wrong: error[judge.differs]" in ran.stdout and "_pytest_plugin.py" not in ran.stdout
    assert "there is no answer" in ran.stdout


def test_check(folder):
    verdict = tilevm.judge.check(str(folder / "task.py"), f"{folder / 'kernels.py'}:reference", budget=1)
    assert verdict.verdict == "right"
    with pytest.raises(tilevm.judge.NotRight, match="judge.differs") as failed:
        tilevm.judge.check(str(folder / "task.py"), f"{folder / 'kernels.py'}:wrong", budget=1)
    assert failed.value.verdict.verdict == "wrong"


def test_judging_goes_on_where_a_task_ends_its_process(folder, tmp_path, monkeypatch):
    """The process that judges has the environment and the folder of the one that starts it, and another one follows one that ended."""
    (tmp_path / "ends.py").write_text(TASK.replace("    return", "    import os\n    os._exit(3)\n    return"))
    (tmp_path / "reads.py").write_text(TASK.replace("    return", "    import os\n    assert os.environ['OF_THE_TEST'] == 'here'\n    return"))
    monkeypatch.setenv("OF_THE_TEST", "here")
    monkeypatch.chdir(tmp_path)
    answer = f"{folder / 'kernels.py'}:reference"
    items = [{"id": name, "task": f"{name}.py", "answer": answer} for name in ("ends", "reads", "missing")]
    found = {each["id"]: each for each in _batch.run(items, 1, {"budget": 1, "sandbox": True, "out": ""})}
    assert found["ends"]["verdict"] == "undecided" and "process that judges has ended" in found["ends"]["message"]
    assert found["reads"]["verdict"] == "right", found["reads"]
    assert found["missing"]["code"] == "judge.task"


def test_batch_on_a_cluster(folder, tmp_path, monkeypatch):
    """The example on Ray, which runs each task here: it goes on where it stopped, and answers to one task stay together."""
    asked = []

    def remote(**options):
        assert options["num_cpus"] == 1
        return lambda function: types.SimpleNamespace(remote=lambda items, budget: asked.append([item["id"] for item in items]) or function(items, budget))

    ray = types.SimpleNamespace(init=lambda address: None, remote=remote, wait=lambda tasks: (tasks[:1], tasks[1:]), get=lambda task: task)
    monkeypatch.setitem(sys.modules, "ray", ray)
    for name in ("task.py", "kernels.py"):
        (tmp_path / name).write_text((folder / name).read_text())
    pairs, results = tmp_path / "pairs.jsonl", tmp_path / "verdicts.jsonl"
    pairs.write_text("".join(json.dumps({"task": "task.py", "answer": f"kernels.py:{name}", "id": name}) + "\n" for name in ("reference", "wrong")))
    monkeypatch.setattr(sys, "argv", ["judge_on_ray.py", str(pairs), str(results), "--budget=1"])
    program = runpy.run_path(str(EXAMPLES / "python" / "judge_on_ray.py"))
    for calls in (1, 1):
        assert program["main"]() == 0 and asked == [["reference", "wrong"]] * calls
    found = {said["id"]: said["verdict"] for said in map(json.loads, results.read_text().splitlines())}
    assert found == {"reference": "right", "wrong": "wrong"}
    with pytest.raises(RuntimeError, match="ended with"):
        program["verdicts"]([{"task": "task.py"}], 1)


def test_judging_without_frontends():
    """The command itself imports neither NumPy nor torch."""
    text = "import sys, tilevm.judge._command, tilevm.judge._batch; print([name for name in ('numpy', 'torch', 'tilevm.judge._judge') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", text], capture_output=True, text=True).stdout.strip() == "[]"


def test_places():
    assert _session.place_of("a.py:f", "/x") == "/x/a.py:f" and _session.place_of("/y/a.py", "/x") == "/y/a.py"
    assert _session.place_of(test_places) == f"{os.path.abspath(__file__)}:test_places"
    for unnamed in (lambda: 0, print, Verdict):
        with pytest.raises(tilevm.ArgumentError, match="top of a file"):
            _session.place_of(unnamed)


def test_verdict_there_and_back():
    made = Verdict("wrong", "t.py", "a.py", "judge.differs", "text", line=3, element=[1, 2], expected=1.5, got=2.0)
    assert Verdict.from_json({**made.to_json(), "id": "7"}) == made
