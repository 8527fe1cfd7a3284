"""Rules for which other programs read the files: ShellCheck for shell scripts, ruff for Python.

What each may complain of stands in the scripts' annotations and in ruff.toml. A program that is missing skips its rule, by name;
./test installs both.
"""

import os
import pathlib
import re
import shutil
import subprocess

SHELL = re.compile(r"#!.*\b(?:ba)?sh\b")
PYTHON = re.compile(r"#!.*\bpython3?\b")


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
