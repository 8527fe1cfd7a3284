"""The judge of one answer to one task: tries inputs until something is wrong, or until the budget is used up.

    verdict = Judge(task, "answer.py", server).run()

It makes inputs (_cases.py), computes what is right (_reference.py), asks the answer's process (_process.py), examines replies
(_findings.py), and asks for more than results: what a second call gives, and what is left when no kernel runs (_probes.py). The first
finding is shrunk to the smallest input that shows it.
"""
from __future__ import annotations

import dataclasses
import os
import statistics
import time

from .._errors import UnavailableError
from . import _cases, _coverage, _findings, _launches, _probes, _values
from ._findings import Finding
from ._model import SEED
from ._numbers import FORMATS
from ._process import Bounds, Ended
from ._reference import Reference, Refused, flatten
from ._reply import Reply, Unbelievable, error_of
from ._verdict import CHEATS, RIGHT, UNDECIDED, UNSAFE, WRONG, Verdict
from ._schema import ArrayInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Tuple

    from ._cases import Case
    from ._process import AnswerProcess, Server
    from ._reference import Expected
    from ._task import Task


_FEW = 4  # elements
_COLLISIONS = frozenset(("vm.race", "vm.duplicate_store", "vm.order"))  # of elements that several lanes or blocks write


@dataclasses.dataclass(frozen=True)
class Options:
    """`budget`: seconds of processor time for inputs, beside loading, so that a busy machine tries as many; `case_seconds`: of one call; `least`:
    inputs without which nothing is right; `shrink`: seconds for the smallest input; `probes`: whether it is asked what a second call gives, and what
    is left when no kernel runs; `steered`: whether inputs follow what was never seen of the answer."""

    budget: float = 5.0
    case_seconds: float = 10.0
    least: int = 6
    shrink: float = 2.0
    probes: bool = True
    steered: bool = True
    bounds: Bounds = Bounds()


