#!/usr/bin/env python3
"""How much does the judge find? Seeded bugs in kernels of Triton, cuTile and tilevm.script, and how long a verdict takes.

    tests/judge/run.py [--only=KERNEL] [--jobs=2] [--budget=5] [--every=1] [--out=FILE.jsonl]      needs torch, triton, cuda-tile, tilevm

Kernels are those of tests/seeded/kernels and of kernels/; their tasks are in tasks/. Each mistake is a small change of the source: BUGS of the
kernel's file and of more.py. Originals and the changes of EQUIVALENT must be judged right. The process ends with 1 if one of these is not,
or if less than 97 % of the mistakes are found.
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
        if only not in ("", name):
            continue
        lists = lists_of(text)
        body = text.split("\nCASES = ")[0].split("\nBUGS = ")[0]
        yield name, "original", "", body
        changes = [("equivalent", *pair) for pair in [*lists["EQUIVALENT"], *more.EQUIVALENT.get(name, [])]]
        for kind, old, new in [*changes, *lists["BUGS"], *more.BUGS.get(name, [])]:
            if body.count(old) != 1:
                raise SystemExit(f"{path.name}: {old!r} occurs {body.count(old)} times")
            changed = body.replace(old, new)
            if "KEPT" in new or "BUFFER" in new:
                changed = changed.replace("import triton.language as tl\n", "import triton.language as tl\n\n" + more.HEAD, 1)
            yield name, kind, f"{old.strip()} -> {new.strip()}", changed


def write(folder, only, every):
    """A file for each program, and the lines of a batch."""
    items = []
    for number, (kernel, kind, change, text) in enumerate(programs(only)):
        if number % every and kind not in ("original", "equivalent"):
            continue
        path = folder / f"{kernel}_{number}.py"
        path.write_text(text + "\n")
        items.append({"id": str(number), "task": str(HERE / "tasks" / f"{kernel}.py"), "answer": str(path), "kernel": kernel, "kind": kind, "change": change})
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=float, default=5.0)
    parser.add_argument("--every", type=int, default=1, help="takes every N-th mistake")
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    from tilevm.judge import _batch

    entries = []
    with tempfile.TemporaryDirectory() as folder:
        items = write(pathlib.Path(folder), args.only, args.every)
        by_id = {item["id"]: item for item in items}
        begin = time.monotonic()
        for found in _batch.run(items, args.jobs, {"budget": args.budget, "sandbox": True, "out": ""}):
            entry = {**by_id[found["id"]], **found}
            entries.append(entry)
            if args.out:
                with args.out.open("a") as file:
                    file.write(json.dumps(entry) + "\n")
            print(f"{entry['verdict']:9} {entry['kernel']:14} {entry['kind']:16} {entry['processor']:5.1f} s {entry['cases']:3} {entry['change'][:100]!r}\n"
                  f"          {entry.get('code', '')}: {entry.get('message', '')[:180]} [{entry.get('input', '')}]", flush=True)
        wall = time.monotonic() - begin
    clean = [e for e in entries if e["kind"] in ("original", "equivalent")]
    seeded = [e for e in entries if e["kind"] not in ("original", "equivalent")]
    print("\n".join(table(seeded)))
    bad = [e for e in clean if e["verdict"] != "right"]
    for entry in bad:
        print("NOT RIGHT:", entry["kernel"], entry["kind"], entry["change"], entry.get("code"), entry.get("message"))
    found = sum(e["verdict"] in ("wrong", "unsafe", "cheats") for e in seeded)
    median, median_bad, median_wall = (statistics.median([e[key] for e in members] or [0]) for key, members in
                                       (("processor", entries), ("processor", seeded), ("seconds", entries)))
    share = 100 * found / max(1, len(seeded))
    print(f"{len({e['kernel'] for e in entries})} kernels; {found} of {len(seeded)} bugs found ({share:.1f} %); {len(bad)} of {len(clean)} originals and "
          f"equivalent mutants not right")
    print(f"a verdict takes {median:.1f} s of processor time in the median ({median_bad:.1f} s on a bug), {median_wall:.1f} s on the clock; "
          f"{wall:.0f} s in all")
    return 1 if bad or found < 0.97 * len(seeded) else 0


if __name__ == "__main__":
    sys.exit(main())
