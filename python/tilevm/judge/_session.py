"""Verdicts in the tests of a project: the fixture `tilevm_judge` of the pytest plugin.

    def test_softmax(tilevm_judge):
        tilevm_judge("softmax_task.py", "kernels/softmax.py")                                  # paths from the folder of this test

    def test_swiglu(tilevm_judge):
        tilevm_judge(swiglu_in_torch, kernels.swiglu, inputs={"a": "f32[m, n]", "b": "f32[m, n]"})

Judging replaces torch's "cuda" by the CPU, and the process of the tests may have a GPU. So one process for all tests of a session judges: it
imports torch once, and a further verdict takes what its inputs take.
"""
from __future__ import annotations

import inspect
import os

from .._errors import argument_error
from . import _batch
from ._judging import Judging
from ._verdict import RIGHT, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Optional, Union

    Named = Union[str, Callable[..., Any]]


class NotRight(AssertionError):
    """The verdict on an answer is another one than right; the text is that of the verdict, which is `verdict`."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(str(verdict))
        self.verdict = verdict


def ask(verdict: Verdict) -> Verdict:
    """The same verdict. Errors: NotRight."""
    if verdict.verdict != RIGHT:
        raise NotRight(verdict)
    return verdict


class Session:
    """Until `close`: one process that judges, started with the first question."""

    def __init__(self) -> None:
        self._judging: "Optional[Judging]" = None

    def check(self, task: "Named", answer: "Named", folder: str = "", *, inputs: "Optional[Dict[str, str]]" = None, sizes: str = "",
              budget: float = 5.0, sandbox: bool = True) -> Verdict:
        """The verdict, which is right. `task`, `answer`: a file from `folder`, "file.py:function", or a function of a module. `inputs`, `sizes`: a
        schema, where the task's file has none; `budget`: seconds for inputs.

            session.check("softmax_task.py", "answer.py:softmax")

        Errors: NotRight for any other verdict; ArgumentError for what is no file or function; UnavailableError where no process can be shut in."""
        item: "Dict[str, Any]" = {"task": place_of(task, folder), "answer": place_of(answer, folder), "inputs": inputs, "sizes": sizes, "id": ""}
        if self._judging is None:
            self._judging = Judging(_batch.imports_of_item(item))
        self._judging.send(item, {"budget": budget, "sandbox": sandbox, "out": ""})
        return ask(Verdict.from_json(self._judging.receive()))

    def close(self) -> None:
        if self._judging is not None:
            self._judging.close()
            self._judging = None


def place_of(named: "Named", folder: str = "") -> str:
    """A path, or "path:function". Errors: ArgumentError for a function that no file has at its top."""
    if isinstance(named, (str, os.PathLike)):
        return os.path.join(os.path.abspath(folder), os.fspath(named))
    name = getattr(named, "__qualname__", "")
    if not inspect.isfunction(named) or not name.isidentifier():
        raise argument_error(f"{named!r} is no function of a module", "give one that stands at the top of a file, or its place: \"file.py:function\"")
    return f"{os.path.abspath(inspect.getsourcefile(named) or '')}:{name}"
