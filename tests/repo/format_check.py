"""Says which C++ files that differ from a base are not as clang-format 14 and .clang-format have them.

    python3 tests/repo/format_check.py main          files changed since this branch left main, with what is not committed
    python3 tests/repo/format_check.py --fix main    formats them in place

Only files that a change touches, because not all of the code has been formatted. One release of clang-format (Debian package
clang-format-14), because others break lines elsewhere. Exit status 1: a file is to be formatted; 2: the check could not run.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLANG_FORMAT = "clang-format-14"
SUFFIXES = {".cc", ".h", ".hpp"}


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"error: git {' '.join(arguments)}: {done.stderr.strip()}", file=sys.stderr)
        sys.exit(2)
    return done.stdout


def changed_files(base):
    """C++ files that differ from where this branch left the base, and those that git does not have yet."""
    start = git("merge-base", base, "HEAD").strip()
    names = git("diff", "--name-only", "-z", "--diff-filter=d", start) + git("ls-files", "-z", "--others", "--exclude-standard")
    return sorted({n for n in names.split("\0") if pathlib.Path(n).suffix in SUFFIXES and not (ROOT / n).is_symlink()})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true", help="format the files in place")
    parser.add_argument("base", help="the commit or branch that the change starts from")
    args = parser.parse_args()

    tool = shutil.which(CLANG_FORMAT)
    if not tool:
        print(f"error: there is no {CLANG_FORMAT}: install the Debian package of that name", file=sys.stderr)
        return 2
    names = changed_files(args.base)
    if not names:
        return 0
    done = subprocess.run([tool, *(["-i"] if args.fix else ["--dry-run", "-Werror"]), *names], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    wrong = sorted({line.split(":")[0] for line in done.stderr.splitlines() if "-Wclang-format-violations" in line})
    for name in wrong:
        print(f"{name}: format it: tests/repo/format_check.py --fix {args.base}")
    if done.returncode != 0 and not wrong:
        print(done.stderr, file=sys.stderr)
        return 2
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
