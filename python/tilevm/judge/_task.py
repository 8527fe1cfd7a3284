"""Tasks: what an answer has to compute, and with which inputs.

    task = load("softmax_task.py")          # or softmax_task.py:function
    task.reference(x)                       # the function, in the element types of its arguments

Forms that are told apart by what the file defines:

    Model, get_inputs, get_init_inputs      KernelBench: an nn.Module; the answer is a class ModelNew
    a function and INPUTS (and SIZES)       the schema is the task's promise (_schema.py)
    a function and EXAMPLE or get_inputs    the schema is inferred from that call
    a function and a test of it             TritonBench: the file ends with calls of the function, which are the examples
"""
from __future__ import annotations

import contextlib
import importlib.util
import inspect
import os
import sys

from .._errors import argument_error
from . import _calls, _model, _numbers, _schema, _values
from ._narrow import narrowed
from ._reference import flatten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Callable, Dict, List, Optional, Tuple

_NAMES = ("reference", "expected", "task", "ref")


class Task:
    """`name`, `path`, `reference`, `schema`, `examples` (arguments of calls); of a module also `model` (its object), `init` (arguments of its
    class); `names` that the answer's function may have; `tf32`: whether products of float32 may be rounded to tf32, None: those of tl.dot, whose
    default it is; `remarks` about the task."""

    def __init__(self, name: str, path: str, reference: "Callable[..., Any]", schema: "_schema.Schema", examples: "List[Tuple[Any, ...]]") -> None:
        self.name, self.path = name, path
        self.reference = reference
        self.schema = schema
        self.examples = examples
        self.model: "Any" = None
        self.init: "Tuple[Any, ...]" = ()
        self.names: "List[str]" = []
        self.tf32: "Optional[bool]" = None
        self.remarks: "List[str]" = []


def load(path: str, inputs: "Optional[Dict[str, str]]" = None, sizes: str = "") -> Task:
    """`path`: a file, or "file.py:function". `inputs`, `sizes`: a schema in place of that of the file.

    Errors: ArgumentError for a file that is no task; what the file raises."""
    from . import split_task

    path, entry = split_task(path)
    path = os.path.abspath(path)
    if not os.path.exists(path):
        raise argument_error(f"there is no file {path}", "name the Python file of the task")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if inputs is None and "#####" in text and "def test_" in text:
        task = _of_tests(path, text, entry)
        task.schema = narrowed(task)
        return task
    module = _import(path)
    if hasattr(module, "Model") and hasattr(module, "get_inputs"):
        task = _of_model(path, module)
    else:
        task = _of_function(path, module, entry, inputs, sizes)
    task.tf32 = getattr(module, "TF32", None)
    task.schema = narrowed(task)
    return task


def of_function(function: "Callable[..., Any]", inputs: "Optional[Dict[str, str]]" = None, sizes: str = "",
                example: "Optional[Tuple[Any, ...]]" = None) -> Task:
    """From Python. Errors: ArgumentError."""
    path = os.path.abspath(inspect.getsourcefile(function) or "")
    return _make(function, path, inputs, sizes, [] if example is None else [tuple(example)])


