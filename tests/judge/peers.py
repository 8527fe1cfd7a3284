#!/usr/bin/env python3
"""The judge beside ttsem and TileLens on the same answers: what each finds, and how long it takes.

    tests/judge/peers.py GPUEMU --python=PEERS/bin/python [--tools=judge,ttsem,tilelens] [--out=FILE.jsonl] [--only=TEXT]

GPUEMU is a checkout of github.com/sarkar-dipankar/gpuemu-corpus, not below /tmp, which ttsem's sandbox hides. PEERS is an environment with
ttsem, TileLens, and the torch and Triton that ttsem asks for; ttsem needs bubblewrap, too. This Python has torch, triton, tilevm.

Programs are the kernels of gpuemu in Triton, 20 programs of run.py, and 20 mistakes of run.py in masks and bounds (set `memory`). Each is a module as
KernelBench has it, with one example of usual sizes. TileLens has no reference and no sandbox: its program calls the answer with that example, and its
check of memory is asked. Its detector of races records accesses and compares none (3.1.1). A run with the same --out goes on where it stopped.
"""
import argparse
import base64
import collections
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time
import zlib

import outside_sets
import run

HERE = pathlib.Path(__file__).resolve().parent
SEED = 2026
COUNTS = {("suite", "bug"): 12, ("suite", "right"): 8, ("memory", "bug"): 20}
MEMORY = ("mask", "mask missing", "mask off by one", "past the end", "bounds", "border", "size no multiple", "empty")
# One example shows none of these: its arrays are contiguous, and a buffer that calls share needs two calls.
UNSEEN = ("stride", "shared buffer", "aliasing", "cached", "gated", "hard-coded size")

MODEL = '''

class Model(torch.nn.Module):
    def forward(self, *given):
        return {call}


def get_init_inputs():
    return []


def get_inputs():
    import base64
    import zlib
    return [torch.frombuffer(bytearray(zlib.decompress(base64.b64decode(data))), dtype=getattr(torch, kind)).clone().reshape(shape)
            if kind else data for kind, shape, data in {inputs!r}]
'''
ANSWER = '''

class ModelNew(torch.nn.Module):
    def forward(self, *given):
        return {call}
'''
SCRIPT = '''
if __name__ == "__main__":
    import importlib.util
    spec = importlib.util.spec_from_file_location("task", {task!r})
    task = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(task)
    ModelNew().forward(*task.get_inputs())
'''


def embedded(arguments):
    """Arguments as text: (type, shape, bytes), or ("", None, number)."""
    import numpy
    import torch

    found = []
    for each in arguments:
        if isinstance(each, (bool, int, float)):
            found.append(("", None, each))
            continue
        tensor = torch.from_numpy(each) if isinstance(each, numpy.ndarray) else each
        data = tensor.contiguous().view(torch.uint8).numpy().tobytes() if tensor.dim() else tensor.reshape(1).view(torch.uint8).numpy().tobytes()
        found.append((str(tensor.dtype).replace("torch.", ""), list(tensor.shape), base64.b64encode(zlib.compress(data)).decode()))
    return found


def example(task):
    """Arguments of usual sizes: from 40 on, as far as the task's rules allow."""
    from tilevm.judge import _cases

    schema = task.schema
    for number in (40, 32, 24, 16, 8, 4):
        sizes = {name: number + 3 * place for place, name in enumerate(schema.sizes)}
        if schema.allows(sizes) and schema.elements(sizes) <= 1 << 15:
            return _cases.build(schema, _cases.Case(tuple(sizes.items())), [])
    return _cases.build(schema, next(_cases.plan(schema, [])), [])


