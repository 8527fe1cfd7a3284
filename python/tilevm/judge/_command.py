"""`tilevm judge TASK ANSWER…` and `tilevm replay FILE.judge.json` of the Python package."""
from __future__ import annotations

import argparse
import json
import sys

from .._errors import ArgumentError, Error, UnavailableError
from ._verdict import EXIT_CODES, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Optional

_ABOUT = """Judges kernels that someone, or something, else wrote: right, wrong, unsafe, cheats or undecided.

TASK is a Python file with a function and INPUTS, a module as KernelBench has it, or a function and its test as TritonBench has it;
ANSWER a Python file (Triton, cuTile, tilevm.script), file.py:function, or a .tbc. docs/judging-kernels.md describes both.
"""
_CODES = """exit codes: 0 right, 3 wrong, 4 unsafe, 6 cheats, 7 undecided (of several answers the largest); 1 no task, 2 usage, 5 environment

examples:
  tilevm judge softmax_task.py answer.py
  tilevm judge task.py answers/*.py --json --jobs=8
  tilevm judge --batch=pairs.jsonl --results=verdicts.jsonl --jobs=8
"""


def _parser() -> "argparse.ArgumentParser":
    parser = argparse.ArgumentParser("tilevm judge", description=_ABOUT, epilog=_CODES, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="?", metavar="TASK")
    parser.add_argument("answers", nargs="*", metavar="ANSWER")
    parser.add_argument("--json", action="store_true", help="print a JSON object a line")
    parser.add_argument("--budget", type=float, default=5.0, metavar="S", help="seconds of processor time for the inputs of each answer; default: 5")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="answers that are judged at a time; default: 1")
    parser.add_argument("--batch", metavar="FILE", help="lines of JSON with task, answer and id, in place of TASK and ANSWER")
    parser.add_argument("--results", metavar="FILE", help="where verdicts go, a line each; those that are there are not made again")
    parser.add_argument("--out", default=".tilevm-judge", metavar="DIR", help="where findings go, for `tilevm replay`; default: .tilevm-judge; '' for nowhere")
    parser.add_argument("--device", choices=("vm", "cuda", "tilec", "cuda,tilec"), default="vm", help="cuda: answers run on a GPU by the compilers "
                        "that they are written for, with the same inputs; tilec: on a GPU by tilec; cuda,tilec: by both, input by input; without the VM's "
                        "checks, and without a sandbox")
    parser.add_argument("--no-sandbox", action="store_true", help="run answers with all rights of this user: for those that you trust")
    return parser


def main(arguments: "Optional[List[str]]" = None) -> int:
    """The exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if bool(options.batch) == bool(options.task):
        parser.error("give TASK and ANSWER, or --batch=FILE")
    if options.device != "vm" and not options.no_sandbox:
        parser.error(f"--device={options.device} runs answers with all rights of this user: for those that you trust, add --no-sandbox")
    if options.task and not options.answers:
        parser.error(f"what answers {options.task}?")
    try:
        return _judge(options)
    except ArgumentError as error:
        return _fail(error, 1, options.json)
    except UnavailableError as error:
        return _fail(error, 5, options.json)
    except KeyboardInterrupt:
        return 130


def _fail(error: Error, code: int, as_json: bool) -> int:
    if as_json:
        said = {"severity": "error", "code": error.code, "message": error.message, "fix": error.fix}
        print(json.dumps({"result": "rejected", "diagnostics": [said]}), flush=True)
    print(error, file=sys.stderr)
    return code


def _judge(options: "argparse.Namespace") -> int:
    from . import _batch

    if options.batch:
        items = _batch.read(options.batch)
    else:
        items = [{"id": answer, "task": options.task, "answer": answer} for answer in options.answers]
        from . import split

        for item in items:
            split(item["answer"])
    done = _batch.known(options.results) if options.results else {}
    file = _batch.complete(options.results) if options.results else None
    more = {"budget": options.budget, "sandbox": not options.no_sandbox, "out": options.out, "device": options.device}
    worst = max((EXIT_CODES.get(done[item["id"]], 0) for item in items if item["id"] in done), default=0)
    for found in _batch.run([item for item in items if item["id"] not in done], options.jobs, more):
        worst = max(worst, EXIT_CODES[found["verdict"]])
        if file is not None:
            file.write(json.dumps(found) + "\n")
            file.flush()
        if found.get("code") == "judge.task" and not options.batch:
            worst = 1
        print(json.dumps(found) if options.json else Verdict.from_json(found), flush=True)
    if file is not None:
        file.close()
    return worst


def replay(paths: "List[str]") -> int:
    """`tilevm replay FILE.judge.json…`: the exit code."""
    from . import _replay

    worst = 0
    for path in paths:
        try:
            verdict = _replay.repeat(path)
        except ArgumentError as error:
            return _fail(error, 1, False)
        except UnavailableError as error:
            return _fail(error, 5, False)
        print(verdict)
        worst = max(worst, verdict.exit_code)
    return worst