def _import(path: str) -> "ModuleType":
    name = "task_" + "".join(c if c.isalnum() else "_" for c in path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    stem = os.path.basename(path)[:-3]
    own = sys.modules.setdefault(stem, module) is module  # tests in the file may import it by its name
    try:
        spec.loader.exec_module(module)
    except Exception:
        if not any(name.startswith("test_") for name in vars(module)):  # a test that failed when the file ran it leaves the functions there
            raise
    finally:
        if own:
            del sys.modules[stem]
    return module


def _of_function(path: str, module: "ModuleType", entry: str, inputs: "Optional[Dict[str, str]]", sizes: str) -> Task:
    own = {name: value for name, value in vars(module).items() if inspect.isfunction(value) and value.__module__ == module.__name__ and
           not name.startswith("_") and name != "get_inputs"}
    name = entry or next((n for n in _NAMES if n in own), "") or (next(iter(own)) if len(own) == 1 else "")
    if name not in own:
        raise argument_error(f"{path} has no function `{name or 'reference'}`", f"name one of {', '.join(own) or 'its functions'}, as in task.py:function")
    examples = [tuple(module.EXAMPLE)] if hasattr(module, "EXAMPLE") else []
    if not examples and hasattr(module, "get_inputs"):
        examples = [tuple(module.get_inputs())]
    if inputs is None:
        inputs, sizes = getattr(module, "INPUTS", None), getattr(module, "SIZES", "")
    return _make(own[name], path, inputs, sizes, examples, getattr(module, "AT", None))


def _make(function: "Callable[..., Any]", path: str, inputs: "Any", sizes: str, examples: "List[Tuple[Any, ...]]", at: "Any" = None) -> Task:
    if inputs is not None:
        library = "torch" if "torch" in function.__globals__ else "numpy"
        schema = _schema.parse(inputs, sizes, library, at)
    elif examples:
        schema = _schema.infer(_parameters(function, len(examples[0])), examples[0])
    else:
        raise argument_error(f"the task {path} does not say what its inputs are",
                             'add INPUTS = {"x": "f32[m, n]", …}, or EXAMPLE = (x, …), the arguments of a call')
    task = Task(function.__name__, path, function, schema, examples)
    task.names = [function.__name__]
    return task


def _parameters(function: "Callable[..., Any]", count: int) -> "List[str]":
    names = [p.name for p in inspect.signature(function).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [*names, *(f"argument{i}" for i in range(len(names), count))][:count]


def _of_model(path: str, module: "ModuleType") -> Task:
    example = _model.largest(module)
    names = _parameters(example.model.forward, len(example.inputs))
    task = Task("Model", path, example.model, _schema.infer(names, example.inputs), [example.inputs])
    task.model, task.init, task.names = example.model, example.init, ["ModelNew", "Model"]
    task.remarks = list(filter(None, [_model.remark(example)]))
    return task


def _of_tests(path: str, text: str, entry: str) -> Task:
    """The function is what the tests call; the file is run once to see with what."""
    import torch

    module = _import(path)
    tests = [value for name, value in vars(module).items() if name.startswith("test_") and inspect.isfunction(value)]
    with _calls.recorded(module, text[:text.index("#####")]) as calls:
        for test in tests:
            torch.manual_seed(_model.SEED)
            with contextlib.suppress(Exception):  # calls until then are examples, too
                test()
    chosen = entry or _calls.most_called(calls)
    if not calls.get(chosen):
        raise argument_error(f"the tests in {path} call none of its functions", "name the function, as in task.py:function")
    function = _calls.named(module, chosen)
    calls[chosen].sort(key=lambda call: not _is_steady(function, *call))  # an example with options by which the result is random says little
    args, named = calls[chosen][0]
    bound = _calls.bound(function, args, named)
    schema = _schema.infer(list(bound), list(bound.values()), frozenset(named) & frozenset(bound))
    task = Task(chosen, path, function, schema, [(*args, *([_values.Keywords(named)] if named else [])) for args, named in calls[chosen]])
    task.names = [chosen]
    return task


def _is_steady(function: "Callable[..., Any]", args: "Tuple[Any, ...]", named: "Dict[str, Any]") -> bool:
    """Whether two calls give the same."""
    import torch

    found = []
    for _ in range(2):
        given, keywords = _calls.copied((args, named))
        try:
            with torch.no_grad():
                result = function(*given, **keywords)
        except Exception:  # noqa: BLE001  # such a call is found when it is judged
            return False
        found.append([_numbers.exact(a).tobytes() if _values.is_array(a) else repr(a).encode() for a in flatten(result)])
    return found[0] == found[1]
