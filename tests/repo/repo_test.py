"""Checks rules that hold for every file of the repository. Run by ./test, outside of Bazel,
because it asks git which files there are."""

import argparse
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = {".cc", ".h", ".def", ".py", ".fbs", ".tile", ".bzl"}
MAX_LINES = 900

# Written so that they don't match themselves.
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:work|root)/")
UNFINISHED = re.compile(r"\b(?:TO[D]O|FIX[M]E|X[X]X)\b")


def tracked_files():
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    for name in filter(None, names):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            try:
                yield name, path.read_text(encoding="utf-8").splitlines()
            except UnicodeDecodeError:
                pass  # A binary file.


def no_long_source(files):
    for name, lines in files:
        if pathlib.Path(name).suffix in SOURCES and len(lines) > MAX_LINES:
            yield f"{name}: {len(lines)} lines, more than {MAX_LINES}: split it"


def matches(files, pattern, what):
    for name, lines in files:
        for number, line in enumerate(lines, 1):
            match = pattern.search(line)
            if match:
                yield f"{name}:{number}: {what}: {match.group()}"


def no_machine_paths(files):
    return matches(files, MACHINE_PATH, "path that exists on one machine only")


def no_unfinished_marks(files):
    return matches(files, UNFINISHED, "do it, or write down why not")


# Debian's Abseil is built without ThreadSanitizer, which then can't see what its locks order and reports races that are none.
UNSEEN_LOCK = re.compile(r"\babsl::(?:Mu[t]ex\w*|Cond[V]ar|Notific[a]tion|call_o[n]ce|BlockingC[o]unter)\b")


def locks_are_seen_by_sanitizers(files):
    return matches([f for f in files if pathlib.Path(f[0]).suffix in SOURCES], UNSEEN_LOCK, "use std::mutex and its like")


COVERAGE = "tests/source-coverage.md"
COVERED = re.compile(r"`(tests/[\w./-]+\.tile)(?::(\w+))?`")


def sources_are_covered(files):
    """Every rule of the source documents names tests that exist, or why there is none here."""
    texts = {name: lines for name, lines in files if name == COVERAGE or name.endswith(".tile")}
    rows = [(n, line) for n, line in enumerate(texts.get(COVERAGE, []), 1) if re.match(r"\| S\d-\d+ \|", line)]
    if not rows:
        yield f"{COVERAGE}: has no rows"
    for number, line in rows:
        tests = re.split(r"(?<!\\)\|", line)[-2].strip()
        for test in tests.split(", "):
            match = COVERED.fullmatch(test)
            if test in ("frontend", "gpu"):
                continue
            if not match:
                yield f"{COVERAGE}:{number}: `{test}` names no test"
            elif match.group(1) not in texts:
                yield f"{COVERAGE}:{number}: there is no {match.group(1)}"
            elif match.group(2) and not any(f"entry @{match.group(2)}(" in l for l in texts[match.group(1)]):
                yield f"{COVERAGE}:{number}: {match.group(1)} has no kernel {match.group(2)}"


RULES = [no_long_source, no_machine_paths, no_unfinished_marks, locks_are_seen_by_sanitizers, sources_are_covered]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--xml", help="also write the results here, as JUnit does")
    args = parser.parse_args()

    files = list(tracked_files())
    suite = ElementTree.Element("testsuite", name="Repo")
    failed = False
    for rule in RULES:
        case = ElementTree.SubElement(suite, "testcase", classname="Repo", name=rule.__name__)
        problems = list(rule(files))
        if problems:
            failed = True
            print("\n".join(problems))
            ElementTree.SubElement(case, "failure", message="\n".join(problems))
    if args.xml:
        ElementTree.ElementTree(suite).write(args.xml, encoding="unicode")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
