"""action.yml: GitHub's step for other projects. Its commands run here, as a runner would start them."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from conftest import EXAMPLES

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
ROOT = pathlib.Path(__file__).absolute().parents[2]


@pytest.fixture(scope="module")
def action():
    return yaml.safe_load((ROOT / "action.yml").read_text())


@pytest.fixture
def step(action, tmp_path):
    """step(name, **inputs): runs the commands of a step in an own folder, with inputs put in as a runner does."""
    def run(name, status=0, **inputs):
        found, = (s for s in action["runs"]["steps"] if s["name"] == name)
        values = {key: about["default"] for key, about in action["inputs"].items()} | inputs
        environment = {key: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: values[m[1]], text) for key, text in found["env"].items()}
        script = tmp_path / "step.sh"
        script.write_text(found["run"])
        ran = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)], cwd=tmp_path, capture_output=True, text=True,
                             env={**os.environ, "GITHUB_ACTIONS": "true", **environment})
        assert ran.returncode == status, ran.stdout + ran.stderr
        return ran.stdout + ran.stderr

    return run


def test_form(action):
    assert action["runs"]["using"] == "composite" and action["name"] and action["description"]
    for about in action["inputs"].values():
        assert isinstance(about["default"], str) and about["description"]
    used = set()
    for part in action["runs"]["steps"]:
        assert part["shell"] == "bash" and "${{" not in part["run"]  # inputs are no code
        used |= set(re.findall(r"inputs\.(\w+)", " ".join(part["env"].values()) + part.get("if", "")))
        for name in re.findall(r"\$\{?(TILEVM_\w+)", part["run"]):
            assert name in part["env"]
        if shutil.which("shellcheck"):
            checked = subprocess.run(["shellcheck", "--shell=bash", "-"], input=part["run"], capture_output=True, text=True)
            assert checked.returncode == 0, checked.stdout
    assert used == set(action["inputs"])


def test_install(step, tmp_path):
    fake = tmp_path / "python"
    fake.write_text('#!/bin/sh\nprintf "<%s>" "$@"\n')
    fake.chmod(0o755)
    (tmp_path / "tilevm-1.whl").touch()
    assert step("Install", python=str(fake), wheel="tilevm-*.whl", packages="triton torch") == "<-m><pip><install><tilevm-1.whl><triton><torch><pytest>"


def test_verify(step, tmp_path):
    shutil.copy(EXAMPLES / "vector_add.tile", tmp_path / "good.tile")
    step("Verify", python=sys.executable, verify="good.tile")
    (tmp_path / "wrong.tile").write_text("entry @k(%x: tile<f32>) {\n  %y = adf %x, %x\n}\n")
    assert "wrong.tile:2:8: error[text.unknown_op]" in step("Verify", status=1, python=sys.executable, verify="*.tile")


def test_tests(step, tmp_path):
    (tmp_path / "test_one.py").write_text("def test_one(pytestconfig):\n    assert pytestconfig.getoption('tilevm_check') == 'full'\n")
    assert "1 passed" in step("Test", python=sys.executable, pytest="test_one.py -q -p no:cacheprovider", check="full")
    step("Test", status=4, python=sys.executable, pytest="test_one.py", check="much")


def test_pages_for_agents_name_checks_that_exist():
    skill = (ROOT / "docs/skills/tilevm/SKILL.md").read_text()
    assert skill.startswith("---\nname: tilevm\ndescription: ")
    known = (ROOT / "docs/checks.md").read_text() + "".join(path.read_text() for path in (ROOT / "docs/semantics").glob("*.md"))
    codes = set(re.findall(r"`(vm\.\w+)`", skill))
    assert len(codes) > 5 and [code for code in sorted(codes) if code not in known] == []
