#!/usr/bin/env python3
"""Runs Tilus' own tests, unmodified, on the VM, and counts by file what passes, fails, is refused or skipped.

    suite.py CHECKOUT [--check=full] [--capability=9.0] [--seconds=N] [--jobs=N] [--apart=WORD] [--json=FILE] [--markdown] [NAME…]

CHECKOUT is a checkout of NVIDIA/tilus; its package is used, too. Each file runs in a process of its own, under `python -m tilevm.tilus`. A
file that asks for a GPU of capability 10.0 gets one. Of files whose name has --apart's word each test runs in a process of its own. A test
is refused if tilevm says that it cannot run its program (`error[tilus.…]`). Left out are the example programs, which examples.py runs at
small sizes, and the tests of the documentation's pages, which have no kernels.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

KINDS = ("passed", "failed", "refused", "skipped")


def capability_of(file):
    return "10.0" if re.search(r"nvgpu_sm100a?\b|tcgen05", file.read_text()) else "9.0"


def kind_of(case):
    """One of KINDS, and the first line that says why."""
    for part in case:
        text = f"{part.get('message') or ''}\n{part.text or ''}"
        if part.tag == "skipped":
            return "skipped", (part.get("message") or "").splitlines()[0]
        if part.tag in ("failure", "error"):
            refused = re.search(r"error\[tilus\.(?:unsupported|groups|cluster)\]: [^\n]*", text)
            if refused:
                return "refused", refused[0]
            ours = re.search(r"[^\n]*error\[[\w.]+\]: [^\n]*", text)
            return "failed", (ours[0] if ours else text.strip().splitlines()[0])[:300]
    return "passed", ""


def python(checkout, folder, *words):
    """A command, with what it needs of the environment."""
    path = os.pathsep.join([str(checkout / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "TILUS_CACHE_DIR": f"{folder}/cache", "PYTHONDONTWRITEBYTECODE": "1"}
    return {"args": [sys.executable, "-m", "tilevm.tilus", *words], "env": environment, "cwd": folder, "capture_output": True, "text": True}


def run(checkout, file, test, options):
    """Of one test of a file, or of all (test is ""): {"passed": n, …, "why": {reason: number of tests}}."""
    found = dict.fromkeys(KINDS, 0)
    why = {}
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.xml"
        command = python(checkout, folder, f"--check={options.check}", f"--capability={options.capability or capability_of(file)}", "--tune=first",
                         "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={results}", "-k", "not test_example", f"{file}{test}")
        try:
            ran = subprocess.run(**command, timeout=options.seconds)
        except subprocess.TimeoutExpired:
            return {**found, "failed": 1, "why": {f"{test} not done after {options.seconds} s": 1}}
        if not results.exists():
            return {**found, "failed": 1, "why": {(ran.stdout + ran.stderr).strip()[-300:]: 1}}
        for case in ElementTree.parse(results).iter("testcase"):
            kind, reason = kind_of(case)
            found[kind] += 1
            if reason:
                why[reason] = why.get(reason, 0) + 1
    return {**found, "why": why}


def tests_of(checkout, file):
    """"::test[parameters]" of each test."""
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(**python(checkout, folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--collect-only", str(file)))
    return [line[line.index("::"):] for line in ran.stdout.splitlines() if "::" in line]


def added(parts):
    """The counts of a file whose tests ran apart."""
    total = {**dict.fromkeys(KINDS, 0), "why": {}}
    for part in parts:
        for kind in KINDS:
            total[kind] += part[kind]
        for reason, n in part["why"].items():
            total["why"][reason] = total["why"].get(reason, 0) + n
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", default="bounds")
    parser.add_argument("--capability")
    parser.add_argument("--seconds", type=int, default=1200)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--apart", metavar="WORD")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_intermixed_args()
    checkout = options.checkout.resolve()
    total = {}
    files = {str(file.relative_to(checkout / "tests")): file for file in sorted((checkout / "tests").rglob("test_*.py"))}
    files = {name: file for name, file in files.items() if not name.startswith("docs/") and
             (not options.names or any(word in name for word in options.names))}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {name: [pool.submit(run, checkout, file, test, options)
                       for test in (tests_of(checkout, file) if options.apart and options.apart in name else [""])] for name, file in files.items()}
        for name, parts in runs.items():
            total[name] = added(part.result() for part in parts)
            counts = [total[name][kind] for kind in KINDS]
            print(f"| `{name}` | {' | '.join(map(str, counts))} |" if options.markdown
                  else f"{name}: {', '.join(f'{n} {kind}' for n, kind in zip(counts, KINDS))}", flush=True)
            for reason, n in total[name]["why"].items():
                print(f"    {n} × {reason}", file=sys.stderr if options.markdown else sys.stdout, flush=True)
    print(f"{len(total)} files: " + ", ".join(f"{sum(counts[kind] for counts in total.values())} {kind}" for kind in KINDS))
    if options.json:
        options.json.write_text(json.dumps(total, indent=1))


if __name__ == "__main__":
    main()
