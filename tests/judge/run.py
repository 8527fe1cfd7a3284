#!/usr/bin/env python3
"""How much does the judge find? Seeded bugs in kernels of Triton, cuTile and tilevm.script, and how long a verdict takes.

    tests/judge/run.py [--only=KERNEL,…] [--right | --bugs] [--jobs=2] [--budget=5] [--every=1] [--seconds=S] [--not-steered] [--out=FILE.jsonl]

It needs torch, triton, cuda-tile, tilevm.

Kernels are those of tests/seeded/kernels and of kernels/; their tasks are in tasks/. Each mistake is a small change of the source: BUGS of the
kernel's file and of more.py. Originals and the changes of EQUIVALENT must be judged right. The process ends with 1 if one of these is not,
or if less than 97 % of the mistakes are found. A run with the same --out goes on where it stopped; it stops by itself after --seconds.
"""
import argparse
import ast
import collections
import json
import pathlib
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SEEDED = HERE.parent / "seeded" / "kernels"
sys.path.insert(0, str(HERE))
import more  # noqa: E402

CLEAN = ("original", "equivalent")


def lists_of(text):
    """BUGS and EQUIVALENT of a kernel's file, which is not run."""
    found = {"BUGS": [], "EQUIVALENT": []}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and node.targets[0].id in found:
            found[node.targets[0].id] = ast.literal_eval(node.value)
    return found


def programs(only):
    """(kernel, kind, what is changed, text of the answer) of originals, harmless changes and mistakes."""
    for path in [*sorted(SEEDED.glob("*.py")), *sorted((HERE / "kernels").glob("*.py"))]:
        name, text = path.stem, path.read_text()
        if only and name not in only.split(","):
            continue
        lists = lists_of(text)
        body = text.split("\nCASES = ")[0].split("\nBUGS = ")[0]
        yield name, "original", "", body
        changes = [("equivalent", *pair) for pair in [*lists["EQUIVALENT"], *more.EQUIVALENT.get(name, [])]]
        for kind, old, new in [*changes, *lists["BUGS"], *more.BUGS.get(name, [])]:
            if body.count(old) != 1:
                raise SystemExit(f"{path.name}: {old!r} occurs {body.count(old)} times")
            kind = "equivalent" if new in more.HARMLESS else kind
            changed = body.replace(old, new)
            if "KEPT" in new or "BUFFER" in new:
                changed = changed.replace("import triton.language as tl\n", "import triton.language as tl\n\n" + more.HEAD, 1)
            yield name, kind, f"{old.strip()} -> {new.strip()}", changed


def write(folder, only, every, kinds):
    """A file for each program, and the lines of a batch: every N-th mistake, and every N-th program that is right. `kinds`: of True for these, False."""
    items, numbers = [], collections.Counter()
    for number, (kernel, kind, change, text) in enumerate(programs(only)):
        clean = kind in CLEAN
        numbers[clean] += 1
        if clean not in kinds or (numbers[clean] - 1) % every:
            continue
        path = folder / f"{kernel}_{number}.py"
        path.write_text(text + "\n")
        items.append({"id": f"{kernel} {kind} {change}", "task": str(HERE / "tasks" / f"{kernel}.py"), "answer": str(path), "kernel": kernel,
                      "kind": kind, "change": change})
    return items


def table(entries):
    kinds = collections.defaultdict(list)
    for entry in entries:
        kinds[entry["kind"]].append(entry)
    lines = [f"{'kind':18} {'bugs':>5} {'found':>6} {'wrong':>6} {'unsafe':>7} {'cheats':>7} {'undecided':>10}"]
    for kind, members in [*sorted(kinds.items(), key=lambda item: -len(item[1])), ("all", entries)]:
        counts = collections.Counter(e["verdict"] for e in members)
        found = sum(counts[v] for v in ("wrong", "unsafe", "cheats"))
        lines.append(f"{kind:18} {len(members):5} {found:6} {counts['wrong']:6} {counts['unsafe']:7} {counts['cheats']:7} {counts['undecided']:10}")
    return lines


