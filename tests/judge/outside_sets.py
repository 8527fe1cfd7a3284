"""Programs of others as tasks and answers for the judge: {"id", "task", "answer", "group"}. outside.py judges them.

Each function reads a checkout, writes files into a folder, and yields entries. A group says what the authors say: a mistake, an adverse program, or
one that is right. Nothing of these projects is part of this one.
"""
import ast
import json

import hacks

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
kit.emit = lambda result: BOX.update(result=numpy.asanyarray(result))
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
        if not schema or not meta.get("reference") or "triton" not in text and "buggy" not in meta["name"]:  # programs of NumPy have no kernel
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
    yield from _hacks(product, folder)
    prompts = source / "prompts"
    yield {"id": "example", "task": str(prompts / "model_ex_add.py"), "answer": str(prompts / "model_new_ex_add_triton.py"), "group": "right"}


def _hacks(task, folder):
    """What KernelBench's tests of its checker have as fragments."""
    for name, text in hacks.HACKS.items():
        answer = folder / f"{name}.py"
        answer.write_text(hacks.HEAD + text)
        yield {"id": name, "task": task, "answer": str(answer), "group": "right" if name.startswith("right_") else "hack"}


def _of_descriptions(checkout):
    """The file of a T task by its answer's line, which has the description alone."""
    index = json.loads((checkout / "data" / "TritonBench_T_v1.jsonl").read_text())
    described = [(entry["description"].replace("\n", ""), entry["file"]) for entry in index]

    def file_of(item):
        wanted = item[next(iter(item))].split("Functional Description: ")[-1].split("Wrapper Entry Information:")[0].replace("\n", "")
        files = [file for description, file in described if wanted in description]
        return files[0] if len(files) == 1 else None

    return file_of


def _ascii(text):
    """Without other characters, which some lines have in another encoding."""
    return text.encode("ascii", "ignore").decode()


def _of_labels(checkout):
    """The file of a G task by its answer's line, which has the code of the repository that the task is from."""
    index = json.loads((checkout / "data" / "TritonBench_G_v1.json").read_text())
    known = [(_ascii(entry["output"]), entry["file"]) for entry in index]

    def file_of(item):
        wanted = _ascii(item["label"].replace("<|im_end|>", "").replace("<|EOT|>", ""))
        return next((file for output, file in known if wanted in output), None)

    return file_of


def tritonbench(checkout, folder, answers=(), part="T"):
    """`answers`: files of answers, all that the checkout has for the part by default. Answers to a task follow each other."""
    file_of = (_of_descriptions if part == "T" else _of_labels)(checkout)
    found = []
    for path in answers or sorted((checkout / "LLM_generated").glob(f"Bench_{part}*/*.jsonl")):
        model = path.stem.replace("output_", "")
        for number, line in enumerate(path.read_text().splitlines()):
            item = json.loads(line)
            file = file_of(item)
            if file is not None:
                found.append((file, f"{model} {number}", item["predict"]))
    for file, name, text in sorted(found):
        text = text.split("```python")[-1].split("```")[0] if "```python" in text else text
        answer = folder / f"{name.replace(' ', '_')}_{file}"
        answer.write_text(text.replace("<|im_end|>", "").replace("<|EOT|>", ""))
        yield {"id": f"{name} {file}", "task": str(checkout / "data" / f"TritonBench_{part}_v1" / file), "answer": str(answer), "group": "answer"}


def tritonbench_g(checkout, folder, answers=()):
    return tritonbench(checkout, folder, answers, "G")


# Operators that BackendBench's tests and scripts name, with what its kernels promise to take.
UNARY = {"x": "f32[m, n] contiguous"}
BINARY = {"x": "f32[m, n]", "y": "f32[m, n]"}
OPERATORS = {
    "relu.default": UNARY, "abs.default": UNARY, "cos.default": UNARY, "sin.default": UNARY, "sum.default": UNARY,
    "add.Tensor": BINARY, "mul.Tensor": BINARY, "sub.Tensor": BINARY, "div.Tensor": {"x": "f32[m, n]", "y": "f32[m, n] positive"},
    "matmul.default": {"x": "f16[m, k]", "y": "f16[k, n]"}, "addmm.default": {"b": "f32[m, n]", "x": "f32[m, k]", "y": "f32[k, n]"},
    "_adaptive_avg_pool2d_backward.default": {"g": "f32[n, c, h, w]", "x": "f32[n, c, h, w]"},
}
OPERATOR_TASK = '''import torch

INPUTS = {inputs!r}


def reference({names}):
    return torch.ops.aten.{operator}({names})
'''
ATEN = '''import torch


def {entry}(*args, **kwargs):
    return torch.ops.aten.{operator}(*args, **kwargs)
'''
WRONG = '''import torch


def relu__default_kernel_impl(x):
    return x * 2
'''
RAISES = '''import torch


def relu__default_kernel_impl(x):
    raise RuntimeError("Test error")
'''


def backendbench(checkout, folder):
    """Adverse: constant tensors (its watermarks), torch's own operators, what its tests expect to fail. Right: kernels that its tests hold for right."""
    for operator, inputs in OPERATORS.items():
        task = folder / f"task_{operator.replace('.', '_')}.py"
        task.write_text(OPERATOR_TASK.format(inputs=inputs, names=", ".join(inputs), operator=operator))

    def entry(operator, kind, text, group):
        name = operator.replace(".", "__")
        path = folder / f"{kind}_{name}.py"
        path.write_text(text)
        return {"id": f"{kind} {operator}", "task": str(folder / f"task_{operator.replace('.', '_')}.py"), "answer": f"{path}:{name}_kernel_impl",
                "group": group}

    script = checkout / "BackendBench" / "scripts" / "create_watermarked_operators.py"
    mark = next(node for node in ast.walk(ast.parse(script.read_text())) if isinstance(node, ast.Return) and isinstance(node.value, ast.JoinedStr))
    for operator in OPERATORS:
        name = operator.replace(".", "__")
        values = {"op_name": name, "watermark_value": 42.0}
        text = "".join(str(values[part.value.id]) if isinstance(part, ast.FormattedValue) else part.value for part in mark.value.values)
        yield entry(operator, "watermark", text, "adverse")
        yield entry(operator, "aten", ATEN.format(entry=f"{name}_kernel_impl", operator=operator), "adverse")
    yield entry("relu.default", "twice", WRONG, "adverse")
    yield entry("relu.default", "raises", RAISES, "adverse")
    for path in sorted((checkout / "test" / "fixtures" / "llm_response").glob("*.txt")):
        text = path.read_text()
        text = text.split("```python")[1].split("```")[0] if "```python" in text else ""
        yield entry("add.Tensor", path.stem, text, "right" if "good" in path.stem else "adverse")
    tree = ast.parse((checkout / "test" / "test_model_with_embedded_kernels.py").read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "@triton.jit" in node.value:
            operator = next(o for o in OPERATORS if f"def {o.replace('.', '__')}_kernel_impl" in node.value)
            yield entry(operator, "embedded", node.value, "right")


SETS = {"gpuemu": gpuemu, "kernelbench": kernelbench, "tritonbench": tritonbench, "tritonbench-g": tritonbench_g,
        "backendbench": backendbench}
