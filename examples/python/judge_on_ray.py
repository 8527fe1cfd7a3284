#!/usr/bin/env python3
"""A batch of verdicts, spread over the machines of a Ray cluster. It goes on where an earlier run stopped.

    python judge_on_ray.py pairs.jsonl verdicts.jsonl [--budget=5] [--address=auto]

A line of pairs.jsonl is {"task": …, "answer": …, "id": …}, as for `tilevm judge --batch`; paths are those of its folder, which all machines see. The
answers to one task go to one machine, where its reference is computed once. A task of Ray keeps no state, so that Ray may repeat it elsewhere.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

MOST = 32  # answers of a task of Ray: what is lost with a machine


def verdicts(items, budget):
    """Lines of JSON, by the command, on the machine where this is called. Errors: RuntimeError where nothing can be judged."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(item) + "\n" for item in items)
        file.flush()
        command = [sys.executable, "-m", "tilevm.judge", f"--batch={file.name}", f"--budget={budget}", "--json", "--out="]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"id"')]
    if len(lines) != len(items):
        raise RuntimeError(f"`tilevm judge` ended with {done.returncode}: {done.stderr[-2000:]}")
    return lines


def parts(path, done):
    """Lists of lines of the batch that are not `done`, each of one task."""
    folder, by_task = os.path.dirname(os.path.abspath(path)), {}
    with open(path, encoding="utf-8") as file:
        for item in map(json.loads, filter(str.strip, file)):
            item = {**item, "id": item.get("id", f"{item['task']} {item['answer']}"), "task": os.path.join(folder, item["task"]),
                    "answer": os.path.join(folder, item["answer"])}
            if item["id"] not in done:
                by_task.setdefault(item["task"], []).append(item)
    return [items[start:start + MOST] for items in by_task.values() for start in range(0, len(items), MOST)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs")
    parser.add_argument("results")
    parser.add_argument("--budget", type=float, default=5.0)
    parser.add_argument("--address", help="of the cluster; default: this machine alone")
    args = parser.parse_args()
    import ray

    with open(args.results, "a+", encoding="utf-8") as file:
        file.seek(0)
        known = file.read()
        if known and not known.endswith("\n"):  # a line that was cut off
            file.write("\n")
    done = {json.loads(line)["id"] for line in known.splitlines() if line.endswith("}")}
    ray.init(address=args.address)
    ask = ray.remote(num_cpus=1, max_retries=2)(verdicts)
    waiting = [ask.remote(items, args.budget) for items in parts(args.pairs, done)]
    with open(args.results, "a", encoding="utf-8") as file:
        while waiting:
            ready, waiting = ray.wait(waiting)
            for line in ray.get(ready[0]):
                file.write(line + "\n")
            file.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