class Judge:
    """Of one answer. `entry`: the function that is meant, "" for the usual one; `reference`: that of the task, where several answers share it;
    `beside`: of the same answer on another device, which gets the same inputs."""

    def __init__(self, task: "Task", answer: str, server: "Server", entry: str = "", options: Options = Options(),
                 reference: "Optional[Reference]" = None, beside: "Optional[Judge]" = None) -> None:
        self.task, self.answer, self.entry, self.server, self.options = task, os.path.abspath(answer), entry, server, options
        self.reference = reference or Reference(task)
        self.beside = beside
        self.remarks: "List[str]" = list(task.remarks)
        self.kernels: "Dict[str, None]" = {}
        self.constants: "set[int]" = set()  # of the answer's text and of its launches: sizes around them are tried
        self.done: "List[Case]" = []
        self._refused_examples = 0
        self.refused, self._why = 0, "nothing"  # inputs that the task does not take, and what it says to the last one
        self.declined: "List[Tuple[Finding, Case]]" = []
        self._times: "List[float]" = []
        self._slow: "set[Tuple[Tuple[str, int], ...]]" = set()  # sizes that are tried no more
        self._slower: "set[Tuple[Tuple[str, int], ...]]" = set()  # … that took long once
        self.coverage = _coverage.Coverage(self.answer)
        self.launched = 0  # cases in which a kernel ran
        self._process: "Optional[AnswerProcess]" = None
        self._begin, self._own, self._asked = time.monotonic(), time.process_time(), 0.0
        arrays = [item for item in task.schema.inputs if isinstance(item, ArrayInput)]
        self.names = [item.name for item in arrays]
        self._overflows = not all(FORMATS[item.dtype].largest <= 65504 for item in arrays if item.is_float)

    def run(self) -> Verdict:
        """Errors: UnavailableError, if no process can be shut in."""
        try:
            finding, case = self._search()
            if finding is not None and case is not None and finding.code == "judge.differs" and case.example is None:
                finding, case = self._named(finding, case)
            if finding is not None and case is not None and finding.verdict in (WRONG, UNSAFE):
                finding, case = self._shrunk(finding, case)
            by_tilec = self if self.options.bounds.device == "tilec" else self.beside if finding is not None and "tilec" in finding.devices else None
            if finding is not None and case is not None and by_tilec is not None and finding.difference is not None:
                text = _launches.first_operation(by_tilec, case, "--device=cuda", "--compile")
                finding = dataclasses.replace(finding, message=f"{finding.message}; the VM's result is right: {text}") if text else finding
        finally:
            self.close()
        return self._verdict(finding, case)

    # --- the process

    def process(self) -> "AnswerProcess":
        """With the answer loaded. Errors: _Failed with what loading found."""
        if self._process is None:
            self._process = self.server.open(self.answer, [self.task.path], self.options.bounds)
            try:
                reply, _ = self._process.ask({"do": "load", "path": self.answer, "entry": self.entry, "names": self.task.names}, (), 60)
                if reply.get("ok") is True and self.task.model is not None:
                    said, blobs = _values.pack([list(self.task.init), dict(self.task.model.state_dict())])
                    message = {"do": "make", "arguments": said["items"][0], "state": said["items"][1], "seed": SEED}
                    reply, _ = self._process.ask(message, blobs, 60)
                error = None if reply.get("ok") is True else error_of(reply)
            except (Ended, Unbelievable) as ended:
                self._end_process()
                raise _Failed(Finding(UNSAFE, "judge.died", f"while it is loaded: {ended}")) from None
            if error is not None:
                self._end_process()
                if error.get("code") == "judge.device":
                    raise UnavailableError(str(error["text"]))
                found = _findings.of_error(error, False, 0)
                raise _Failed(dataclasses.replace(found, code="judge.load") if found.code == "judge.raises" else found)
        return self._process

    def close(self) -> None:
        if self.beside is not None:
            self.beside.close()
        self._end_process()

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None

    def call(self, arguments: "Tuple[Any, ...]", off: bool = False, keep: bool = False, into: bool = False, record: str = "") -> Reply:
        """`record`: a folder for what it launches. Errors: _Failed with what the call ended in."""
        given, named = _values.split(arguments)
        said, blobs = _values.pack([list(given), named])
        elements = sum(len(blob) for blob in blobs) // 4
        message = {"do": "call", "arguments": said["items"][0], "named": said["items"][1], "off": off, "keep": keep, "into": into,
                   "record": record, "seconds": self.options.case_seconds}
        process = self.process()
        before = process.seconds
        try:
            reply, out = process.ask(message, blobs, self.options.case_seconds + 5)
        except Ended as error:
            self._end_process()
            raise _Failed(Finding(UNSAFE, "judge.time" if error.late else "judge.died", str(error))) from None
        self._asked += process.seconds - before
        try:
            if reply.get("ok") is True:
                return Reply(reply, out)
            raised = error_of(reply)
        except Unbelievable as unbelievable:
            self._end_process()
            raise _Failed(Finding(UNSAFE, "judge.died", f"its process sent what is no result: {unbelievable}")) from None
        if raised["late"] or self.options.bounds.device != "vm":  # an error of a kernel is the end of a GPU's context
            self._end_process()
        raise _Failed(_findings.of_error(raised, bool(reply.get("launches")), elements))

    # --- inputs

    def arguments(self, case: "Case") -> "Tuple[Any, ...]":
        return _cases.build(self.task.schema, case, self.task.examples)

    def expect(self, case: "Case") -> "Tuple[Tuple[Any, ...], Expected]":
        """Errors: Refused."""
        arguments = self.arguments(case)
        expected = self.reference.expect(arguments, case)
        if case.example is None and not self.task.schema.declared and expected.is_nan:
            usual = _probes.plain(case)
            if usual == case or self.reference.expect(self.arguments(usual), usual).is_nan:
                raise Refused("it gives NaN alone for usual numbers of these sizes")  # which its example has not
        return arguments, expected

    def try_case(self, case: "Case") -> "Optional[Finding]":
        """Errors: Refused."""
        found = self._try(case)
        if self.beside is None:
            return found
        devices = self.options.bounds.device, self.beside.options.bounds.device
        return _findings.of_both(found, self.beside._try(case), devices)

    def _try(self, case: "Case") -> "Optional[Finding]":
        arguments, expected = self.expect(case)
        try:
            reply = self.call(arguments)
        except _Failed as failed:
            # Sums of the largest numbers overflow in one order and not in another.
            if self.is_of_task(failed.finding, case):
                raise Refused(f"its own kernels do the same: {failed.finding.code}") from None
            return None if failed.finding.code == "vm.order" and case.values == "extreme" else failed.finding
        self._note(reply, expected, case)
        found, expected = self.examined(arguments, expected, reply, case)
        if found is not None and self.is_of_task(found, case):
            raise Refused(f"its own kernels do the same: {found.code}")
        return found or _probes.of_work(self, case, reply, expected)

    def is_of_task(self, found: Finding, case: "Case") -> bool:
        """Whether the task's own kernels are reported for the same, as for indices that come twice: then it does not take the input. So for
        elements that they leave as they are."""
        by_order = found.code in _COLLISIONS or found.code == "judge.differs" and self.options.bounds.device != "vm"  # no races are seen there
        if not by_order and not found.code.startswith(("vm.", "judge.not_written")) or not self.reference.has_kernels:
            return False
        codes = self.reference.reports(self.arguments(case))
        return found.code in codes or by_order and bool(codes & _COLLISIONS)

    def examined(self, arguments: "Tuple[Any, ...]", expected: "Expected", reply: Reply, case: "Case") -> "Tuple[Optional[Finding], Expected]":
        """What is wrong with a reply, and what was expected: tf32 widens it where the answer may use that. Errors: Refused."""
        found = _findings.of_reply(reply.said, reply.results, reply.after, expected, self.names, case, self._overflows)
        if found is not None and found.code == "judge.differs" and reply.said["tf32"] and self.task.tf32 is None:
            reference = self.reference.with_tf32()
            wider = reference.expect(arguments, case)
            if _findings.of_reply(reply.said, reply.results, reply.after, wider, self.names, case, self._overflows) is None:
                found, expected, self.reference = None, wider, reference
                self.remark("judge.tf32: tl.dot rounds operands of float32 to tf32, its default; `TF32 = False` in the task makes that wrong")
        if found is not None and _is_of_few(found, expected):
            closer = self.reference.closer().expect(arguments, case)
            found = _findings.of_reply(reply.said, reply.results, reply.after, closer, self.names, case, self._overflows)
        if found is not None and found.code in ("judge.differs", "judge.special") and self.reference.is_random_at(arguments):
            raise Refused("its result is random")
        return found, expected

    def _note(self, reply: Reply, expected: "Expected", case: "Case") -> None:
        for name, _, constants in reply.said["launches"]:
            self.kernels[str(name)] = None
            self.constants.update(v for v in constants.values() if type(v) is int)
        self.launched += bool(reply.said["launches"])
        self.coverage.add(reply.said["coverage"], case, self.task.schema.elements(case.by_name) if case.example is None else 0)
        for text in [*_findings.remarks_of(reply.said), *expected.remarks]:
            self.remark(text)

    def remark(self, text: str) -> None:
        """Once for each line and code: the numbers differ from input to input."""
        place = text.split("]: ")[0]
        if place not in [known.split("]: ")[0] for known in self.remarks] and len(self.remarks) < 12:
            self.remarks.append(text)

    def spent(self) -> float:
        """Processor time since the answer was loaded, of this process and of those of the answer."""
        return time.process_time() - self._own + self._asked + (0.0 if self.beside is None else self.beside._asked)

    def _search(self) -> "Tuple[Optional[Finding], Optional[Case]]":
        for each in filter(None, (self, self.beside)):
            try:
                each.process()
            except _Failed as failed:
                return dataclasses.replace(failed.finding, devices=(each.options.bounds.device,)), None
        with open(self.answer, "rb") as file:
            text = file.read().decode("utf-8", "replace") if self.answer.endswith(".py") else ""
        self._begin, self._own, self._asked = time.monotonic(), time.process_time(), 0.0
        self.constants.update(_cases.constants_of(text))
        self.coverage.factors = _coverage.factors_of(text)
        tried, examples = 0, len(self.task.examples)  # … that were not tried yet: calls of the task's test, whose types may differ
        plan = _cases.plan(self.task.schema, self.constants, len(self.task.examples))
        for case in _coverage.steered(plan, self.coverage, self.task.schema) if self.options.steered else plan:
            tried += 1
            enough = len(self.done) >= self.options.least and not examples
            if self.spent() > self.options.budget and enough or self.spent() > 4 * self.options.budget or tried > 400:
                break
            examples -= case.example is not None
            if not self._affordable(case):
                continue
            before = self.spent()
            try:
                found = self.try_case(case)
            except Refused as refused:
                self.refused += 1
                self._why = str(refused)
                self._refused_examples += case.example is not None
                if self._refused_examples == len(self.task.examples) > 0 and not self.done:
                    break  # it refuses what its own test gives it
                continue
            if self.reference.strange:
                return Finding(UNDECIDED, "judge.no_value", f"the task's result is of type {self.reference.strange}, neither an array nor a number"), None
            if self.reference.random:
                return Finding(UNDECIDED, "judge.random", "the task gives other results at each call"), case
            if found is not None and found.declines and case.example is None and not self.task.schema.declared:
                self._decline(found, case)
                continue
            if found is not None:
                return found, case
            self.done.append(case)
            self._note_time(case, self.spent() - before)
            if len(self.done) in (3, 14) and self.options.probes:
                found, where = _probes.run(self, case)
                if found is not None:
                    return found, where
        return self._end()

    def _note_time(self, case: "Case", seconds: float) -> None:
        """Sizes that take much longer than others are tried once, or twice, for the first time may be longer than others: what they show beyond that is
        not worth what they take."""
        self._times.append(seconds)
        if seconds > self.options.budget / 20 and seconds > 5 * statistics.median(self._times) and case.example is None:
            (self._slow if case.sizes in self._slower or seconds > self.options.budget / 5 else self._slower).add(case.sizes)

    def _affordable(self, case: "Case") -> bool:
        if case.example is None:
            return case.sizes not in self._slow
        size = sum(_values.count(a) for a in flatten(list(self.task.examples[case.example])) if _values.is_array(a))
        if size > 1 << 20:
            self.remark(f"the task's example of {size} elements was not tried: it takes longer than the budget")
            return False
        return True

    def _decline(self, found: Finding, case: "Case") -> None:
        self.declined.append((found, case))
        if len(self.declined) == 1:
            self.remark(f"the answer declines some inputs that the task takes: {found.message[:160]}, with {case.text()}")

    def _end(self) -> "Tuple[Optional[Finding], Optional[Case]]":
        if not self.done:
            if self.declined:
                return self.declined[0]
            text = f"no input was found that the task takes; say what it takes by INPUTS. Its function raises {self._why}"
            return Finding(UNDECIDED, "judge.no_input", text), None
        found, case = _probes.run(self, self.done[-1]) if len(self.done) < 14 and self.options.probes else (None, self.done[-1])
        if found is None and self.options.probes:
            case = max(self.done, key=lambda c: self.task.schema.elements(c.by_name) if c.example is None else 0)
            found = _probes.switched_off(self, case)
        if found is None and len(self.done) < self.options.least:
            found = Finding(UNDECIDED, "judge.few", f"only {len(self.done)} inputs were tried; give it a larger --budget")
        return found, case if found is not None else None

    # --- what it is, and the smallest input

    def _named(self, finding: Finding, case: "Case") -> "Tuple[Finding, Case]":
        """A wrong value may be a cheat; that is seen where there are more elements."""
        larger = self.larger(case)
        try:
            found = self.try_case(larger)
        except Refused:
            return finding, case
        if found is not None and found.verdict == CHEATS:
            return found, larger
        if found is not None and found.code == finding.code and _probes.constant(self, larger):
            text = f"the result is the same for other inputs; {found.message}"
            return dataclasses.replace(found, verdict=CHEATS, code="judge.constant", message=text), larger
        return finding, case

    def larger(self, case: "Case") -> "Case":
        """The case with at least some dozen elements, where the task allows it, and not many more: a probe computes several results."""
        schema = self.task.schema
        if schema.elements(case.by_name) >= 64:
            return case
        fitting = []
        for number in (9, 16, 20, 37, 64):
            sizes = {name: max(size, number) for name, size in case.sizes}
            if schema.allows(sizes) and schema.elements(sizes) <= 1 << 14:
                fitting.append(sizes)
        chosen = next((sizes for sizes in fitting if schema.elements(sizes) >= 64), fitting[-1] if fitting else None)
        return case if chosen is None else dataclasses.replace(case, sizes=tuple(chosen.items()), values="normal", layout="contiguous")

    def _shrunk(self, finding: Finding, case: "Case") -> "Tuple[Finding, Case]":
        """Tries simpler inputs, one change at a time, as long as they show the same."""
        until = self.spent() + self.options.shrink
        changed = case.example is None
        while changed and self.spent() < until:
            changed = False
            for other in _simpler(case):
                if self.spent() > until or not self.task.schema.allows(other.by_name):
                    continue
                try:
                    found = self.try_case(other)
                except Refused:
                    continue
                if found is not None and found.kind == finding.kind:
                    finding, case, changed = found, other, True
                    break
        return finding, case

    def _verdict(self, finding: "Optional[Finding]", case: "Optional[Case]") -> Verdict:
        verdict = Verdict(RIGHT if finding is None else finding.verdict, self.task.path, self.answer, schema=self.task.schema.text(),
                          remarks=self.remarks, kernels=list(self.kernels), cases=len(self.done) + (finding is not None and case is not None),
                          refused=self.refused, seconds=round(time.monotonic() - self._begin, 3), processor=round(self.spent(), 3),
                          sandbox=self.options.bounds.sandbox,
                          device=",".join(each.options.bounds.device for each in (self, self.beside) if each is not None))
        verdict.coverage = self.coverage.summary() if self.coverage.points else None
        if finding is None:
            return verdict
        verdict.code, verdict.message, verdict.report = finding.code, finding.message, finding.report
        verdict.file, verdict.line = finding.file, finding.line
        if case is not None:
            verdict.case, verdict.input = case.to_json(), case.text()
        if finding.difference is not None:
            d = finding.difference
            verdict.result, verdict.element, verdict.bound = d.result, list(d.index), d.bound
            verdict.expected, verdict.got = d.expected, d.got
        return verdict


