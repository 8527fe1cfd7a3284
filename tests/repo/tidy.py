"""What clang-tidy finds (.clang-tidy) in the C++ files that a change touches. Continuous integration asks; a file takes five seconds.

    python3 tests/repo/tidy.py             # those that differ from the base of the branch, or from the commit before
    python3 tests/repo/tidy.py HEAD~60     # from another commit

Needs what Bazel generates (bazel-bin). Only mistakes in the files of the change count, not those in headers that they include. What
exceeds a number of files or a time is left out, by name.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from linters import Missing

TIDY = "clang-tidy-14"  # One release: others know other mistakes.
MOST_FILES = 20
MOST_SECONDS = 240
FINDING = re.compile(r"^(\S+?):\d+:\d+: (?:warning|error): .*\[([\w.,-]+)\]$")
FLAGS = ["-xc++", "-std=c++20", "-I.", "-Ibazel-bin", "-isystem", "/usr/lib/llvm-22/include"]
# Code for another compiler.
OTHER_CODE = ("examples/tile_cpp/", "tests/tilecpp/")


def git(root, *arguments):
    """What it prints; None if it fails."""
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def base_of(root):
    """The commit that the change begins at: where its branch left main, or the one before the newest."""
    head = git(root, "rev-parse", "HEAD")
    for main in ("origin/" + os.environ.get("GITHUB_BASE_REF", "main"), "main"):
        base = git(root, "merge-base", "HEAD", main)
        if base and base != head:
            return base
    base = git(root, "rev-parse", "--verify", "--quiet", "HEAD~1")
    if not base:
        raise Missing("the clone has no commit before the newest to compare with")
    return base


def changed_files(root, base):
    """C++ files that differ from a commit: sources, and headers that are not read with the source of their name."""
    names = git(root, "diff", "--name-only", "--diff-filter=d", base)
    if names is None:
        raise Missing(f"the clone does not have the commit {base}")
    cpp = [n for n in names.splitlines() if n.endswith((".cc", ".h")) and not n.startswith(OTHER_CODE)]
    sources = sorted(n for n in cpp if n.endswith(".cc"))
    return sources + sorted(n for n in cpp if n.endswith(".h") and n[:-2] + ".cc" not in sources)


def findings(root, name, changed, seconds):
    """Lines of what is wrong in the file, or in another of the change."""
    try:
        done = subprocess.run([TIDY, "--quiet", name, "--", *FLAGS], cwd=root, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired as late:
        raise Missing(f"it took more than the {MOST_SECONDS} seconds that all files have") from late
    found, not_understood = [], []
    for line in done.stdout.splitlines():
        match = FINDING.match(line)
        if not match:
            continue
        path = pathlib.Path(match.group(1))
        if path.is_absolute() and path.is_relative_to(root):
            path = path.relative_to(root)
        line = line.replace(f"{root}/", "")
        if match.group(2) == "clang-diagnostic-error":
            not_understood.append(line)
        elif str(path) in changed:
            found.append(line)
    if done.returncode not in (0, 1):
        raise Missing(f"{TIDY} ended with status {done.returncode}")
    # What g++ compiles is no mistake: a header that Bazel has not generated, or C++20 that this clang does not know.
    if not_understood and not found:
        raise Missing(f"{TIDY} does not understand it: {not_understood[0]}")
    return found


def check(root, base=None, most_files=MOST_FILES, most_seconds=MOST_SECONDS):
    """(file, problems, why it was not read) for each file of the change; raises Missing if there is nothing to read it with."""
    if not shutil.which(TIDY):
        raise Missing(f"there is no {TIDY} (Debian package of that name)")
    base = base or base_of(root)
    names = changed_files(root, base)
    changed = set(git(root, "diff", "--name-only", base).splitlines())
    end = time.monotonic() + most_seconds

    def one(at):
        left = end - time.monotonic()
        if at >= most_files:
            return names[at], [], f"{most_files} files of the change were read before it"
        if left <= 0:
            return names[at], [], f"the {most_seconds} seconds for all files are over"
        try:
            return names[at], findings(root, names[at], changed, left), None
        except Missing as missing:
            return names[at], [], str(missing)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(one, range(len(names)))


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    base = sys.argv[1] if len(sys.argv) > 1 else None
    found = 0
    for name, problems, skipped in check(root, base, most_files=10**6, most_seconds=10**6):
        found += len(problems)
        print("\n".join(problems) or f"{name}: {'skipped: ' + skipped if skipped else 'nothing'}", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
