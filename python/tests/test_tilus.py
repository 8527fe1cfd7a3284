"""Tilus scripts, unmodified, under tilevm.tilus: each function of tilus_cases/ is a case here, run in one process with every check, because
tilevm.tilus changes Tilus and torch for good; then what concerns processes. Examples and tests of Tilus itself: tests/tilus."""
import ast
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from conftest import is_installed

CASES = pathlib.Path(__file__).resolve().parent / "tilus_cases"
needs_tilus = pytest.mark.skipif(not is_installed("tilus") or not is_installed("torch"), reason="tilus or torch is not installed")


def names_of_cases():
    """"cases_language:test_prints"."""
    return [f"{file.stem}:{node.name}" for file in sorted(CASES.glob("cases_*.py")) for node in ast.parse(file.read_text()).body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """{name: (text of failures, reason of a skip)} of all cases."""
    folder = tmp_path_factory.mktemp("tilus")
    command = [sys.executable, "-m", "tilevm.tilus", "--check=full", "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={folder}/results.xml",
               "-o", "python_files=cases_*.py", str(CASES)]
    ran = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TILUS_CACHE_DIR": str(folder / "cache")}, cwd=folder, timeout=1200)
    if not (folder / "results.xml").exists():
        pytest.fail(ran.stdout + ran.stderr)
    found = {}
    for case in ElementTree.parse(folder / "results.xml").iter("testcase"):
        name = f"{case.get('classname').rsplit('.', 1)[-1]}:{case.get('name').split('[')[0]}"
        wrong, skipped = found.get(name, ("", ""))
        wrong += "".join(f"{case.get('name')}: {part.text or part.get('message')}\n" for part in case if part.tag in ("failure", "error"))
        skipped = next((part.get("message") for part in case if part.tag == "skipped"), skipped)
        found[name] = wrong, skipped
    return found


@needs_tilus
@pytest.mark.parametrize("name", names_of_cases())
def test_case(outcomes, name):
    assert name in outcomes, "the case did not run"
    wrong, skipped = outcomes[name]
    assert wrong == "", wrong
    if skipped:
        pytest.skip(skipped)


# --- processes

PROGRAM = """
import tilus, torch
from tilus import int32
from tilus.utils import cdiv

class Twice(tilus.Script):
    def __call__(self, n: int32, x_ptr: ~int32):
        self.attrs.blocks = [cdiv(n, 32)]
        self.attrs.warps = 1
        g = self.global_view(x_ptr, dtype=int32, shape=[n])
        x = self.load_global(g, offsets=[32 * self.blockIdx.x], shape=[32])
        self.store_global(g, x * 2, offsets=[32 * self.blockIdx.x])

numbers = torch.arange(40, dtype=torch.int32, device="cuda")
Twice()(n, numbers)
print(numbers.sum().item())
"""


@pytest.fixture
def run(tmp_path):
    def run(text, *words, status=0):
        program = tmp_path / "program.py"
        program.write_text(text)
        ran = subprocess.run([sys.executable, *words, str(program)], capture_output=True, text=True, cwd=tmp_path,
                             env={**os.environ, "TILUS_CACHE_DIR": str(tmp_path / "cache")})
        assert ran.returncode == status, ran.stdout + ran.stderr
        return ran.stdout + ran.stderr

    return run


@needs_tilus
def test_a_program_of_the_command(run):
    assert "1560\n" in run(PROGRAM.replace("(n, numbers)", "(40, numbers)"), "-m", "tilevm.tilus")


@needs_tilus
def test_a_mistake_ends_the_program_with_its_line(run):
    out = run(PROGRAM.replace("(n, numbers)", "(64, numbers)"), "-m", "tilevm.tilus", status=1)
    assert "program.py:11:" in out and "error[vm.out_of_bounds]" in out and "called from" in out and "Traceback" not in out


def test_a_gpu_is_refused():
    ran = subprocess.run([sys.executable, "-c", "import tilevm.tilus; tilevm.tilus.install('cuda')"], capture_output=True, text=True)
    assert "error[tilus.device]" in ran.stderr and "fix: " in ran.stderr


def test_sizes_of_the_host_are_those_of_c():
    from tilevm.tilus._host import evaluate

    assert evaluate(["Div", ["Sub", ["parameter", 0], 1], 4], [-6]) == -1  # truncated
    assert evaluate(["Mod", ["parameter", 0], 4], [-7]) == -3
    assert evaluate(["IfThenElse", ["LessThan", ["parameter", 0], 3], ["min", 5, 7], ["max", 5, 7]], [3]) == 7
