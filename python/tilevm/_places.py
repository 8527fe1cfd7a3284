"""Text of a program with a debug record for the Python line of each operation, so that a launch that fails names that line.

    %3 = addf %1, %2 : tile<f32> loc(#5)
    …
    #5 = loc("/home/me/kernels.py":12:9 in #3)

Tested by tests/test_builder.py.
"""
from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, List, Sequence, Tuple

    Place = Tuple[str, int, int]  # file, line, column


def _quoted(text: str) -> str:
    out = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(c if c.isprintable() and c.isascii() else "".join(f"\\x{b:02X}" for b in c.encode("utf-8", "surrogateescape"))
                   for c in out)


class _Records:
    """The records, numbered from 1; equal ones have one number."""

    def __init__(self) -> None:
        self.lines: "List[str]" = []
        self._known: "Dict[str, int]" = {}

    def add(self, text: str) -> int:
        if text not in self._known:
            self._known[text] = len(self._known) + 1
            self.lines.append(f"#{self._known[text]} = {text}")
        return self._known[text]

    def scope(self, kernel: str, place: "Place") -> int:
        folder, name = os.path.split(place[0])
        directory = f', directory = "{_quoted(folder)}"' if folder else ""
        file = self.add(f'file<name = "{_quoted(name)}"{directory}>')
        unit = self.add(f"compile_unit<file = #{file}>")
        return self.add(f'subprogram<name = "{_quoted(kernel)}", linkage_name = "{_quoted(kernel)}", file = #{file}, line = {place[1]}, '
                        f"compile_unit = #{unit}, scope_line = {place[1]}>")

    def location(self, place: "Place", scope: int) -> str:
        return f' loc(#{self.add(f"""loc("{_quoted(place[0])}":{place[1]}:{place[2]} in #{scope})""")})'


def located(lines: "Sequence[str]", places: "Sequence[Place]", kinds: "Sequence[str]") -> str:
    """The lines, those of kind "op", "close" and "end" with their places, and the records behind them. Line numbers stay."""
    import re

    records = _Records()
    out: "List[str]" = []
    kernel, scope = "", 0
    for line, place, kind in zip(lines, places, kinds):
        entry = re.match(r'entry (?:private )?@("(?:[^"\\]|\\.)*"|[^\s(]+)\(', line)
        if entry:
            kernel, scope = entry[1].strip('"'), 0
        if kind == "entry" and place[0]:
            scope = records.scope(kernel, place)
        out.append(line + (records.location(place, scope) if kind in ("op", "close", "end") and scope and place[0] else ""))
    return "\n".join(out + records.lines) + "\n"
