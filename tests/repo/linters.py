"""Rules for which other programs read the files: ShellCheck for shell scripts, ruff and vermin for Python, clang-format for C++, codespell for words.

What each may complain of stands in the scripts' annotations, in ruff.toml, in .clang-format, and in NO_MISTAKES. A program that is missing skips its
rule, by name; ./test installs all of them.
"""

import os
import pathlib
import re
import shutil
import subprocess

SHELL = re.compile(r"#!.*\b(?:ba)?sh\b")
PYTHON = re.compile(r"#!.*\bpython3?\b")
SPELLED = {".md", ".h", ".hpp", ".def", ".py", ".cc", ".c", ".sh"}
WORD = r"(?<![\w.])[A-Z]?[a-z]+(?![\w(])"  # no part of a longer name
NO_MISTAKES = ("inout", "debians", "olt", "befores", "froms", "ot")


class Missing(Exception):
    """The program is not on this machine; says what would provide it."""


def written_in(files, suffix, shebang):
    """The files of one language, by name or by what runs them."""
    return [name for name, lines in files
            if pathlib.Path(name).suffix == suffix or not pathlib.Path(name).suffix and lines and shebang.match(lines[0])]


def complaints(root, command):
    """A line for each; those of the program itself if it could not do its work."""
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        return [f"{command[0]} failed with status {done.returncode}: {done.stderr.strip()}"]
    lines = done.stdout.splitlines()
    return lines or ([f"{command[0]} failed: {done.stderr.strip()}"] if done.returncode else [])


def shell_scripts_are_clean(root, files):
    shellcheck = shutil.which("shellcheck")
    if not shellcheck:
        raise Missing("there is no shellcheck (Debian package shellcheck)")
    return complaints(root, [shellcheck, "--external-sources", "--format=gcc", *written_in(files, ".sh", SHELL)])


def python_is_clean(root, files):
    ruff = os.environ.get("TILEVM_RUFF")
    if not ruff:
        raise Missing("TILEVM_RUFF names no ruff (third_party/ruff/install.sh)")
    return complaints(root, [ruff, "check", "--quiet", "--no-cache", "--output-format=concise", *written_in(files, ".py", PYTHON)])


def package_runs_on_oldest_python(root, files):
    """The Python that the wheel asks for is the one that all parts are made for, and the package's sources use nothing newer."""
    needed = re.search(r"^Requires-Python: >=3\.(\d+)$", (root / "python/build_wheel.py").read_text(), re.M)
    if needed is None:
        yield "python/build_wheel.py: no Requires-Python of the form >=3.N"
        return
    minor = int(needed[1])
    for name, words in (("python/build_wheel.py", f"Tag: cp3{minor}-abi3-"), ("python/ext/core/object.h", f"#define Py_LIMITED_API 0x03{minor:02X}0000\n"),
                        ("ruff.toml", f'target-version = "py3{minor}"'), ("README.md", f"CPython 3.{minor} or newer")):
        if words not in (root / name).read_text():
            yield f"{name}: the wheel needs Python 3.{minor}, so this has to say: {words.strip()}"
    vermin = pathlib.Path(os.environ.get("TILEVM_RUFF", "")).with_name("vermin") if os.environ.get("TILEVM_RUFF") else None
    if vermin is None or not vermin.exists():
        raise Missing("TILEVM_RUFF names no ruff that vermin lies beside (third_party/ruff/install.sh)")
    sources = [name for name in written_in(files, ".py", PYTHON) if name.startswith("python/tilevm/")]
    # A line for each use, and one for each file with the least that it needs.
    found = complaints(root, [str(vermin), "--no-tips", f"--target=3.{minor}-", "--violations", "--format", "parsable", *sources])
    uses = [line.removeprefix(f"{root}/").split(":") for line in found]
    yield from (f"{name}:{line}: Python {newer} has this first: {what}" for name, line, _, _, newer, what, *_ in uses if what)


def cpp_is_formatted(root, files):
    clang_format = shutil.which("clang-format-14")  # One release: others break lines elsewhere.
    if not clang_format:
        raise Missing("there is no clang-format-14 (Debian package of that name)")
    names = [name for name, _ in files if pathlib.Path(name).suffix in {".cc", ".h", ".hpp"}]
    done = subprocess.run([clang_format, "--dry-run", "-Werror", *names], cwd=root, stderr=subprocess.PIPE, text=True)
    lines = done.stderr.splitlines()
    wrong = sorted({line.split(":")[0] for line in lines if "-Wclang-format-violations" in line})
    return [f"{name}: format it: clang-format-14 -i {name}" for name in wrong] or (lines if done.returncode else [])


def words_are_spelled(root, files):
    """Of pages, sources and comments; tests have mistakes on purpose."""
    codespell = shutil.which("codespell")
    if not codespell:
        raise Missing("there is no codespell (Debian package codespell)")
    names = [name for name, _ in files
             if pathlib.Path(name).suffix in SPELLED and (name.endswith(".md") or not re.search(r"(^|[/_])tests?[/_.]", name))]
    done = subprocess.run([codespell, "--quiet-level=3", f"--regex={WORD}", f"--ignore-words-list={','.join(NO_MISTAKES)}", *names], cwd=root,
                          capture_output=True, text=True)
    return done.stdout.splitlines() or ([f"codespell failed: {done.stderr.strip()}"] if done.returncode else [])
