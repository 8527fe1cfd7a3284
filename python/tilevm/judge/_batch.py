"""Many verdicts: one JSON object a line, in any number of processes, from where it stopped.

    {"task": "tasks/softmax.py", "answer": "answers/17.py", "id": "17"}        a line of the input
    {"id": "17", "verdict": "wrong", "code": "judge.differs", …}               a line of the output

A line is written when its verdict is there. A later run with the same output leaves out what is in it, by `id` (default: the paths).
"""
from __future__ import annotations

import dataclasses
import json
import os
import selectors
import sys
import traceback

from .._errors import Error, UnavailableError, argument_error
from ._judging import Judging

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Optional, TextIO, Tuple

    from ._process import Server
    from ._reference import Reference
    from ._task import Task

_servers: "Dict[Any, Server]" = {}  # of this process
_tasks: "Dict[Any, Tuple[Task, Reference]]" = {}  # the last one: answers to a task follow each other


def read(path: str) -> "List[Dict[str, Any]]":
    """Errors: ArgumentError with the line that is wrong."""
    folder = os.path.dirname(os.path.abspath(path))
    found = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                item = json.loads(line)
                task, answer = item["task"], item["answer"]
            except (ValueError, KeyError, TypeError):
                raise argument_error(f"{path}:{number}: no object with `task` and `answer`", '{"task": "task.py", "answer": "answer.py"}') from None
            found.append({**item, "id": str(item.get("id", f"{task} {answer}")), "task": os.path.join(folder, task), "answer": os.path.join(folder, answer)})
    return found


def known(path: str) -> "Dict[str, str]":
    """The verdicts that a file has, by identity; a line that was cut off counts as none."""
    found = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                try:
                    said = json.loads(line)
                    found[str(said["id"])] = str(said["verdict"])
                except (ValueError, KeyError, TypeError):
                    continue
    return found


def run(items: "List[Dict[str, Any]]", jobs: int, options: "Dict[str, Any]") -> "Iterator[Dict[str, Any]]":
    """Verdicts as JSON, in the order in which they come. Errors: UnavailableError."""
    left = _Left(items)
    judges: "List[Judging]" = []
    try:
        with selectors.DefaultSelector() as selector:
            for number in range(min(max(1, jobs), len(items))):
                begun = left.next(number)
                if begun is not None:
                    judges.append(Judging(imports_of_item(begun), options.get("device", "vm").split(",")[0]))
                    judges[-1].send(begun, options)
                    selector.register(judges[-1], selectors.EVENT_READ, number)
            while selector.get_map():
                for key, _ in selector.select():
                    judging: "Any" = key.fileobj
                    selector.unregister(judging)
                    found = judging.receive()
                    following = left.next(key.data)
                    if following is not None:
                        judging.send(following, options)
                        selector.register(judging, selectors.EVENT_READ, key.data)
                    yield found
    finally:
        for judging in judges:
            judging.close()


def imports_of_item(item: "Dict[str, Any]") -> "Tuple[str, ...]":
    """What the answer's process needs; nothing for an answer that is not there, which its verdict says."""
    from . import imports_of, split, split_task

    try:
        return imports_of(split(item["answer"])[0], split_task(item["task"])[0])
    except Error:
        return ()


class _Left:
    """Items that wait, by task: a process stays with its task, whose reference it knows, then takes one that nobody has, then helps with the longest."""

    def __init__(self, items: "List[Dict[str, Any]]") -> None:
        self._by_task: "Dict[str, List[Dict[str, Any]]]" = {}
        for item in reversed(items):
            self._by_task.setdefault(item["task"], []).append(item)
        self._fresh = list(self._by_task)
        self._of: "Dict[int, str]" = {}

    def next(self, process: int) -> "Optional[Dict[str, Any]]":
        if not self._by_task.get(self._of.get(process, "")):
            left = [task for task, members in self._by_task.items() if members]
            if not left:
                return None
            self._of[process] = self._fresh.pop() if self._fresh else max(left, key=lambda task: len(self._by_task[task]))
        return self._by_task[self._of[process]].pop()