def known(path):
    """Entries of an earlier run by identity; a line that was cut off counts as none."""
    found = {}
    for line in path.read_text().splitlines() if path and path.exists() else []:
        try:
            entry = json.loads(line)
            found[entry["id"]] = entry
        except (ValueError, KeyError):
            continue
    return found


def judged(args, entries):
    """Adds the entries of programs that are not among them."""
    from tilevm.judge import _batch

    with tempfile.TemporaryDirectory() as folder:
        items = write(pathlib.Path(folder), args.only, args.every, [True] if args.right else [False] if args.bugs else [True, False])
        by_id = {item["id"]: item for item in items}
        assert len(by_id) == len(items), "two programs are the same"
        known_ones = {f"{kernel} {kind} {change}" for kernel, kind, change, _ in programs("")}
        for name in [name for name in entries if name not in known_ones]:  # of a program that is no longer there
            del entries[name]
        left = [item for item in items if item["id"] not in entries]
        begin = time.monotonic()
        options = {"budget": args.budget, "sandbox": not args.no_sandbox, "out": "", "shrink": 0.1, "steered": not args.not_steered}
        for found in _batch.run(left, args.jobs, options):
            entry = {**by_id[found["id"]], **found}
            entries[found["id"]] = entry
            if args.out:
                with args.out.open("a") as file:
                    file.write(json.dumps(entry) + "\n")
            print(f"{entry['verdict']:9} {entry['kernel']:14} {entry['kind']:16} {entry['processor']:5.1f} s {entry['cases']:3} {entry['change'][:100]!r}\n"
                  f"          {entry.get('code', '')}: {entry.get('message', '')[:180]} [{entry.get('input', '')}]", flush=True)
            if args.seconds and time.monotonic() - begin > args.seconds:
                break


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names of kernels, with commas")
    parser.add_argument("--right", action="store_true", help="takes originals and harmless changes alone")
    parser.add_argument("--bugs", action="store_true", help="takes mistakes alone")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=float, default=5.0)
    parser.add_argument("--every", type=int, default=1, help="takes every N-th program")
    parser.add_argument("--seconds", type=float, help="of the clock, after which no more verdicts are waited for")
    parser.add_argument("--not-steered", action="store_true", help="takes the judge's planned inputs alone, whatever they did not show")
    parser.add_argument("--no-sandbox", action="store_true", help="for a machine that lets no process be shut in")
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    found = known(args.out)
    begin = time.monotonic()
    judged(args, found)
    return report(list(found.values()), time.monotonic() - begin)


def report(entries, wall):
    """Prints counts; the exit status."""
    clean = [e for e in entries if e["kind"] in CLEAN]
    seeded = [e for e in entries if e["kind"] not in CLEAN]
    print("\n".join(table(seeded)))
    bad = [e for e in clean if e["verdict"] != "right"]
    for entry in bad:
        print("NOT RIGHT:", entry["kernel"], entry["kind"], entry["change"], entry.get("code"), entry.get("message"))
    missed = [e for e in seeded if e["verdict"] not in ("wrong", "unsafe", "cheats")]
    for entry in missed:
        print("NOT FOUND:", entry["kernel"], entry["kind"], entry["change"], entry["verdict"], entry.get("code", ""), entry.get("message", ""))
    count = len(seeded) - len(missed)
    median, median_bad, median_clean, wall_each = (statistics.median([e[key] for e in members] or [0]) for key, members in
                                                   (("processor", entries), ("processor", seeded), ("processor", clean), ("seconds", entries)))
    undecided = [sum(e["verdict"] == "undecided" for e in members) for members in (missed, bad)]
    print(f"{len({e['kernel'] for e in entries})} kernels; {count} of {len(seeded)} bugs found ({100 * count / max(1, len(seeded)):.1f} %), {undecided[0]} of "
          f"the others undecided; {len(bad)} of {len(clean)} originals and equivalent mutants not right, {undecided[1]} of these undecided")
    print(f"a verdict takes {median:.1f} s of processor time in the median ({median_bad:.1f} s on a bug, {median_clean:.1f} s on a right kernel), "
          f"{wall_each:.1f} s on the clock; {wall:.0f} s in all")
    return 1 if bad or count < 0.97 * len(seeded) else 0


if __name__ == "__main__":
    sys.exit(main())
