"""tilevm judge: a verdict on a kernel that someone, or something, else wrote.

    import tilevm.judge

    verdict = tilevm.judge.judge("task.py", "answer.py")       # or tilevm.judge("task.py", "answer.py")
    print(verdict)                                             # answer.py: wrong: answer.py:14: error[judge.differs]: …
    verdict.verdict                                            # "right", "wrong", "unsafe", "cheats", "undecided"

    _task.py, _calls.py          what is to be computed: a function or module, and what it takes
    _schema.py      the inputs that it takes: written, or inferred from a call
    _cases.py, _patterns.py, _coverage.py      inputs that are tried, and what they did not show of the answer
    _reference.py, _noise.py, _noise_rules.py, _noise_numpy.py, _noise_tensors.py     the right result in float64, and how far rounding may lead from it
    _compare.py, _findings.py    what is wrong with a result or a call
    _probes.py      what is wrong although the results are right
    _judge.py       the search, the smallest input, the verdict
    _process.py, _server.py, _sandbox.py, _worker.py, _watch.py, _streams.py, _wire.py, _reply.py     the process of the answer
    _launches.py    where a GPU begins to differ from the VM
    _judging.py                                                         the process that judges
    _model.py, _narrow.py, _modes.py                                    inputs where the task has an example alone
    _command.py, _batch.py, _replay.py, _session.py            the commands, and tests

docs/judging-kernels.md says what a verdict promises, and what it does not.
"""
from __future__ import annotations

import importlib
import os
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Optional, Tuple, Union

    from ._judge import Judge, Options
    from ._process import Bounds, Server
    from ._session import NotRight
    from ._task import Task, load, of_function
    from ._verdict import EXIT_CODES, Verdict

__all__ = ["EXIT_CODES", "Bounds", "Judge", "NotRight", "Options", "Server", "Task", "Verdict", "check", "imports_of", "judge", "load", "of_function",
           "prepare"]
# Imported when they are asked for: the commands judge in another process.
_PLACES = {"EXIT_CODES": "_verdict", "Bounds": "_process", "Judge": "_judge", "NotRight": "_session", "Options": "_judge", "Server": "_process",
           "Task": "_task", "Verdict": "_verdict", "load": "_task", "of_function": "_task"}


def __getattr__(name: str) -> "Any":
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(f".{_PLACES[name]}", __name__), name)
    return found


def judge(task: "Union[str, Task, Callable[..., Any]]", answer: str, *, inputs: "Optional[Dict[str, str]]" = None, sizes: str = "",
          example: "Optional[Tuple[Any, ...]]" = None, budget: float = 5.0, server: "Optional[Server]" = None,
          sandbox: bool = True) -> "Verdict":
    """The verdict on `answer`: a Python file, "file.py:function", or a .tbc with an interface.

    `task`: a file (tilevm.judge.load says of which forms), or a function with `inputs` and `sizes` (a schema) or `example` (the arguments of a
    call). `budget`: seconds for inputs. `server`: a process that starts those of answers, where several are judged.

        verdict = tilevm.judge.judge(torch.softmax_task, "answer.py", inputs={"x": "f32[m, n]"})

    Errors: ArgumentError for what is no task; UnavailableError where no process can be shut in."""
    from ._judge import Judge, Options
    from ._process import Bounds, Server
    from ._task import Task, load, of_function

    path, entry = split(answer)
    if callable(task) and not isinstance(task, Task):
        task = of_function(task, inputs, sizes, example)
    imports = imports_of(path, "" if isinstance(task, Task) else split_task(task)[0])
    own = Server(imports) if server is None else None  # first: it imports while the task is loaded
    try:
        if not isinstance(task, Task):
            prepare(imports)
            task = load(task)
        return Judge(task, path, own or server, entry, Options(budget=budget, bounds=Bounds(sandbox=sandbox))).run()  # type: ignore[arg-type]
    finally:
        if own is not None:
            own.close()


def check(task: "Union[str, Task, Callable[..., Any]]", answer: str, **options: "Any") -> "Verdict":
    """The verdict, which is right, for tests; with the arguments of `judge`. Errors: NotRight, an AssertionError that says why it is not.

        tilevm.judge.check("softmax_task.py", "answer.py")

    It makes torch's "cuda" the CPU in this process. The fixture `tilevm_judge` of the pytest plugin does not (_session.py)."""
    from ._session import ask

    return ask(judge(task, answer, **options))


def split(answer: str) -> "Tuple[str, str]":
    """"answer.py:function" as its parts. Errors: ArgumentError for a file that is not there."""
    path, entry = answer, ""
    if not os.path.exists(path) and ":" in path:
        path, _, entry = path.rpartition(":")
    if not os.path.isfile(path):
        from .._errors import argument_error

        raise argument_error(f"there is no answer {answer}", "name a Python file, file.py:function, or a .tbc")
    return path, entry


def split_task(task: str) -> "Tuple[str, str]":
    """"task.py:function", or "task", as the Python file and the name."""
    path, _, entry = task.partition(".py:")
    return path if path.endswith(".py") else path + ".py", entry


def imports_of(*paths: str) -> "Tuple[str, ...]":
    """Of torch, triton, cuda: what files name. Frontends need torch."""
    text = ""
    for path in paths:
        if path.endswith(".py") and os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                text += file.read()
    found = {name for name in ("triton", "cuda.tile", "torch") if name in text}
    return tuple(name.split(".")[0] for name in ("torch", "triton", "cuda.tile") if name in found or name == "torch" and found)


def prepare(imports: "Tuple[str, ...]") -> None:
    """Before a task is loaded: torch's "cuda" is this CPU in the judge's process, too."""
    if "torch" in imports:
        import tilevm

        tilevm.install(check="bounds")
        import torch

        torch.set_num_threads(1)
        from ._watch import torch_operations

        with torch_operations({}):  # what a mode needs at its first use: no answer's budget pays for it
            torch.zeros(2) + torch.zeros(2)


class _Callable(types.ModuleType):
    """This module, which is also the function: tilevm.judge("task.py", "answer.py")."""

    def __call__(self, *args: "Any", **named: "Any") -> "Verdict":
        return judge(*args, **named)


sys.modules[__name__].__class__ = _Callable
