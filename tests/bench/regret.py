#!/usr/bin/python3
"""Regret: how much slower the schedule that tilec chooses is than the best of all that it can compile.

    regret.py K.tile rand:f32[8192,8192] --tilec=PATH --tilevm=PATH [--sm=90] [--out=regret.jsonl]    # needs a GPU
    regret.py --report regret.jsonl…

The first form compiles a program with the chosen warps and with 1, 2, 4, 8 and 16, and measures each different machine code by
`tilevm bench --device=cuda`. It appends one line to --out: the name, and for each candidate its options, threads, registers and spilled bytes, the
microseconds that `tilec --explain` predicts where it can, and those that were measured. The chosen candidate comes first. The second form
reads such lines: regret is chosen / best - 1. A program that times launches in another way uses Candidates and `line`.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

WARPS = (1, 2, 4, 8, 16)
WORTH_NAMING = 0.05  # of regret; less is noise of the measurement
ESTIMATE = re.compile(r"estimate for an? \w+: ([\d.]+) us")


class Candidate:
    """One machine code: `options` gave it to tilec, `path` is the .tbc, `image` what --json says of its first image."""

    def __init__(self, options, path, image, predicted_us):
        self.options, self.path, self.image, self.predicted_us = options, path, image, predicted_us

    def facts(self):
        """[options, threads, registers, spilled bytes, predicted microseconds or None]"""
        i = self.image
        return [" ".join(self.options), i["threads"], i["registers"], i["spill_bytes"], self.predicted_us]


def candidates(tilec, program, folder, sm="90", sizes=(), chip=None):
    """All different machine codes of the program, the chosen one first.

    `sizes` are options of `tilec --explain`: --grid=X,Y,Z and --arg=NAME=VALUE. Raises RuntimeError if tilec refuses the program without
    options; a number of warps that it refuses is left out.
    """
    folder, found, seen = pathlib.Path(folder), [], set()
    for options in [[], *([f"--warps={n}"] for n in WARPS)]:
        path = folder / f"{pathlib.Path(program).stem}{''.join(options)}.tbc"
        made = subprocess.run([tilec, str(program), f"--sm={sm}", "--json", "-o", str(path), *options], capture_output=True, text=True)
        if made.returncode != 0:
            if not options:
                raise RuntimeError(f"{program}: tilec: {(made.stdout + made.stderr)[:500]}")
            continue
        code = path.read_bytes()
        if code in seen:
            continue
        seen.add(code)
        predicted = predict(tilec, program, sm, [*sizes, *options], chip) if sizes else None
        found.append(Candidate(options, path, json.loads(made.stdout)["images"][0], predicted))
    return found


def predict(tilec, program, sm, options, chip):
    """Microseconds by tilec --explain; None where it makes no estimate."""
    command = [tilec, str(program), f"--sm={sm}", "--explain", *options, *([f"--chip={chip}"] if chip else [])]
    said = ESTIMATE.search(subprocess.run(command, capture_output=True, text=True).stdout)
    return float(said[1]) if said else None


def line(name, measured):
    """What is kept of a launch; `measured` is a list of (Candidate, microseconds), the chosen one first."""
    return json.dumps({"name": name, "candidates": [[*c.facts(), round(us, 2)] for c, us in measured]}, separators=(",", ":"))


def bench(tilevm, program, path, arguments):
    """Microseconds of a launch on the GPU; RuntimeError if it fails."""
    command = [tilevm, "bench", str(program), *arguments, "--device=cuda", f"--images={path}", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{program}: tilevm: {done.stderr[:500]}")
    return json.loads(done.stdout)["median_ms"] * 1e3


def regret_of(row):
    """(regret, the chosen candidate, the best one) of a line."""
    chosen, best = row["candidates"][0], min(row["candidates"], key=lambda c: c[-1])
    return chosen[-1] / best[-1] - 1, chosen, best


def error_of_order(row):
    """Whether the prediction would have chosen better: what the least predicted candidate takes, over the best."""
    known = [c for c in row["candidates"] if c[4] is not None]
    return min(known, key=lambda c: c[4])[-1] / min(c[-1] for c in known) - 1 if known else None


def report(rows, out=sys.stdout):
    """Prints the distribution of the regret, and the launches that lose most. Returns the sorted regrets."""
    found = sorted(((*regret_of(row), row["name"]) for row in rows), key=lambda r: -r[0])
    regrets = [r[0] for r in found]
    if not regrets:
        print("no launch was measured", file=out)
        return []
    at = regrets[int(len(regrets) * 0.05)]
    print(f"{len(found)} launches, regret: median {statistics.median(regrets):.1%}, 95th percentile {at:.1%}, most {regrets[0]:.1%}; "
          f"{sum(r > WORTH_NAMING for r in regrets)} above {WORTH_NAMING:.0%}", file=out)
    by_prediction = [e for e in map(error_of_order, rows) if e is not None]
    if by_prediction:
        print(f"by the least prediction: median {statistics.median(by_prediction):.1%} of {len(by_prediction)}", file=out)
    for regret, chosen, best, name in found:
        if regret > WORTH_NAMING:
            print(f"{regret:7.1%}  {name}: {chosen[1]} threads {chosen[-1]} us, {best[1]} threads {best[-1]} us "
                  f"(registers {chosen[2]}, {best[2]}; spilled {chosen[3]}, {best[3]})", file=out)
    return regrets


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilec", default="tilec")
    parser.add_argument("--tilevm", default="tilevm")
    parser.add_argument("--sm", default="90")
    parser.add_argument("--out", default="regret.jsonl")
    parser.add_argument("--report", nargs="+", metavar="FILE")
    parser.add_argument("program", nargs="?")
    parser.add_argument("arguments", nargs="*", help="as of tilevm bench")
    a = parser.parse_args()
    if a.report:
        report([json.loads(text) for f in a.report for text in open(f)])
        return
    if not a.program:
        parser.error("which program?")
    with tempfile.TemporaryDirectory() as folder:
        measured = [(c, bench(a.tilevm, a.program, c.path, a.arguments)) for c in candidates(a.tilec, a.program, folder, a.sm)]
    text = line(pathlib.Path(a.program).stem, measured)
    with open(a.out, "a") as out:
        print(text, file=out)
    report([json.loads(text)])


if __name__ == "__main__":
    main()
