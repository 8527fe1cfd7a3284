"""docs/tutorial-python.md: its listings run one after the other, and print what stands in the `text` block below each.

    python python/tests/test_tutorial.py --update        # writes what they print; read what changed
"""
import os
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).absolute().parents[2] / "docs/tutorial-python.md"
STEP = re.compile(r"^```python\n((?:(?!```).*\n)*)```\n(?:\n```text\n((?:(?!```).*\n)*)```\n)?", re.M)
# Listings from the one that begins so need the package.
NEEDED = (("import torch\n", "torch"), ("import cuda.tile", "cuda.tile"), ("import tilevm.triton", "triton"))
MARK = "--- step"


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


def printed(folder):
    """What each listing prints, by its line."""
    steps = steps_here()
    (folder / "tutorial.py").write_text(program([(line, match[1]) for match, line in steps]), encoding="utf-8")
    environment = {**os.environ, "CUDA_TILE_CACHE_DIR": str(folder / "cache"), "TRITON_CACHE_DIR": str(folder / "cache"), "TILEVM_CHECK": ""}
    ran = subprocess.run([sys.executable, "tutorial.py"], capture_output=True, text=True, cwd=folder, env=environment)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    parts = re.split(rf"^{MARK} (\d+)\n", ran.stdout, flags=re.M)
    return steps, dict(zip(map(int, parts[1::2]), parts[2::2]))


def test_listings(tmp_path):
    steps, found = printed(tmp_path)
    assert len(steps) >= 7  # those without torch
    for match, line in steps:
        assert found[line] == (match[2] or ""), f"{PAGE.name}:{line}"


def main():
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        steps, found = printed(pathlib.Path(folder))
    text = PAGE.read_text(encoding="utf-8")
    for match, line in reversed(steps):
        if match[2] is not None:
            text = text[:match.start(2)] + found[line] + text[match.end(2):]
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
    assert sys.argv[1:] == ["--update"], __doc__
    main()