def module_of(entry, folder):
    """Writes task, answer and script of an entry with `task` and `answer`; the entry with their paths, or None where arguments are changed in place."""
    from tilevm.judge import load
    from tilevm.judge._schema import ArrayInput

    task = load(entry["task"])
    arrays = [item for item in task.schema.inputs if isinstance(item, ArrayInput)]
    if any("inout" in item.words for item in arrays):
        return None
    numpy = task.schema.inputs[0].library == "numpy"
    place = folder / entry["name"]
    place.mkdir(parents=True, exist_ok=True)
    call = f"{task.name}(*given)"
    if numpy:
        call = f"torch.from_numpy({task.name}(*(each.numpy() for each in given)))"
    text = "import torch\n" + pathlib.Path(entry["task"]).read_text()
    (place / "task.py").write_text(text + MODEL.format(call=call, inputs=embedded(example(task))))
    answer = pathlib.Path(entry["answer"]).read_text().replace("getattr(torch, _TORCH_DT[str(dt)])", "torch.float32")  # ttsem takes it for an escape
    own = next((name for name in ("reference", "call", task.name) if f"\ndef {name}(" in answer), None)
    if own is None:  # a module of its own: an example's arguments do not make it
        return None
    call = f"torch.as_tensor({own}(*(each.cpu().numpy() for each in given)))" if numpy else f"{own}(*given)"
    (place / "answer.py").write_text(answer + ANSWER.format(call=call))
    on_cpu = answer.replace("torch.cuda.is_available()", "True").replace('"cuda"', '"cpu"').replace("'cuda'", "'cpu'")
    (place / "script.py").write_text(on_cpu + ANSWER.format(call=call) + SCRIPT.format(task=str(place / "task.py")))
    return {**entry, "task": str(place / "task.py"), "answer": str(place / "answer.py"), "script": str(place / "script.py")}


def entries(checkout, folder):
    """{"name", "truth", "task", "answer"}, before they are modules."""
    for item in outside_sets.gpuemu(checkout, folder):
        if "triton" not in pathlib.Path(item["answer"]).read_text():
            continue
        yield {"name": item["id"], "truth": "bug" if item["group"] == "mistake" else "right", "set": "gpuemu", "task": item["task"], "answer": item["answer"]}
    known = collections.defaultdict(list)
    for number, (kernel, kind, change, text) in enumerate(run.programs("")):
        if "triton" not in text or kind in UNSEEN or kernel.startswith(("ct_", "s_")):
            continue
        known["suite", "right" if kind in run.CLEAN else "bug"].append((number, kernel, kind, change, text))
        if kind in MEMORY:
            known["memory", "bug"].append((number, kernel, kind, change, text))
    for (group, truth), count in COUNTS.items():
        for number, kernel, kind, change, text in random.Random(f"{SEED} {group} {truth}").sample(known[group, truth], 2 * count):
            path = folder / f"{kernel}_{number}.py"
            path.write_text(text + "\n")
            name = f"{kernel}_{number}" + ("_memory" if group == "memory" else "")
            yield {"name": name, "truth": truth, "set": group, "kind": kind, "change": change, "task": str(HERE / "tasks" / f"{kernel}.py"),
                   "answer": str(path)}


def timed(command, folder, limit, own=False):
    """(exit status, output, seconds on the clock, of the processor). `own`: with this program's places of modules."""
    environment = {name: value for name, value in os.environ.items() if own or name != "PYTHONPATH"}
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=limit, errors="replace", env=environment)
        status, text = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        status, text = None, ""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return status, text, round(time.monotonic() - begin, 1), round(used, 1)


def by_judge(entry, args, folder):
    command = [sys.executable, "-m", "tilevm.judge", entry["task"], entry["answer"], "--json", "--out="]
    status, text, wall, used = timed(command, folder, args.limit, own=True)
    lines = [line for line in text.splitlines() if line.startswith("{")]
    said = json.loads(lines[-1]) if lines and status is not None else {"verdict": "undecided", "code": "", "message": text[-200:]}
    # The process that judges is no child of the command: it says itself what it and the answer's took.
    return said["verdict"], f"{said.get('code', '')}: {said.get('message', '')}", wall, round(used + said.get("processor", 0), 1)


