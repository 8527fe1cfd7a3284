"""The language server in Neovim, with the lines of docs/editors.md: what a user sees of mistakes, meanings, definitions and words to complete."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from conftest import is_installed

ROOT = pathlib.Path(__file__).absolute().parents[2]
WRONG = """entry @k(%x: tile<f32>, %y: tile<f32>) {
  %sum = adf %x, %y
  %twice = addf %sum, %sum
  return
}
"""


MENDED = WRONG.replace("adf", "addf")


def place(word, nth=0, text=MENDED):
    """[line, column] of the nth occurrence of a word, as Neovim counts them: from 1 and from 0."""
    start = [m.start() for m in re.finditer(re.escape(word) + r"\b", text)][nth]
    return [text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start) - 1]


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    nvim = shutil.which("nvim")
    if nvim is None:
        pytest.skip("Neovim is not installed")
    if not is_installed("pygls"):
        pytest.skip("pygls is not installed")
    folder = tmp_path_factory.mktemp("nvim")
    (folder / "wrong.tile").write_text(WRONG)
    line, column = place("%y", 1)
    asks = {"mistake": place("adf", text=WRONG), "hover": place("addf"), "use": place("%sum", 2), "completion": [line, column + 1]}
    (folder / "asks.json").write_text(json.dumps(asks))
    init = re.search(r"## Neovim\n.*?```text\n(.*?)```", (ROOT / "docs/editors.md").read_text(), re.S).group(1)
    init = init.replace("REPOSITORY", str(ROOT)).replace('["/path/.venv/bin/tilevm-lsp"]', json.dumps([sys.executable, "-m", "tilevm.lsp"]))
    (folder / "init.vim").write_text(init)
    environment = {**os.environ, "ASKS": str(folder / "asks.json"), "ANSWERS": str(folder / "answers.json"), "HOME": str(folder),
                   "XDG_RUNTIME_DIR": str(folder)}
    ran = subprocess.run([nvim, "--headless", "-n", "-i", "NONE", "-u", str(folder / "init.vim"), str(folder / "wrong.tile"),
                          "-c", f"luafile {ROOT}/python/tests/nvim_asks.lua"],
                         capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = json.loads((folder / "answers.json").read_text())
    assert "error" not in found, (found, ran.stderr)
    return found


def test_the_file_is_known(answers):
    assert (answers["filetype"], answers["commentstring"], answers["client"]) == ("tile", "// %s", "tilevm")


def test_a_mistake_is_shown_and_its_action_mends_it(answers):
    found, = answers["wrong"]
    line, column = place("adf", text=WRONG)
    assert (found["line"], found["first"], found["last"], found["severity"], found["source"]) == (line - 1, column, column + 3, 1, "tilevm")
    assert "did you mean addf?" in found["message"]
    assert answers["action"] == "write addf"
    assert answers["mended"] == MENDED.splitlines()


def test_hover_opens_a_window(answers):
    text = "\n".join(answers["hover"])
    assert "addf" in text and "float" in text, text


def test_definition_moves_the_cursor(answers):
    assert answers["definition"] == place("%sum")


def test_completion_names_the_values_that_are_visible(answers):
    assert sorted(answers["completion"]) == ["%x", "%y"]
