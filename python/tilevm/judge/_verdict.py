"""What the judge says of an answer, as an object, as JSON and as text.

    print(verdict)                 # wrong: softmax.py:14: …
    verdict.to_json()["code"]      # "judge.differs"
"""
from __future__ import annotations

import dataclasses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional

RIGHT, WRONG, UNSAFE, CHEATS, UNDECIDED = "right", "wrong", "unsafe", "cheats", "undecided"
EXIT_CODES = {RIGHT: 0, WRONG: 3, UNSAFE: 4, CHEATS: 6, UNDECIDED: 7}  # of the command, as those of `tilevm run` where they mean the same


@dataclasses.dataclass
class Verdict:
    """`verdict` and why: `code` (stable: "judge.…" or the VM's "vm.…"), `message`, `file` and `line` of the answer, `case` (the smallest input that
    shows it), `result`, `element`, `expected`, `got`, `bound`; `report`: the VM's own; `remarks`; `seconds` and `processor` seconds after
    loading; `coverage`: branches, loops, masks, selects and comparisons of the answer that were seen both ways, `seen` of `of`, and what was `never`
    seen; `replay`: a file that `tilevm replay` repeats."""

    verdict: str
    task: str
    answer: str
    code: str = ""
    message: str = ""
    file: "Optional[str]" = None
    line: "Optional[int]" = None
    case: "Optional[Dict[str, Any]]" = None
    input: str = ""
    result: "Optional[int]" = None
    element: "Optional[List[int]]" = None
    expected: "Any" = None
    got: "Any" = None
    bound: "Optional[float]" = None
    report: str = ""
    remarks: "List[str]" = dataclasses.field(default_factory=list)
    kernels: "List[str]" = dataclasses.field(default_factory=list)
    schema: str = ""
    cases: int = 0
    refused: int = 0
    seconds: float = 0.0
    processor: float = 0.0
    sandbox: bool = True
    device: str = "vm"
    coverage: "Optional[Dict[str, Any]]" = None
    replay: "Optional[str]" = None

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    def to_json(self) -> "Dict[str, Any]":
        """What is not known is left out."""
        found = {key: value for key, value in dataclasses.asdict(self).items() if value not in (None, "", [])}
        return {key: _plain(value) for key, value in found.items()}

    @staticmethod
    def from_json(found: "Dict[str, Any]") -> "Verdict":
        """What `to_json` made; fields that a verdict has not are left out."""
        return Verdict(**{key: value for key, value in found.items() if key in Verdict.__dataclass_fields__})

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.file and self.line else ""
        head = f"{self.answer}: {self.verdict}"
        lines = [head if self.verdict == RIGHT else f"{head}: {place}error[{self.code}]: {self.message}"]
        if self.input:
            lines.append(f"  with {self.input}")
        report = self.report.splitlines()
        lines += [line if line.startswith("  ") else f"  {line}" for line in report]
        tried = f"{self.cases} input{'' if self.cases == 1 else 's'} in {self.seconds:.1f} s"
        lines.append(f"  {tried}" + (f", kernels {', '.join(self.kernels)}" if self.kernels else "") + ("" if self.device == "vm" else f", on {self.device}") +
                     ("" if self.sandbox else ", without sandbox"))
        if self.verdict == RIGHT and self.coverage:
            lines.append(f"  {self.coverage['seen']} of {self.coverage['of']} branches, loops, masks, selects and comparisons were seen both ways")
            lines += [f"  not both ways: {text}" for text in self.coverage["never"]]
        lines += [f"  remark: {text}" for text in self.remarks]
        return "\n".join([*lines, f"  replay: tilevm replay {self.replay}"] if self.replay else lines)


def _plain(value: "Any") -> "Any":
    """JSON has no NaN and no infinity: they are text."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value