def by_ttsem(entry, args, folder):
    command = [str(args.python), "-m", "ttsem", "judge", entry["task"], entry["answer"], "--json", "--precision", "keep", "--timeout", str(args.limit)]
    status, text, wall, used = timed(command, folder, 2 * args.limit)
    kinds = {"verified": "right", "no_kernel": "cheats", "error": "wrong", "too_slow": "undecided", "not_judged": "undecided"}
    found = [word for word in ("unsafe", "wrong", "no_kernel", "error", "too_slow", "not_judged", "verified") if f'"verdict": "{word}"' in text]
    word = found[0] if found else "too_slow" if status is None else "not_judged"
    return kinds.get(word, word), " ".join(text.split())[:600], wall, used


def by_tilelens(entry, args, folder):
    status, text, wall, used = timed([str(args.python.parent / "tile-sanitizer"), entry["script"]], folder, args.limit)
    found = "ILLEGAL MEMORY ACCESS" in text
    last = (text.strip().splitlines() or [""])[-1]
    return "unsafe" if found else "right" if status == 0 else "undecided", f"{status}: {last[:200]}", wall, used


TOOLS = {"judge": by_judge, "ttsem": by_ttsem, "tilelens": by_tilelens}


def report(lines):
    print(f"{'tool':9} {'set':7} {'bugs':>5} {'found':>6} {'missed':>7} {'undecided':>10} {'right':>6} {'false':>6} {'undecided':>10} {'clock s':>8} "
          f"{'cpu s':>7}")
    for tool in TOOLS:
        for group in ("gpuemu", "suite", "memory"):
            mine = [each for each in lines if each["tool"] == tool and each["set"] == group]
            if not mine:
                continue
            bugs, right = [e for e in mine if e["truth"] == "bug"], [e for e in mine if e["truth"] == "right"]
            said = [collections.Counter({"right": "right", "undecided": "undecided"}.get(e["verdict"], "found") for e in part) for part in (bugs, right)]
            print(f"{tool:9} {group:7} {len(bugs):5} {said[0]['found']:6} {said[0]['right']:7} {said[0]['undecided']:10} {len(right):6} {said[1]['found']:6} "
                  f"{said[1]['undecided']:10} {sum(e['wall'] for e in mine):8.0f} {sum(e['processor'] for e in mine):7.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--python", type=pathlib.Path, help="of the environment of ttsem and TileLens")
    parser.add_argument("--tools", default="judge,ttsem,tilelens")
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int, default=300, help="seconds on the clock for a program")
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    lines = [json.loads(line) for line in args.out.read_text().splitlines()] if args.out and args.out.exists() else []
    done = {(each["tool"], each["name"]) for each in lines}
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:  # ttsem's sandbox has a /tmp of its own
        folder = pathlib.Path(made)
        chosen, counts = [], collections.Counter()
        for entry in entries(args.checkout.resolve(), folder):
            key = entry["set"], entry["truth"]
            program = module_of(entry, folder / "programs") if counts[key] < COUNTS.get(key, 1 << 30) else None
            if program is not None:
                counts[key] += 1
                chosen.append(program)
        for tool in args.tools.split(","):
            for entry in chosen:
                if (tool, entry["name"]) in done or args.only not in entry["name"]:
                    continue
                verdict, text, wall, used = TOOLS[tool](entry, args, folder)
                lines.append({"tool": tool, "name": entry["name"], "set": entry["set"], "truth": entry["truth"], "verdict": verdict, "text": text[:600],
                              "change": entry.get("change", ""), "wall": wall, "processor": used})
                print(f"{tool:9} {entry['name']:28} {entry['truth']:6} {verdict:10} {wall:6.1f} s {used:6.1f} s  {text[:140]}", flush=True)
                if args.out:
                    with args.out.open("a") as file:
                        file.write(json.dumps(lines[-1]) + "\n")
    report(lines)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("TQDM_DISABLE", "1")
    sys.exit(main())
