"""What a reply of an answer's process says against it, apart from probes: one finding, or none.

    found = examine(reply, values, expected, …)      # None, or Finding("unsafe", "vm.out_of_bounds", …)

The order of the rules is the order in which causes hide each other: a crash, a report of the VM, elements that nobody wrote, wrong values.
"""
from __future__ import annotations

import dataclasses

from . import _compare
from ._np import numpy
from ._verdict import CHEATS, UNDECIDED, UNSAFE, WRONG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence

    from ._cases import Case
    from ._compare import Difference
    from ._reference import Expected, Result

# Warnings of full checks that leave a result right: the program may mean it.
_REMARKS = frozenset(("vm.order", "vm.not_finite", "vm.unseen_old", "vm.no_blocks", "python.gradient"))
# Errors by which an answer declines an input.
DECLINES = frozenset(("AssertionError", "ValueError", "NotImplementedError", "TypeError", "ArgumentError", "RuntimeError", "CompilationError",
                      "UnsupportedSyntaxError", "TypeCheckingError", "InvalidValueError", "UnsupportedFeatureError", "StaticAssertionError"))


@dataclasses.dataclass
class Finding:
    """`verdict`, `code`, `message`, where, and the values of a difference."""

    verdict: str
    code: str
    message: str
    file: "Optional[str]" = None
    line: "Optional[int]" = None
    report: str = ""
    difference: "Optional[Difference]" = None
    declines: bool = False  # the answer raised an error before any launch
    devices: "tuple[str, ...]" = ()  # of two that ran it, those on which this was seen

    @property
    def kind(self) -> "tuple[str, str, tuple[str, ...]]":
        return self.verdict, self.code, self.devices


_COMPILERS = {"cuda": "its own compiler", "tilec": "tilec"}


def of_both(first: "Optional[Finding]", second: "Optional[Finding]", devices: "tuple[str, str]") -> "Optional[Finding]":
    """Of the same input on two devices: where only one shows it, the message says which."""
    seen = tuple(device for device, found in zip(devices, (first, second)) if found is not None)
    found = first or second
    if found is None:
        return None
    names = [_COMPILERS.get(device, device) for device in devices]
    if len(seen) == 2:
        message = f"compiled by {names[0]} and by {names[1]}: {found.message}"
    else:
        message = f"compiled by {names[first is None]}, where what {names[first is not None]} makes of it is right: {found.message}"
    return dataclasses.replace(found, message=message, devices=seen)


def of_error(error: "Dict[str, Any]", launched: bool, elements: int) -> Finding:
    """Of an exception that the call raised."""
    file, line, text = error.get("file"), error.get("line"), str(error.get("text", ""))
    head = text.splitlines()[0] if text else ""
    if error.get("late"):
        small = elements <= 1 << 15
        return Finding(UNSAFE if small else UNDECIDED, "judge.time", f"{head}, for {elements} elements", file, line)
    if error.get("trap"):
        message = head.split("]: ", 1)[-1]
        return Finding(UNSAFE, str(error.get("code")), message, file, line, "\n".join(text.splitlines()[1:]))
    if error.get("memory"):
        return Finding(UNSAFE, "judge.memory", f"the answer asks for more memory than it may have, for {elements} elements", file, line)
    if error.get("unsupported"):
        return Finding(UNDECIDED, str(error.get("code") or "judge.unsupported"), head, file, line, "\n".join(text.splitlines()[1:]))
    if error.get("type") in ("ModuleNotFoundError", "ImportError"):
        return Finding(UNDECIDED, "judge.import", f"{error['type']}: {head}", file, line)
    if head.endswith(":"):  # Triton's CompilationError: "at 3:4:", the source, and what is wrong in its last line
        head += " " + text.rstrip().splitlines()[-1].strip()
    return Finding(WRONG, "judge.raises", f"{error.get('type')}: {head}", file, line, "\n".join(text.splitlines()[1:12]),
                   declines=not launched and error.get("type") in DECLINES)


