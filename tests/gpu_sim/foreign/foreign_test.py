"""Runs programs of other compilers on the PTX simulator, each with several orders and kinds of lateness, and compares with NumPy:

    foreign_test.py --library=LIBRARY --folder=FOLDER [--seeds=1,2,3] [--xml=FILE] [NAME]...

FOLDER holds what compile_triton.py or compile_cute.py wrote. A program is right if it is in every setting. Programs in which their compiler left
a fence out are right if that is reported.
"""

import argparse
import multiprocessing
import pathlib
import sys
import time
from xml.sax.saxutils import quoteattr

import programs
import simulator

shared = {}

# Mistakes of other compilers, which the simulator has to report: a part of a program's name, and of the report.
MISTAKES = {
    # Tiles that cp.async brings are read by tcgen05.mma, which takes the other route to shared memory. Triton 3.9 has a fence there.
    "triton-3.6.0/pointers_": "no fence.proxy.async stands between",
}


def is_right(name, result):
    """As NumPy has it; of a program with a mistake: reported."""
    for part, report in MISTAKES.items():
        if name.startswith(part):
            return report in result
    return result == programs.RIGHT


def start(library):
    shared["simulator"] = simulator.Simulator(library, 100)


def run(task):
    path, seeds = task
    program = programs.Program(path)
    began = time.monotonic()
    wrong = []
    for seed in seeds:
        for lateness in simulator.KINDS_OF_LATENESS:
            result = program.run(shared["simulator"], seed, lateness)
            if not is_right(f"{path.parent.name}/{program.name}", result):
                wrong.append(f"seed {seed}, lateness {lateness}: {result}")
    return f"{path.parent.name}/{program.name}", wrong, time.monotonic() - began


def write_xml(path, results):
    lines = [f'<testsuites><testsuite name="foreign" tests="{len(results)}" failures="{sum(bool(w) for _, w, _ in results)}">']
    for name, wrong, seconds in results:
        failure = f"<failure message={quoteattr(wrong[0])}/>" if wrong else ""
        lines.append(f'<testcase classname="foreign" name={quoteattr(name)} time="{seconds:.2f}">{failure}</testcase>')
    path.write_text("\n".join([*lines, "</testsuite></testsuites>"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", required=True)
    parser.add_argument("--folder", action="append", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--xml", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    paths = [p for folder in options.folder for p in sorted(folder.glob("*.json")) if not options.names or p.stem in options.names]
    if not paths:
        sys.exit("foreign_test.py: there are no programs")
    seeds = [int(s) for s in options.seeds.split(",")]
    results = []
    with multiprocessing.get_context("spawn").Pool(options.jobs, start, [options.library]) as pool:
        for name, wrong, seconds in pool.imap_unordered(run, [(p, seeds) for p in paths]):
            results.append((name, wrong, seconds))
            print(f"{name:44} {'right' if not wrong else f'{len(wrong)} settings wrong: {wrong[0]}'}  {seconds:.1f} s", flush=True)
    if options.xml:
        options.xml.parent.mkdir(parents=True, exist_ok=True)
        write_xml(options.xml, sorted(results))
    failed = sum(bool(w) for _, w, _ in results)
    print(f"{len(results) - failed} passed, {failed} failed; {len(seeds) * len(simulator.KINDS_OF_LATENESS)} settings each")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