class _Failed(Exception):
    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


Failed = _Failed


def judge_on(devices: str, make: "Callable[[str, Optional[Judge]], Judge]") -> Judge:
    """That of the first device, beside those of the others: `devices` are names with commas between them, and it comes from make(device, beside)."""
    first, *others = devices.split(",")
    beside = None
    for device in reversed(others):
        beside = make(device, beside)
    return make(first, beside)


def _is_of_few(found: Finding, expected: "Expected") -> bool:
    """Whether few ways in which rounding goes may not have shown how far it leads: for few integers, which may lie next to what decides about them, and
    for a result without neighbours that err as it does."""
    difference = found.difference
    if found.code != "judge.differs" or difference is None or difference.result >= len(expected.results):
        return False
    if expected.results[difference.result].want.dtype.kind == "f":
        return difference.elements <= _FEW
    return difference.wrong <= max(1, difference.elements // 100)


def _simpler(case: "Case") -> "List[Case]":
    found = []
    if case.layout != "contiguous":
        found.append(dataclasses.replace(case, layout="contiguous"))
    if case.values != "normal":
        found.append(dataclasses.replace(case, values="normal"))
    for i, (name, size) in enumerate(case.sizes):
        for smaller in dict.fromkeys((1, 2, 3, size // 2, size - 1)):
            if 0 < smaller < size:
                found.append(dataclasses.replace(case, sizes=(*case.sizes[:i], (name, smaller), *case.sizes[i + 1:])))
    return found


__all__ = ["Failed", "Judge", "Options"]
