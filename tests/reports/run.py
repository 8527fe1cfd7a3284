#!/usr/bin/env python3
"""Runs a folder of reports, small programs that once went wrong, and says for each whether the tools now do what they must.

    tests/reports/run.py FOLDER --tilevm=FILE --tilec=FILE [--only=PATTERN]      with a Python that has tilevm, torch, triton and cuda-tile

expected.toml says what each file must print. Prints a line for each, `right` or `wrong` with the reason, and at the end `N right, N wrong`; ends with 1 if
one is wrong or has no entry in the table.
"""
import argparse
import fnmatch
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent


def why_wrong(path, entry, names):
    """"" if the program does what it must, and its output."""
    with tempfile.TemporaryDirectory() as tmp:
        fill = {**names, "file": str(path), "tmp": tmp}
        steps = entry["run"] if isinstance(entry["run"], list) else [entry["run"]]
        text, status = "", 0
        environment = dict(os.environ, TILEVM_CHECK=entry.get("check", "bounds"), TRITON_CACHE_DIR=tmp + "/triton", OMP_NUM_THREADS="1")
        for step in steps:
            command = re.sub(r"\{(file|tmp|tilevm|tilec|python|root)\}", lambda m: fill[m[1]], step)
            try:
                done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
                                      stdin=subprocess.DEVNULL, timeout=entry.get("seconds", 120))
            except subprocess.TimeoutExpired:
                return f"takes longer than {entry.get('seconds', 120)} s: {step[:60]}", text
            text += done.stdout.decode(errors="replace")
            status = status or done.returncode
    for pattern in entry.get("says", ()):
        if not re.search(pattern, text, re.MULTILINE):
            return f"does not say {pattern!r}", text
    for pattern in entry.get("silent", ()):
        if found := re.search(pattern, text, re.MULTILINE):
            return f"says {found[0]!r}", text
    if "status" in entry and status != entry["status"]:
        return f"ends with {status}, not {entry['status']}", text
    return "", text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tilevm", required=True)
    parser.add_argument("--tilec", required=True)
    parser.add_argument("--only", default="*")
    parser.add_argument("--verbose", action="store_true", help="prints the output of those that are wrong")
    args = parser.parse_args()
    expected = tomllib.loads((HERE / "expected.toml").read_text())
    names = {"tilevm": os.path.abspath(args.tilevm), "tilec": os.path.abspath(args.tilec), "python": sys.executable, "root": str(HERE.parents[1])}
    wrong = right = 0
    for path in sorted(p for p in args.folder.resolve().iterdir() if p.is_file() and fnmatch.fnmatch(p.name, args.only)):
        start = time.time()
        why, text = why_wrong(path, expected[path.name], names) if path.name in expected else ("has no entry in expected.toml", "")
        print(f"{'wrong' if why else 'right'} {time.time() - start:6.1f} s  {path.name}{': ' + why if why else ''}", flush=True)
        if why and args.verbose:
            print("    " + "\n    ".join(text.splitlines()[-12:]))
        wrong, right = wrong + bool(why), right + (not why)
    print(f"{right} right, {wrong} wrong")
    return 1 if wrong or not right else 0


if __name__ == "__main__":
    sys.exit(main())
