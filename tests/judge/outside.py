#!/usr/bin/env python3
"""The judge on programs of others, with what they say about themselves (outside_sets.py).

    tests/judge/outside.py gpuemu CHECKOUT [--first=N] [--jobs=2]                   github.com/sarkar-dipankar/gpuemu-corpus: 10 mistakes, 16 right ones
    tests/judge/outside.py kernelbench CHECKOUT [--only=TEXT]                       github.com/ScalingIntelligence/KernelBench: zeros for each problem of
                                                                                    level 1, its adversarial kernels, hacks/, its example in Triton
    tests/judge/outside.py tritonbench CHECKOUT [ANSWERS.jsonl …] [--sample=N]      github.com/thunlp/TritonBench: answers of models to its T tasks
                                                                                    (tritonbench-g: to its G tasks)
    tests/judge/outside.py backendbench CHECKOUT                                    github.com/meta-pytorch/BackendBench: adverse and honest operators

Needs a checkout, torch, triton, tilevm. It prints a line for each program and counts. --sample=N takes N programs at random, from a seed.
--out=FILE.jsonl keeps verdicts, and a run that is repeated goes on there. --write=FOLDER writes a batch for `tilevm judge --batch` and judges nothing.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile

import outside_sets


def chosen(args, folder):
    """The entries that are asked for."""
    more = {"answers": args.answers} if args.kind.startswith("tritonbench") else {}
    items = [item for item in outside_sets.SETS[args.kind](args.checkout.resolve(), folder, **more) if args.only in item["id"]]
    if args.sample:
        kept = set(random.Random(args.seed).sample(range(len(items)), min(args.sample, len(items))))
        items = [item for number, item in enumerate(items) if number in kept]
    return items[:args.first]


def write(args):
    """A folder with tasks, answers and pairs.jsonl, whose paths are those of the folder."""
    answers, tasks = args.write / "answers", args.write / "tasks"
    for each in (answers, tasks):
        each.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, (args.write / "pairs.jsonl").open("w") as file:
        for item in chosen(args, pathlib.Path(made)):
            path, entry = (item["answer"].split(".py:") + [""])[:2]
            path += ".py" if entry else ""
            shutil.copy(path, answers)
            shutil.copy(item["task"], tasks)
            answer = f"answers/{os.path.basename(path)}" + (f":{entry}" if entry else "")
            file.write(json.dumps({**item, "task": f"tasks/{os.path.basename(item['task'])}", "answer": answer}) + "\n")


def judged(args, folder):
    """(entry, verdict) of each, those of an earlier run first."""
    from tilevm.judge import _batch

    items = {item["id"]: item for item in chosen(args, folder)}
    known = {}
    for line in args.out.read_text().splitlines() if args.out and args.out.exists() else []:
        known[json.loads(line)["id"]] = json.loads(line)
    for name in [name for name in items if name in known]:
        yield items.pop(name), known[name]
    for found in _batch.run(list(items.values()), args.jobs, {"budget": args.budget, "sandbox": True, "out": ""}):
        if args.out:
            with args.out.open("a") as file:
                file.write(json.dumps(found) + "\n")
        yield items[found["id"]], found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=outside_sets.SETS)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("answers", type=pathlib.Path, nargs="*")
    parser.add_argument("--first", type=int)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=float, default=5.0)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    args = parser.parse_args()
    if args.write:
        return write(args)
    counts, causes = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        for item, found in judged(args, pathlib.Path(folder)):
            counts[item["group"]][found["verdict"]] += 1
            causes[item["group"]][found.get("code", "")] += 1
            print(f"{found['verdict']:9} {found['id']:32} {found['processor']:5.1f} s {found.get('code', '')}: {found.get('message', '')[:160]}", flush=True)
    for group, verdicts in counts.items():
        print(f"{group}: " + ", ".join(f"{number} {verdict}" for verdict, number in verdicts.most_common()))
        print("  " + ", ".join(f"{number} {code}" for code, number in causes[group].most_common() if code))
    return 0


if __name__ == "__main__":
    sys.exit(main())
