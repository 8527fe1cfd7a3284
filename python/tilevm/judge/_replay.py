"""A finding as a file, and its repetition: the task, the answer and the input, by which `tilevm replay FILE.judge.json` shows it again.

The file names the task and the answer by path, with a hash of each, so that a changed file is said. Inputs are made again from the case.
"""
from __future__ import annotations

import contextlib
import hashlib
import json
import os

from .._errors import argument_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Optional

    from ._verdict import Verdict

SUFFIX = ".judge.json"
_VERSION = 1


def digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def write(verdict: "Verdict", folder: str, entry: str = "") -> str:
    """The path of the file; the same finding has the same."""
    os.makedirs(folder, exist_ok=True)
    stem = os.path.splitext(os.path.basename(verdict.answer))[0]
    path = os.path.join(folder, f"{stem}-{digest(verdict.answer)[:8]}-{verdict.code.replace('.', '-') or 'right'}{SUFFIX}")
    text = {"tilevm_judge": _VERSION, "entry": entry, "task_sha256": digest(verdict.task), "answer_sha256": digest(verdict.answer), **verdict.to_json()}
    part = path + ".part"
    with open(part, "w", encoding="utf-8") as file:
        json.dump(text, file, indent=1)
    os.replace(part, path)
    return path


def read(path: str) -> "Dict[str, Any]":
    """Errors: ArgumentError for a file that is none."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        if found["tilevm_judge"] != _VERSION:
            raise ValueError(f"version {found['tilevm_judge']}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise argument_error(f"{path} is no finding of the judge: {error}", "give a file that `tilevm judge` wrote") from None
    return dict(found)


def repeat(path: str) -> "Verdict":
    """The verdict on the one input of a finding. Errors: ArgumentError; UnavailableError."""
    from . import Bounds, Judge, Options, Server, imports_of, load, prepare
    from ._cases import Case
    from ._judge import Failed, judge_on
    from ._reference import Refused

    said = read(path)
    imports = imports_of(said["task"], said["answer"])
    with contextlib.ExitStack() as servers:
        prepare(imports)
        task = load(said["task"])

        def make(device: str, beside: "Optional[Judge]") -> Judge:
            options = Options(shrink=0, bounds=Bounds(sandbox=device == "vm", device=device))
            return Judge(task, said["answer"], servers.enter_context(Server(imports, device)), said.get("entry", ""), options, beside=beside)

        judge = judge_on(said.get("device", "vm"), make)
        finding, case = None, None if said.get("case") is None else Case.from_json(said["case"])
        try:
            judge.process()
            if case is not None:
                finding = judge.try_case(case)
                judge.done = [] if finding is not None else [case]
                if finding is None:
                    from . import _probes

                    finding, case = _probes.run(judge, case)
        except Failed as failed:
            finding = failed.finding
        except Refused as error:
            raise argument_error(f"the task does not take the input of {path} any more: {error}", "judge the answer again") from None
        finally:
            judge.close()
        verdict = judge._verdict(finding, case)
    for name in ("task", "answer"):
        if digest(said[name]) != said[f"{name}_sha256"]:
            verdict.remarks.append(f"{said[name]} has changed since the finding")
    return verdict