def remarks_of(reply: "Dict[str, Any]") -> "List[str]":
    """What the VM warns of that leaves results right."""
    return [f"{w['file']}:{w['line']}: {_first_line(w['text'])}" for w in reply.get("warnings", ()) if w["code"] in _REMARKS]


def _first_line(text: str) -> str:
    return text.splitlines()[0].replace("warning[", "[", 1) if text else ""


def of_reply(reply: "Dict[str, Any]", results: "Sequence[Any]", after: "Sequence[Any]", expected: "Expected", names: "Sequence[str]",
             case: "Case", overflows: bool = True) -> "Optional[Finding]":
    """Of a call that ended well. `overflows`: whether sums of the largest numbers of the arguments may be infinite in float32."""
    for warning in reply["warnings"]:
        if warning["code"] not in _REMARKS:
            return Finding(UNSAFE, warning["code"], _first_line(warning["text"]).split("]: ", 1)[-1], warning["file"], warning["line"],
                           "\n".join(warning["text"].splitlines()[1:]))
    if reply["replaced"]:
        return Finding(CHEATS, "judge.patched", f"the answer replaces {', '.join(reply['replaced'])}")
    if reply["streams"]:
        return Finding(CHEATS, "judge.stream", f"kernel `{reply['streams'][0]}` is launched on another stream, and nothing waits for it before the call "
                       "returns: its result and its time are read too early")
    if reply["threads"] > 0:
        return Finding(CHEATS, "judge.thread", f"{reply['threads']} threads of the answer still run when the call returns")
    for missing in reply["unwritten"]:
        if missing["result"] < len(expected.results) and expected.results[missing["result"]].want.size:
            return Finding(WRONG, "judge.not_written", f"{missing['count']} of {missing['of']} elements of result {missing['result']}, first "
                           f"{missing['first']}, were written by nobody; its memory was made at {missing['made_at']}")
    difference = _compare.compare(results, expected.results)
    if difference is not None and not _is_of_order(difference, expected.results, case, overflows):
        lower = _compare.of_lower_precision(results, expected.results) if difference.code == "judge.differs" else None
        if lower is not None:
            return Finding(CHEATS, lower.code, f"{lower.text}; {difference.text}", difference=difference)
        return Finding(WRONG, difference.code, difference.text, difference=difference)
    return _of_arguments(reply, after, expected, names, case, overflows)


def _is_of_order(difference: "Difference", expected: "Sequence[Optional[Result]]", case: "Case", overflows: bool) -> bool:
    """Sums of the largest numbers overflow in one order and not in another."""
    return case.values == "extreme" and (difference.special and overflows or _compare.overflows(list(filter(None, expected))))


def _has_many_values(expected: "Expected") -> bool:
    """Whether no operand can be the result by chance, as where all bits of the other one are set."""
    return all(numpy.unique(result.want).size >= 16 for result in expected.results)


def _of_arguments(reply: "Dict[str, Any]", after: "Sequence[Any]", expected: "Expected", names: "Sequence[str]", case: "Case",
                  overflows: bool) -> "Optional[Finding]":
    for number in reply["changed"]:
        if number < len(expected.after) and expected.after[number] is None:
            name = names[number] if number < len(names) else number
            return Finding(WRONG, "judge.input_changed", f"the answer changes its argument `{name}`, the task does not")
    changed = _compare.changed_inputs(after, expected, names)
    if changed is not None and not _is_of_order(changed, expected.after, case, overflows):
        return Finding(WRONG, changed.code, changed.text, difference=changed)
    if reply["copied"] and case.example is None and case.values == "normal" and _has_many_values(expected):
        return Finding(CHEATS, "judge.copies", f"result {reply['copied'][0]} is what lay in an argument of a launch before it: a kernel copies what "
                       "something else computed")
    return None
