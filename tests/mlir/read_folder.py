"""What becomes of the .mlir files of a folder: counts by outcome, and the reasons.    read_folder.py TILEVM FOLDER [--files]

  61 files: 35 read, 21 refused, 5 without a program
  refused: text.operand_types 123, debug.c4 14, …

A file is read if `tilevm verify` finds nothing wrong; the expected errors of a project's own tests count as refused. `--files`
prints a line for each file. Exit code 1 if a file ends `verify` in any other way than these.
"""

import argparse
import collections
import os
import re
import subprocess
import sys


def outcome(tilevm, path):
    """"read", "without a program", "refused" or "failed", and the codes of the errors."""
    try:
        done = subprocess.run([tilevm, "verify", path], capture_output=True, text=True, timeout=60, errors="replace")
    except subprocess.TimeoutExpired:
        return "failed", ["timeout"]
    codes = re.findall(r"error\[([^\]]+)\]", done.stderr)
    if done.returncode == 0:
        return "read", []
    if codes == ["text.empty"]:
        return "without a program", []
    return ("refused", codes) if done.returncode == 1 and codes else ("failed", [f"exit code {done.returncode}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tilevm")
    parser.add_argument("folder")
    parser.add_argument("--files", action="store_true", help="a line for each file")
    options = parser.parse_args()
    paths = sorted(os.path.join(folder, name) for folder, _, names in os.walk(options.folder) for name in names
                   if name.endswith(".mlir"))
    if not paths:
        sys.exit(f"{options.folder}: no .mlir files")
    outcomes, reasons = collections.Counter(), collections.Counter()
    for path in paths:
        kind, codes = outcome(options.tilevm, path)
        outcomes[kind] += 1
        reasons.update(codes)
        if options.files:
            print(f"{kind}  {os.path.relpath(path, options.folder)}  {', '.join(sorted(set(codes)))}".rstrip())
    print(f"{len(paths)} files: " + ", ".join(f"{n} {kind}" for kind, n in sorted(outcomes.items())))
    if reasons:
        print("refused: " + ", ".join(f"{code} {n}" for code, n in reasons.most_common()))
    sys.exit(1 if outcomes["failed"] else 0)


if __name__ == "__main__":
    main()
