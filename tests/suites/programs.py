#!/usr/bin/env python3
"""Runs each Python program of a folder by itself under the VM's checks, several at once, and prints what was reported, a line for each program.

    tests/suites/programs.py FOLDER [--check=full] [--jobs=2] [--seconds=120] [--out=FILE.jsonl] [--only=PATTERN]

The programs are those of others (TritonBench's data/TritonBench_G_v1, a folder of examples): each calls its kernels when it is run. They run by
`python -m tilevm.triton` of this interpreter, which therefore needs tilevm, torch and triton. The outcome of a program is one of

    ok        it ended well and the VM reported nothing
    reported  the VM stopped a launch, or warned: code, file and line, message
    refused   the compiler does not take a kernel of it
    late      it took longer than --seconds
    failed    something else ended it: the last line of its output

The process ends with 0 if no program failed or was late. Results of the programs are not judged here.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import time

REPORT = re.compile(r"(?P<file>[^\s:]+):(?P<line>\d+):(?P<col>\d+): (?P<grade>error|warning)\[(?P<code>[\w.]+)\]: (?P<text>.*)")


def reports_in(text):
    """The VM's reports in the output of a program: dictionaries of file, line, col, grade, code and text, each once."""
    found = {}
    for match in REPORT.finditer(text):
        entry = match.groupdict()
        entry["file"] = pathlib.Path(entry["file"]).name
        found.setdefault((entry["file"], entry["line"], entry["code"]), entry)
    return list(found.values())


def outcome_of(status, reports):
    if any(entry["code"].startswith(("ttir.", "triton.")) for entry in reports):
        return "refused"
    if reports:
        return "reported"
    return "ok" if status == 0 else "failed"


def run(path, check, seconds):
    environment = dict(os.environ, TILEVM_CHECK=check, TILEVM_TRITON_TUNE=os.environ.get("TILEVM_TRITON_TUNE", "first"), OMP_NUM_THREADS="1")
    start = time.time()
    try:
        process = subprocess.run([sys.executable, "-m", "tilevm.triton", str(path)], cwd=path.parent, env=environment, timeout=seconds,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return {"program": path.name, "outcome": "late", "seconds": seconds, "reports": [], "last": ""}
    text = process.stdout.decode(errors="replace")
    reports = reports_in(text)
    last = (text.strip().splitlines() or [""])[-1]
    return {"program": path.name, "outcome": outcome_of(process.returncode, reports), "seconds": round(time.time() - start, 1),
            "reports": reports, "last": last[:300]}


def line_of(entry):
    if entry["reports"]:
        said = "; ".join(f"{r['file']}:{r['line']} {r['code']} {r['text'][:160]}" for r in entry["reports"][:3])
    else:
        said = entry["last"] if entry["outcome"] == "failed" else ""
    return f"{entry['outcome']:9} {entry['seconds']:6} s  {entry['program']}  {said}".rstrip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--check", default="full", choices=("none", "bounds", "full"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--only", default="*.py")
    args = parser.parse_args()
    paths = sorted(path for path in args.folder.iterdir() if path.suffix == ".py" and fnmatch.fnmatch(path.name, args.only))
    if not paths:
        parser.error(f"{args.folder} has no program that matches {args.only}")
    entries = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for entry in pool.map(lambda path: run(path.resolve(), args.check, args.seconds), paths):
            entries.append(entry)
            print(line_of(entry), flush=True)
            if args.out:
                with open(args.out, "a") as file:
                    file.write(json.dumps(entry) + "\n")
    counts = {what: sum(entry["outcome"] == what for entry in entries) for what in ("ok", "reported", "refused", "late", "failed")}
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["late"] or counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