def one(item: "Dict[str, Any]", options: "Dict[str, Any]") -> "Dict[str, Any]":
    """The verdict on a line; what is no task is undecided."""
    from . import Judge, Options, imports_of, prepare, split, split_task
    from ._judge import judge_on
    from ._process import Bounds
    from ._replay import write
    from ._verdict import UNDECIDED, Verdict

    try:
        path, entry = split(item["answer"])
        imports = imports_of(path, split_task(item["task"])[0])
        devices = options.get("device", "vm")
        for device in devices.split(","):
            _server(imports, device)  # it imports while the task is loaded
        prepare(imports)
        task, reference = _task_of(item)
        chosen = Options(budget=options["budget"], shrink=options.get("shrink", Options.shrink), steered=options.get("steered", True))

        def make(device: str, beside: "Optional[Judge]") -> Judge:
            bounds = Bounds(sandbox=options["sandbox"], device=device)
            return Judge(task, path, _server(imports, device), entry, dataclasses.replace(chosen, bounds=bounds), reference, beside)

        try:
            verdict = judge_on(devices, make).run()
        except UnavailableError as error:
            if error.code != "judge.server":
                raise
            for device in devices.split(","):
                _servers.pop((imports, device)).close()  # the machine ended it: once more with another one
            verdict = judge_on(devices, make).run()
        if verdict.verdict != "right" and options.get("out") and task.path:
            verdict.replay = write(verdict, options["out"], entry)
    except Error as error:
        if error.code in ("judge.sandbox", "judge.server", "judge.device"):
            raise
        verdict = Verdict(UNDECIDED, item["task"], item["answer"], "judge.task", error.message)
    except Exception as error:  # noqa: BLE001  # of the task's own code
        verdict = Verdict(UNDECIDED, item["task"], item["answer"], "judge.task", f"{type(error).__name__}: {error}{_fix_of(error)}",
                          **_place_of(error, item["task"]))
    return {"id": item["id"], **verdict.to_json()}


def _fix_of(error: Exception) -> str:
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return ""
    return f"\n  fix: {sys.executable} -m pip install {error.name.partition('.')[0]}, or use another Python, which has it"


def _place_of(error: Exception, task: str) -> "Dict[str, Any]":
    """The last line of the task's file that the error passed."""
    from . import split_task

    file = split_task(task)[0]
    path = os.path.abspath(file)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if os.path.abspath(frame.filename) == path]
    if isinstance(error, SyntaxError) and error.filename and os.path.abspath(error.filename) == path:
        lines.append(error.lineno)
    return {"file": file, "line": lines[-1]} if lines else {}


def use(server: "Server") -> None:
    """For answers that need what it has imported."""
    _servers[server.imports, server.device] = server


def _server(imports: "Tuple[str, ...]", device: str) -> "Server":
    """Of this process; another one where an answer or the machine ended the first."""
    from ._process import Server

    known = _servers.get((imports, device))
    if known is None or not known.lives():
        _servers[imports, device] = known = Server(imports, device)
    return known


def _task_of(item: "Dict[str, Any]") -> "Tuple[Task, Reference]":
    """Loaded once for the answers to it that follow each other."""
    from . import load
    from ._reference import Reference

    key = json.dumps([item["task"], item.get("inputs"), item.get("sizes")])
    if key not in _tasks:
        _tasks.clear()
        task = load(item["task"], item.get("inputs"), item.get("sizes", ""))
        _tasks[key] = task, Reference(task)
    return _tasks[key]


def complete(path: str) -> "TextIO":
    """The output, opened to be continued: a line that was cut off is closed first."""
    file = open(path, "a+", encoding="utf-8")
    file.seek(0, os.SEEK_END)
    if file.tell():
        with open(path, "rb") as same:
            same.seek(-1, os.SEEK_END)
            if same.read(1) != b"\n":
                file.write("\n")
    return file
