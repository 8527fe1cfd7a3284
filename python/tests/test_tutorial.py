"""docs/tutorial-python.md: its listings run one after the other, and print what stands in the `text` block below each.

docs/tutorial-python.ipynb is the page as a notebook, and its cells run as in Jupyter.

    python python/tests/test_tutorial.py --update        # writes what they print, and the notebook; read what changed
"""
import json
import os
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).absolute().parents[2] / "docs/tutorial-python.md"
NOTEBOOK = PAGE.with_suffix(".ipynb")
STEP = re.compile(r"^```python\n((?:(?!```).*\n)*)```\n(?:\n```text\n((?:(?!```).*\n)*)```\n)?", re.M)
# Listings from the one that begins so need the package.
NEEDED = (("import torch\n", "torch"), ("import cuda.tile", "cuda.tile"), ("import tilevm.triton", "triton"))
MARK = "--- step"
# Each cell is a file that no disk has, whose lines Python finds in its cache, as Jupyter's kernel does it.
RUN_CELLS = """
import json, linecache, sys
space = {"__name__": "__main__"}
for line, code in json.load(sys.stdin):
    name = f"<cell at line {line}>"
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    print(sys.argv[1], line)
    exec(compile(code, name, "exec"), space)
"""


def program(steps):
    """All listings in one file, each after a mark; a line of the page is a line of the file."""
    lines = []
    for line, code in steps:
        lines += [""] * (line - len(lines) - 2) + [f"print({MARK!r}, {line})", *code.splitlines()]
    return "\n".join(lines) + "\n"


def steps_here():
    """(match, line) of the listings up to the first one that needs a package which is not here."""
    from conftest import is_installed

    text = PAGE.read_text(encoding="utf-8")
    found = []
    for match in STEP.finditer(text):
        missing = [package for begin, package in NEEDED if match[1].startswith(begin) and not is_installed(package)]
        if missing:
            break
        found.append((match, text[:match.start(1)].count("\n") + 1))
    return found


def ran(command, folder, said=None):
    """What each step prints, by its line."""
    environment = {**os.environ, "CUDA_TILE_CACHE_DIR": str(folder / "cache"), "TRITON_CACHE_DIR": str(folder / "cache"), "TILEVM_CHECK": ""}
    done = subprocess.run([sys.executable, *command], input=said, capture_output=True, text=True, cwd=folder, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    parts = re.split(rf"^{MARK} (\d+)\n", done.stdout, flags=re.M)
    return dict(zip(map(int, parts[1::2]), parts[2::2]))


def printed(folder):
    """What each listing prints, by its line."""
    steps = steps_here()
    (folder / "tutorial.py").write_text(program([(line, match[1]) for match, line in steps]), encoding="utf-8")
    return steps, ran(["tutorial.py"], folder)


def notebook(text):
    """The page as a notebook: its text, its listings, and what they print."""
    cells, place = [], 0

    def say(words):
        if words.strip():
            cells.append({"cell_type": "markdown", "metadata": {}, "source": words.strip().splitlines(True)})

    for count, match in enumerate(STEP.finditer(text), 1):
        say(text[place:match.start()])
        outputs = [{"name": "stdout", "output_type": "stream", "text": match[2].splitlines(True)}] if match[2] else []
        cells.append({"cell_type": "code", "execution_count": count, "metadata": {}, "outputs": outputs, "source": match[1].rstrip("\n").splitlines(True)})
        place = match.end()
    say(text[place:])
    python = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps({"cells": cells, "metadata": {"kernelspec": python}, "nbformat": 4, "nbformat_minor": 4}, indent=1, ensure_ascii=False) + "\n"


def test_listings(tmp_path):
    steps, found = printed(tmp_path)
    assert len(steps) >= 7  # those without torch
    for match, line in steps:
        assert found[line] == (match[2] or ""), f"{PAGE.name}:{line}"


def test_the_notebook_is_the_page():
    assert NOTEBOOK.read_text(encoding="utf-8") == notebook(PAGE.read_text(encoding="utf-8")), "python python/tests/test_tutorial.py --update"


def test_cells_of_the_notebook(tmp_path):
    steps = steps_here()
    cells = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"][:len(steps)]
    sources = [(line, "".join(cell["source"])) for cell, (_, line) in zip(cells, steps)]
    found = ran(["-c", RUN_CELLS, MARK], tmp_path, json.dumps(sources))
    for cell, (_, line) in zip(cells, steps):
        assert found[line] == "".join(text for output in cell["outputs"] for text in output["text"]), f"{NOTEBOOK.name}: the listing of line {line} of the page"


def main():
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        steps, found = printed(pathlib.Path(folder))
    text = PAGE.read_text(encoding="utf-8")
    for match, line in reversed(steps):
        if match[2] is not None:
            text = text[:match.start(2)] + found[line] + text[match.end(2):]
    PAGE.write_text(text, encoding="utf-8")
    NOTEBOOK.write_text(notebook(text), encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
    assert sys.argv[1:] == ["--update"], __doc__
    main()
