#!/usr/bin/env python3
"""The judge on programs of others, with what they say about themselves.

    tests/judge/outside.py gpuemu CHECKOUT [--first=N] [--jobs=2]                   github.com/sarkar-dipankar/gpuemu-corpus: 10 mistakes, 16 right ones
    tests/judge/outside.py kernelbench CHECKOUT [--first=N] [--only=TEXT]           github.com/ScalingIntelligence/KernelBench: zeros for each problem of
                                                                                    level 1, its adversarial kernels, its example in Triton
    tests/judge/outside.py tritonbench CHECKOUT ANSWERS.jsonl [--first=N]           github.com/thunlp/TritonBench: answers of models to its T tasks

Needs a checkout, torch, triton, tilevm. It prints a line for each program and counts. Nothing of these projects is part of this one.
"""
import argparse
import collections
import json
import pathlib
import sys
import tempfile

# A reference of gpuemu is a program that reads arrays and writes one: here it is called.
GPUEMU_TASK = '''import importlib.util
import pathlib
import sys
import types

import numpy

INPUTS = {inputs!r}
FOLDER = pathlib.Path({folder!r})
BOX = {{}}
kit = types.ModuleType("_refkit")
kit.read_inputs = lambda: (BOX["inputs"], {{}})
kit.emit = lambda result: BOX.update(result=numpy.asarray(result))
sys.modules["_refkit"] = kit
spec = importlib.util.spec_from_file_location("ref_{name}", FOLDER / {reference!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)


def reference({names}):
    BOX["inputs"] = {{{pairs}}}
    module.main()
    return BOX["result"]
'''


def gpuemu(checkout, folder):
    data = checkout / "gpuemu_corpus" / "data"
    for path in sorted(data.glob("*/meta.json")):
        meta = json.loads(path.read_text())
        schema = meta.get("op_schema")
        text = (path.parent / "kernel.py").read_text()
        if not schema or "triton" not in text or not meta.get("reference"):
            continue
        name = meta["name"]
        names = [i["name"] for i in schema["inputs"]]
        known = {d["name"] for d in schema["dims"]}
        if not all(dim in known for i in schema["inputs"] for dim in i["dims"]):
            continue
        inputs = {i["name"]: f"f32[{', '.join(d.lower() for d in i['dims'])}] contiguous" for i in schema["inputs"]}
        task, answer = folder / f"{name}_task.py", folder / f"{name}.py"
        task.write_text(GPUEMU_TASK.format(inputs=inputs, folder=str(data), name=name, reference=meta["reference"], names=", ".join(names),
                                           pairs=", ".join(f"{n!r}: {n}" for n in names)))
        answer.write_text(f"{text}\n\n\ndef reference({', '.join(names)}):\n    return run({{{', '.join(f'{n!r}: {n}' for n in names)}}})\n")
        yield {"id": name, "task": str(task), "answer": str(answer), "group": "mistake" if "buggy" in name else "control"}


# It launches a kernel that writes zeros of the right shape, which a tolerance takes for right where results are small.
ZEROS = '''

import triton
import triton.language as tl


@triton.jit
def zeros_kernel(o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.zeros([B], o.dtype.element_ty), mask=i < n)


class ModelNew(torch.nn.Module):
    def __init__(self, *arguments):
        super().__init__()
        self.model = Model(*arguments)

    def forward(self, *inputs):
        o = torch.empty(self.model(*inputs).shape, device="cuda")
        zeros_kernel[(triton.cdiv(o.numel(), 256),)](o, o.numel(), B=256)
        return o
'''


def kernelbench(checkout, folder):
    level = checkout / "KernelBench" / "level1"
    for path in sorted(level.glob("*.py"), key=lambda p: int(p.stem.split("_")[0])):
        answer = folder / f"zeros_{path.name}"
        answer.write_text(path.read_text() + ZEROS)
        yield {"id": path.stem, "task": str(path), "answer": str(answer), "group": "zeros"}
    source = checkout / "src" / "kernelbench"
    product = str(level / "1_Square_matrix_multiplication_.py")
    for path in sorted((source / "unit_tests" / "test_kernels").glob("*.py")):
        yield {"id": path.stem, "task": product, "answer": str(path), "group": "adversarial"}
    prompts = source / "prompts"
    yield {"id": "example", "task": str(prompts / "model_ex_add.py"), "answer": str(prompts / "model_new_ex_add_triton.py"), "group": "right"}


def tritonbench(checkout, answers, folder):
    index = json.loads((checkout / "data" / "TritonBench_T_v1.jsonl").read_text())
    for number, line in enumerate(answers.read_text().splitlines()):
        item = json.loads(line)
        wanted = item["instruction"].split("Functional Description: ")[-1].split("Wrapper Entry Information:")[0].replace("\n", "")
        files = [entry["file"] for entry in index if wanted in entry["description"].replace("\n", "")]
        if len(files) != 1:
            continue
        text = item["predict"]
        text = text.split("```python")[-1].split("```")[0] if "```python" in text else text
        answer = folder / f"{number}_{files[0]}"
        answer.write_text(text)
        yield {"id": f"{number} {files[0]}", "task": str(checkout / "data" / "TritonBench_T_v1" / files[0]), "answer": str(answer), "group": "answer"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("gpuemu", "kernelbench", "tritonbench"))
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("answers", type=pathlib.Path, nargs="?")
    parser.add_argument("--first", type=int)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=float, default=5.0)
    args = parser.parse_args()
    from tilevm.judge import _batch

    counts, causes = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        sets = {"gpuemu": gpuemu, "kernelbench": kernelbench}
        found = sets[args.kind](args.checkout, folder) if args.kind in sets else tritonbench(args.checkout, args.answers, folder)
        items = [item for item in found if args.only in item["id"]][:args.first]
        groups = {item["id"]: item["group"] for item in items}
        for found in _batch.run(items, args.jobs, {"budget": args.budget, "sandbox": True, "out": ""}):
            counts[groups[found["id"]]][found["verdict"]] += 1
            causes[groups[found["id"]]][found.get("code", "")] += 1
            print(f"{found['verdict']:9} {found['id']:32} {found['processor']:5.1f} s {found.get('code', '')}: {found.get('message', '')[:160]}", flush=True)
    for group, verdicts in counts.items():
        print(f"{group}: " + ", ".join(f"{number} {verdict}" for verdict, number in verdicts.most_common()))
        print("  " + ", ".join(f"{number} {code}" for code, number in causes[group].most_common() if code))
    return 0


if __name__ == "__main__":
    sys.exit(main())
