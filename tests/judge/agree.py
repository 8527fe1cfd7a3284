#!/usr/bin/env python3
"""Does a GPU say what the judge says? The answers of a batch on the GPU by their own compiler, with the judge's inputs and its reference.

    tests/judge/agree.py PAIRS.jsonl VERDICTS.jsonl [--jobs=6] [--budget=3] [--seconds=S] [--values] [--device=cuda] [--out=FILE.jsonl]

It needs torch with a GPU, triton, tilevm. A run with the same --out goes on where it stopped.
PAIRS is a batch, VERDICTS what `tilevm judge --batch=PAIRS --results=VERDICTS` said. An answer that was refused gets the one input that shows why; one
that was right, or whose verdict names no input, is judged anew with --device=cuda. Both agree if both find the answer right, or both refuse it. What the
VM alone sees, such as races, reads out of bounds and memory that nobody wrote, is counted apart, and so is what is undecided. Answers run with all
rights of this user. --values leaves out the probes of right answers, each of which needs a process with a context of the GPU. Contexts are made one
after the other, about one a second, so that answers follow each other in one process there. One that raised an error after a launch is the last of its
process, and one that differs from the VM is asked again in a process of its own. Where it is right at the VM's input, a GPU rounds differently there: it
gets inputs of its own. With --device=tilec answers are compiled by tilec, with --device=cuda,tilec by both, input by input.
"""
import argparse
import collections
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import sys

SEEN_BY_THE_VM = ("vm.", "judge.not_written", "judge.no_effect", "judge.copies", "judge.stream", "judge.died", "judge.time")


class Lasting:
    """A server whose processes take one answer after the other, until one of them raises an error with a kernel."""

    def __init__(self, server):
        self._server, self._process, self.seconds = server, None, 0.0
        self.imports = server.imports

    def open(self, answer, hidden, bounds):
        if self._process is None:
            self._process = self._server.open(answer, hidden, bounds)
        self.seconds = 0.0
        return self

    def ask(self, message, blobs=(), seconds=30.0):
        process, before = self._process, self._process.seconds
        self._process = None  # whatever is raised here is the end of it
        reply, out = process.ask(message, blobs, seconds)
        self.seconds += process.seconds - before
        error = reply.get("error", {})
        unused = not reply.get("launches") and not error.get("late") and "CUDA" not in str(error.get("text"))  # the context is as it was
        if reply.get("ok") is True or unused:
            self._process = process
        else:
            process.end()
        return reply, out

    def end(self):
        """Of an answer, not of its process."""


LASTING = {}  # of this process, by what answers import and the device


def on_gpu(item, said, budget, probes, device, alone, search=False):
    """The verdict of the GPU, as JSON, on the input of the VM's unless it is to `search`. Unless `alone` in a process that other answers were in."""
    from tilevm.judge import Bounds, Judge, Options, _batch, _probes, imports_of, prepare, split, split_task
    from tilevm.judge._cases import Case
    from tilevm.judge._judge import Failed, judge_on
    from tilevm.judge._reference import Refused

    path, entry = split(item["answer"])
    imports = imports_of(path, split_task(item["task"])[0])
    prepare(imports)
    task, reference = _batch._task_of(item)

    def make(each, beside):
        server = _batch._server(imports, each)
        if not alone:
            server = LASTING.setdefault((imports, each), Lasting(server))
        options = Options(budget=budget, shrink=0, probes=probes, bounds=Bounds(sandbox=False, device=each))
        return Judge(task, path, server, entry, options, reference, beside)

    judge = judge_on(device, make)
    if search or said["verdict"] == "right" or not said.get("case"):
        return judge.run().to_json()
    try:
        judge.process()
        case = Case.from_json(said["case"])
        found = judge.try_case(case)
        if found is None:
            judge.done = [case]
            found, _ = _probes.run(judge, case)
    except Failed as failed:
        found = failed.finding
    except Refused as refused:
        return {"verdict": "undecided", "code": "judge.refused", "message": str(refused)}
    finally:
        judge.close()
    return {"verdict": found.verdict, "code": found.code, "message": found.message} if found else {"verdict": "right"}


