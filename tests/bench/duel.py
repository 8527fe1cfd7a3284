"""A duel of two compilers on a GPU: two processes go through the same rows, are timed in turns, and their outputs are compared.

At each row both stop; they are timed one after the other, twice (replays of a CUDA graph, the median of seven, the lower of two turns), so
that both see the same clocks. The processes speak as duel_worker.py says. `./tilegym` and `./triton` are duels.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).absolute().parent
TURNS = 2


class Worker:
    """One process that runs the benchmarks with one compiler, and waits at each row."""

    def __init__(self, name, command, environment, folder, log):
        self.name = name
        self.log = open(log / f"{name}.txt", "w")
        self.process = subprocess.Popen(command, cwd=folder, env=dict(environment, PYTHONUNBUFFERED="1"), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.row = None

    def read(self):
        """The next line that is meant for us (others are the benchmarks' own), or None at the end."""
        for line in self.process.stdout:
            if line.startswith("\x1e"):
                return json.loads(line[1:])
            self.log.write(line)
        return None

    def tell(self, **command):
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # A compiler or a driver may end the process; what is read next says so.

    def ask(self, **command):
        """The answer; None if the process has ended."""
        self.tell(**command)
        return self.read()


def go_on(*workers):
    """Each to its next row, all at the same time: compilers take seconds. A row is None behind the last one."""
    for worker in workers:
        if worker.row is not None:
            worker.tell(do="next")
    for worker in workers:
        worker.row = worker.read()


def measure(peer, ours, scratch):
    """The row at which both workers wait, timed."""
    row = dict(peer.row["what"])
    row["peer_fail"], row["tilevm_fail"] = peer.row.get("fail"), ours.row.get("fail")
    if not row["peer_fail"] and not row["tilevm_fail"]:
        peer.ask(do="save", path=str(scratch))
        row["difference"] = (ours.ask(do="compare", path=str(scratch)) or {}).get("difference")
        row["wrong"] = row["difference"] is None or not row["difference"] <= row["what_is_near"]
    for worker in [peer, ours] * TURNS:
        failed, key = ("peer_fail", "peer_us") if worker is peer else ("tilevm_fail", "tilevm_us")
        if row[failed]:
            continue
        answer = worker.ask(do="time") or {"fail": "the process ended"}
        if "fail" in answer:
            row[failed] = answer["fail"]
        else:
            row[key] = min(row.get(key, math.inf), answer["us"])
            add_launches(row, key, answer.get("launches", []))
    if "peer_us" in row and "tilevm_us" in row:
        row["ratio"] = row["peer_us"] / row["tilevm_us"]
    return row


def add_launches(row, key, launches):
    """The lower time of each launch: {kernel, times, peer_us, tilevm_us} in the order of the first answer. Where both sides launched other
    kernels, those of one side have no time of the other."""
    known = row.setdefault("launches", [])
    for i, launch in enumerate(launches):
        if i == len(known) or known[i]["kernel"] != launch["kernel"]:
            known.insert(i, {"kernel": launch["kernel"], "times": launch["times"]})
        known[i][key] = min(known[i].get(key, math.inf), launch["us"])


def compile_all(commands, args, environments, folder):
    """Fills the caches of compilers, {name: command} with an environment each: N processes for each run every N-th row once. What fails
    here fails again where it is measured, and is reported there; what takes more than half of the time is left to be compiled there."""
    shards, log, until = args.compile, args.log.absolute(), time.time() + args.seconds / 2
    running = []
    for shard in range(shards):
        for name, command in commands.items():
            with open(log / f"compile-{name}-{shard}.txt", "w") as out:
                running.append(subprocess.Popen(command, cwd=folder, env=dict(environments[name], BENCH_COMPILE=f"{shard}/{shards}"),
                                                stdin=subprocess.DEVNULL, stdout=out, stderr=out))
    for process in running:
        try:
            process.wait(max(0.0, until - time.time()))
        except subprocess.TimeoutExpired:
            process.kill()
            print("compiling was stopped after half of the time", file=sys.stderr)


def rows_of(peer, ours, scratch, until):
    """Rows, as long as there are some and there is time."""
    go_on(peer, ours)
    while peer.row is not None and ours.row is not None and time.time() < until:
        here, there = peer.row["at"], ours.row["at"]
        if here == there:
            yield measure(peer, ours, scratch)
            go_on(peer, ours)
        elif here < there:  # A row that only one of them has: the other's function failed before it timed anything.
            go_on(peer)
        else:
            go_on(ours)


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def difference_of(row):
    """A comparison takes memory of both; a process that has none left gives no answer."""
    return "outputs were not compared" if row["difference"] is None else f"outputs differ by {row['difference']:.1e}"


def report_launches(rows, peer):
    """Those that were timed one by one, the slowest beside the peer first."""
    timed = [(launch["peer_us"] / launch["tilevm_us"], launch, r) for r in rows for launch in r.get("launches", []) if {"peer_us", "tilevm_us"} <= set(launch)]
    if not timed:
        return
    print(f"\n| kernel | row | {peer} µs | tilevm µs | ratio |\n|---|---|---|---|---|")
    for ratio, launch, r in sorted(timed, key=lambda one: one[0]):
        print(f"| {launch['kernel']} | {r['file']} {r['series']} {r['size']} | {launch['peer_us']:.1f} | {launch['tilevm_us']:.1f} | {ratio:.2f} |")
    print(f"geometric mean of {len(timed)} launches: {mean([ratio for ratio, _, _ in timed]):.2f}; {sum(ratio < 0.8 for ratio, _, _ in timed)} below 0.8\n")


def report(rows, peer):
    """Prints the table. True if outputs differ, or a row runs with the peer only."""
    print(f"| file | series | size | {peer} µs | tilevm µs | ratio | |\n|---|---|---|---|---|---|---|")
    for r in rows:
        note = r.get("tilevm_fail") or r.get("peer_fail") or (difference_of(r) if r.get("wrong") else "")
        number = [f"{r[k]:.1f}" if k in r else "-" for k in ("peer_us", "tilevm_us")]
        print(f"| {r['file']} | {r['series']} | {r['size']} | {number[0]} | {number[1]} | {r.get('ratio', math.nan):.2f} | {note[:120]} |")
    report_launches(rows, peer)
    files = {}
    for r in rows:
        if "ratio" in r:
            files.setdefault(r["file"], []).append(r["ratio"])
    for name, ratios in files.items():
        print(f"{name}: {mean(ratios):.2f} ({len(ratios)} rows, {min(ratios):.2f} to {max(ratios):.2f})")
    if files:
        every = [x for ratios in files.values() for x in ratios]
        print(f"geometric mean of {len(files)} files: {mean([mean(x) for x in files.values()]):.2f}; "
              f"{sum(x < 0.95 for x in every)} of {len(every)} rows below 0.95, {sum(x < 0.8 for x in every)} below 0.8")
    broken = [r for r in rows if r.get("wrong") or r.get("tilevm_fail") and not r.get("peer_fail")]
    print(f"{len(broken)} rows differ or run with {peer} only, {sum(bool(r.get('peer_fail')) for r in rows)} do not run with {peer}")
    return bool(broken)


def options(description):
    """What every duel can be told."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--log", type=pathlib.Path, default=pathlib.Path("."), help="folder for what the benchmarks print; default: this one")
    return parser


def run(peer, ours, args):
    """Goes through the rows of two workers, writes and reports them. Returns the exit status."""
    start = time.time()
    until = start + args.seconds
    scratch = pathlib.Path("/dev/shm" if os.path.isdir("/dev/shm") else args.log) / f"duel-{os.getpid()}.pt"
    rows = []
    out = open(args.out, "w") if args.out else None
    try:
        for row in rows_of(peer, ours, scratch, until):
            rows.append(row)
            print(f"{time.time() - start:.0f} s: {row['file']} {row['series']} {row['size']}: {row.get('ratio', math.nan):.2f}", file=sys.stderr)
            if out:
                out.write(json.dumps(row) + "\n")
                out.flush()
    finally:
        ended = [w.name for w in (peer, ours) if w.process.poll() not in (None, 0)]
        for worker in (peer, ours):
            worker.process.kill()
        scratch.unlink(missing_ok=True)
    wrong = report(rows, peer.name)
    for worker in ended:
        print(f"the process of {worker} ended before the last row: {args.log / worker}.txt says where")
    if not rows:
        print(f"no row was reached: {args.log}/*.txt say what happened")
    if time.time() >= until:
        print(f"stopped after {args.seconds:.0f} s: not all rows were reached")
    return 1 if wrong or not rows else 0


def paths(*folders):
    """PYTHONPATH with these folders first."""
    return os.pathsep.join(str(p) for p in (*folders, HERE, os.environ.get("PYTHONPATH", "")) if str(p))


def python(module=None, *rest):
    """The command of this Python, through a module if one is named."""
    return [sys.executable, *(["-m", module, "--device=cuda"] if module else []), *map(str, rest)]
