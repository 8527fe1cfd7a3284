#!/usr/bin/env python3
"""How many seeded bugs do the VM's checks find? Kernels in Triton and cuTile, each with bugs that people make, and a table of who sees them.

    tests/seeded/run.py [--check=full] [--only=KERNEL] [--jobs=2] [--seconds=60] [--out=FILE.jsonl]      needs torch, triton, cuda-tile, tilevm

A file of kernels/ has the kernel, the function that calls it, inputs of a friendly size and of odd ones, the result by torch in float64, and
BUGS: (kind, text, text in its place). Each bug is one process, forked from one that has loaded everything. It counts as

    found     the VM stops a launch or warns (friendly sizes, then odd ones)
    wrong     the result differs from float64 by more than the kernel's bound, or the program raises an error of its own
    nothing   neither

The originals have to be right and silent at every size: a report there is a false alarm, and the process ends with 1.
"""
import argparse
import collections
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import signal
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def doubled(values):
    import torch

    return [v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v for v in values]


def differs(results, wanted, bound):
    """Whether a result is farther from what is wanted than the bound, relative to the largest value of it."""
    import torch

    results, wanted = (list(v) if isinstance(v, tuple) else [v] for v in (results, wanted))
    for got, want in zip(results, wanted, strict=True):
        if got.shape != want.shape:
            return True
        got, want = got.double(), want.double()
        scale = max(1.0, want.abs().max().item()) if want.numel() else 1.0
        if not torch.equal(torch.isnan(got), torch.isnan(want)) or (got - want).abs().nan_to_num().max().item() > bound * scale:
            return True
    return False


def judge(module, sizes):
    """(what the VM said, whether the result is wrong) over these sizes; ends at the first report."""
    import tilevm
    import torch

    wrong = ""
    for size in sizes:
        torch.manual_seed(sum(map(int, size)))
        arguments = module.inputs(*size)
        wanted = module.expected(*doubled(arguments))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                result = module.call(*arguments)
                if differs(result, wanted, module.BOUND):
                    wrong = wrong or f"wrong at {size}"
            except tilevm.TrapError as error:
                return f"{error.code} at {size}: {str(error).splitlines()[0]}", wrong
            except Exception as error:  # noqa: BLE001  # a bug may end in any error of Python's
                wrong = wrong or f"{type(error).__name__} at {size}: {error}"
        for warning in said:
            rounding = "is rounded by the order of blocks" in str(warning.message)  # right, if last digits do not matter
            if issubclass(warning.category, tilevm.KernelWarning) and not rounding:
                return f"warning at {size}: {str(warning.message).splitlines()[0]}", wrong
    return "", wrong


def in_child(path, name, seconds):
    """The outcome of one program, from a process of its own."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(seconds)
        outcome = {}
        try:
            module = load(path, name)
            for group in ("friendly", "odd"):
                outcome[group], outcome[group + "_wrong"] = judge(module, module.CASES[group])
        except BaseException as error:  # noqa: BLE001
            outcome["broken"] = f"{type(error).__name__}: {error}"
        with os.fdopen(write, "w") as file:
            file.write(json.dumps(outcome))
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"late": True}


def run_kernel(path, check, seconds):
    """All programs of one file: the original first. In a process of its own."""
    os.environ.update(TILEVM_CHECK=check, OMP_NUM_THREADS="1")
    import tilevm.cutile
    import tilevm.triton

    tilevm.triton.install(device="cpu")
    tilevm.cutile.install(device="cpu")
    import torch

    torch.set_num_threads(1)
    text = path.read_text()
    bugs = load(path, "seeded_" + path.stem).BUGS
    body, tail = text.split("\nBUGS = [", 1)
    entries = [{"kernel": path.stem, "kind": "original", "bug": "", **in_child(path, "original_" + path.stem, seconds * 4)}]
    with tempfile.TemporaryDirectory() as folder:
        for number, (kind, old, new) in enumerate(bugs):
            if body.count(old) != 1:
                raise SystemExit(f"{path.name}: {old!r} occurs {body.count(old)} times")
            copy = pathlib.Path(folder) / f"{path.stem}_{number}.py"
            copy.write_text(body.replace(old, new) + "\nBUGS = [" + tail)
            entries.append({"kernel": path.stem, "kind": kind, "bug": f"{old.strip()} -> {new.strip()}", **in_child(copy, copy.stem, seconds)})
    return entries


def verdict(entry):
    if entry.get("broken"):
        return "broken"
    if entry.get("late"):
        return "late"
    if entry["friendly"] or entry["odd"]:
        return "found"
    return "wrong" if entry["friendly_wrong"] or entry["odd_wrong"] else "nothing"


def table(entries):
    kinds = collections.defaultdict(list)
    for entry in entries:
        kinds[entry["kind"]].append(entry)
    lines = [f"{'kind':18} {'bugs':>5} {'found':>6} {'of friendly sizes':>18} {'float64':>8} {'nothing':>8}"]
    for kind, members in sorted(kinds.items(), key=lambda item: -len(item[1])) + [("all", entries)]:
        found = sum(verdict(e) == "found" for e in members)
        friendly = sum(bool(e.get("friendly")) for e in members)
        wrong = sum(bool(e.get("friendly_wrong") or e.get("odd_wrong")) for e in members)
        nothing = sum(verdict(e) in ("nothing", "late", "broken") for e in members)
        lines.append(f"{kind:18} {len(members):5} {found:6} {friendly:18} {wrong:8} {nothing:8}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", default="full", choices=("bounds", "full"))
    parser.add_argument("--only", default="*")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    paths = sorted((HERE / "kernels").glob(args.only + ".py"))
    entries = []
    with concurrent.futures.ProcessPoolExecutor(args.jobs, max_tasks_per_child=1) as pool:
        for found in pool.map(run_kernel, paths, [args.check] * len(paths), [args.seconds] * len(paths)):
            entries += found
            for entry in found:
                why = entry.get("friendly") or entry.get("odd") or entry.get("odd_wrong") or entry.get("friendly_wrong") or entry.get("broken", "")
                print(f"{verdict(entry):8} {entry['kernel']:14} {entry['kind']:16} {entry['bug']}\n           {why[:200]}", flush=True)
    if args.out:
        args.out.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    originals = [entry for entry in entries if entry["kind"] == "original"]
    seeded = [entry for entry in entries if entry["kind"] != "original"]
    print("\n".join(table(seeded)))
    bad = [entry for entry in originals if verdict(entry) != "nothing"]
    for entry in bad:
        print("FALSE ALARM" if verdict(entry) == "found" else "ORIGINAL", entry)
    found = sum(verdict(entry) == "found" for entry in seeded)
    print(f"{len(originals)} kernels, {len(bad)} of them not right and silent; {found} of {len(seeded)} bugs found by the checks alone")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