def one(item, said, budget, probes, device):
    try:
        found = on_gpu(item, said, budget, probes, device, alone=probes)
        if not probes and kind_of(said, found) == "disagree":
            found = on_gpu(item, said, budget, probes, device, alone=True)
        if kind_of(said, found) == "disagree" and said["verdict"] != "right":
            found = on_gpu(item, said, budget, probes, device, alone=True, search=True)
        return found
    except Exception as error:  # noqa: BLE001  # of the task's own code
        return {"verdict": "undecided", "code": "judge.task", "message": f"{type(error).__name__}: {error}"}


def kind_of(said, gpu):
    """How the two go together."""
    if "undecided" in (said["verdict"], gpu["verdict"]) or gpu.get("message", "").startswith("_LinAlgError"):  # a solver of torch's that gives up
        return "cannot tell"
    if (said["verdict"] == "right") == (gpu["verdict"] == "right"):
        return "agree"
    return "cannot tell" if said["verdict"] != "right" and said["code"].startswith(SEEN_BY_THE_VM) else "disagree"


def finished(running, seconds):
    """Futures as they are done, until the time is over."""
    try:
        yield from concurrent.futures.as_completed(running, seconds)
    except concurrent.futures.TimeoutError:
        return


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=pathlib.Path)
    parser.add_argument("verdicts", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=6)
    parser.add_argument("--budget", type=float, default=3.0)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--values", action="store_true")
    parser.add_argument("--device", choices=("cuda", "tilec", "cuda,tilec"), default="cuda")
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    from tilevm.judge import _batch

    said = {entry["id"]: entry for entry in map(json.loads, args.verdicts.read_text().splitlines())}
    items = [item for item in _batch.read(str(args.pairs)) if said.get(item["id"], {}).get("verdict", "undecided") != "undecided"]
    counts, known = collections.Counter(), {}
    for line in args.out.read_text().splitlines() if args.out and args.out.exists() else []:
        entry = json.loads(line)
        known[entry["id"]] = entry
        counts[entry["kind"]] += 1
        counts[f"  {entry['vm']} here, {entry['gpu']['verdict']} on the GPU"] += 1
    items = [item for item in items if item["id"] not in known]
    pool = concurrent.futures.ProcessPoolExecutor(args.jobs, multiprocessing.get_context("spawn"))
    running = {pool.submit(one, item, said[item["id"]], args.budget, not args.values, args.device): item["id"] for item in items}
    for done in finished(running, args.seconds):
        name, gpu = running.pop(done), done.result()
        vm = said[name]
        kind = kind_of(vm, gpu)
        counts[kind] += 1
        counts[f"  {vm['verdict']} here, {gpu['verdict']} on the GPU"] += 1
        if args.out:
            with args.out.open("a") as file:
                file.write(json.dumps({"id": name, "kind": kind, "vm": vm["verdict"], "vm_code": vm.get("code", ""), "gpu": gpu}) + "\n")
        print(f"{kind:11} {name}: {vm['verdict']} {vm.get('code', '')} here, {gpu['verdict']} {gpu.get('code', '')} on the GPU", flush=True)
        if kind == "disagree":
            print(f"    here: {vm.get('message', '')[:300]} [{vm.get('input', '')}]\n    the GPU: {gpu.get('message', '')[:300]}", flush=True)
    for kind, count in sorted(counts.items()):
        print(count, kind)
    compared = counts["agree"] + counts["disagree"]
    print(f"{counts['agree']} of {compared} agree ({100 * counts['agree'] / max(1, compared):.1f} %), {counts['cannot tell']} cannot tell, "
          f"{len(running)} not reached", flush=True)
    status = 1 if counts["disagree"] > 0.002 * compared else 0
    if running:  # none of their processes is waited for
        for process in list(pool._processes.values()):
            process.kill()
        os._exit(status)
    pool.shutdown()
    return status


if __name__ == "__main__":
    sys.exit(main())
