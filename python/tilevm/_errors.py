"""What goes wrong, as exceptions that carry what the diagnostic says.

    try:
        kernel(x, y)
    except tilevm.TrapError as error:
        print(error.code, error.file, error.line, error.array, error.index)

A message is "file:line:col: error[code]: what", further lines, "  fix: how"; this module takes it apart.
"""
from __future__ import annotations

import functools
import os
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Optional, Tuple, Type, TypeVar, Union

    E = TypeVar("E", bound=BaseException)
    F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


class Diagnostic:
    """One mistake: `code` (stable, "vm.out_of_bounds"), `severity` ("error" or "warning"), `file`, `line` and `column` (from 1;
    None where there is no place), `message`, `fix` ("" if there is none), `notes` (further lines: the source, where it happened)."""

    __slots__ = ("code", "severity", "file", "line", "column", "message", "fix", "notes")

    def __init__(self, code: str, severity: str, where: str, message: str, fix: str, notes: Tuple[str, ...]) -> None:
        self.code = code
        self.severity = severity
        self.file: Optional[str] = None
        self.line: Optional[int] = None
        self.column: Optional[int] = None
        self.message = message
        self.fix = fix
        self.notes = notes
        parts = where.rsplit(":", 2)
        if len(parts) == 3 and parts[1].isdigit() and parts[2].isdigit():
            self.file, self.line, self.column = parts[0], int(parts[1]), int(parts[2])
        elif where:
            self.file = where

    @property
    def _place(self) -> str:
        return "" if self.file is None else self.file if self.line is None else f"{self.file}:{self.line}:{self.column}"

    def __str__(self) -> str:
        """As the commands print it."""
        head = f"{self._place}: " if self._place else ""
        lines = [f"{head}{self.severity}[{self.code}]: {self.message}", *self.notes]
        return "\n".join([*lines, f"  fix: {self.fix}"] if self.fix else lines)

    def __repr__(self) -> str:
        return f"<{self.severity} {self.code} at {self._place or 'no place'}: {self.message}>"


def parse(text: str) -> "Tuple[Diagnostic, ...]":
    """The diagnostics of a message, in order."""
    import re

    head = re.compile(r"^(?:(?P<where>[^\n]*?): )?(?P<severity>error|warning)\[(?P<code>[^\]\s]*)\]: (?P<message>.*)$")
    found: "list[Diagnostic]" = []
    lines: "list[str]" = []

    def finish() -> None:
        match = head.match(lines[0]) if lines else None
        if match is None:
            return
        fixes = [line.strip()[5:] for line in lines[1:] if line.startswith("  fix: ")]
        notes = tuple(line for line in lines[1:] if not line.startswith("  fix: "))
        found.append(Diagnostic(match["code"], match["severity"], match["where"] or "", match["message"], "\n".join(fixes), notes))

    for line in text.splitlines():
        if line[:1] not in ("", " ") and head.match(line):
            finish()
            lines = []
        lines.append(line)
    finish()
    return tuple(found)


_SOURCES = (".py", ".tile", ".ttir", ".mlir", ".cu", ".cuh", ".cc", ".cpp", ".cxx", ".h", ".hpp")


def _excerpt(place: str) -> str:
    """The line of "file:12:9" and a caret below; "" if there is none. A program may come from anywhere, so only sources are read."""
    import linecache

    file, line, column = place.rsplit(":", 2)
    if not file.endswith(_SOURCES) and file not in linecache.cache:  # a cell of a notebook is there
        return ""
    text = linecache.getline(file, int(line)).rstrip()
    if not text.strip():
        return ""
    behind = text.encode()[max(int(column) - 1, 0):].lstrip()  # cuTile and Triton count columns from 0, and may know the line only
    at = len(text.encode()) - len(behind)
    before = text.encode()[:at].decode("utf-8", "replace")
    if len(before) > 100:  # of a very long line what stands around the place
        text, before = text[len(before) - 50:], before[-50:]
    text = text[:len(before) + 100]
    return "    " + text + "\n    " + "".join("\t" if c == "\t" else " " for c in before) + "^"


def with_source(text: str) -> str:
    """Diagnostics with the lines of the sources that they name: where each is, and what a race names behind "at"."""
    import re

    place = re.compile(r"(\S[^\n]*?:\d+:\d+)")
    out: "list[str]" = []
    lines = text.split("\n")
    i = 0
    while i < len(lines):
        line, end = lines[i], i + 1
        while end < len(lines) and lines[end].startswith("  ") and not lines[end].startswith("  fix: "):  # where it happened
            end += 1
        body = lines[i + 1:end]
        out += lines[i:end]
        i = end
        head = re.match(rf"{place.pattern}: (?:error|warning)\[", line)
        if line.startswith(" ") or head is None or any(part.startswith("    ") for part in body):
            continue
        others = re.findall(r" at (\S+:\d+:\d+)(?=[ ,;:.)]|$)", line[head.end():])
        for where in dict.fromkeys([head[1], *others]):
            shown = _excerpt(where)
            if shown:
                out += ([] if where == head[1] else [f"  {where}:"]) + [shown]
    return "\n".join(out)


class Error(Exception):
    """What every failure of tilevm is. `str(error)` is the whole text, as the command line prints it.

    `diagnostics` has every mistake of a program; `code`, `file`, `line`, `column`, `message`, `fix` and `notes` are those of the
    first."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.diagnostics: "Tuple[Diagnostic, ...]" = parse(text)
        if not self.diagnostics:
            self.diagnostics = (Diagnostic(code, "error", "", text, "", ()),)
        first = self.diagnostics[0]
        self.code: str = first.code
        self.file: "Optional[str]" = first.file
        self.line: "Optional[int]" = first.line
        self.column: "Optional[int]" = first.column
        self.message: str = first.message
        self.fix: str = first.fix
        self.notes: "Tuple[str, ...]" = first.notes


class ArgumentError(Error, ValueError):
    """A wrong argument: type, shape, size, a missing one."""


class NotFoundError(Error, LookupError):
    """There is no kernel, argument or file of that name."""


class ModuleError(Error):
    """A program that cannot be read, or that breaks rules; `diagnostics` has every mistake."""


class UnavailableError(Error):
    """This machine lacks it: a driver, a GPU, the compiler."""


class UnsupportedError(Error):
    """The module has no machine code for this device, or the device cannot do that."""


class OutOfMemoryError(Error, MemoryError):
    """No memory, on the machine or on the device."""


class TrapError(Error):
    """A kernel made a mistake while it ran.

    `kernel`, `block` (x, y, z), `op` (mnemonic), and, where the mistake is an access, `array` (its name) and `index` (elements,
    a number or one per dimension); None where they are not known."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text, code)
        import re

        rest = "\n".join(note for note in self.notes if note.startswith("  in kernel "))
        kernel = re.search(r"in kernel `([^`]*)`", rest)
        block = re.search(r"block \((\d+), (\d+), (\d+)\)", rest)
        op = re.search(r", at ([^\s,]+)", rest)
        place = re.search(r"`([^`]+)`\[([\d, ]+)\]", self.message)  # of two accesses that nothing orders
        array = place or re.search(r"(?:of|over|constant|pointer:) `([^`]+)`", self.message)
        index = re.search(r"at index (-?\d+)|element \[([\d, ]+)\] of the [^`]*tensor|index (-?\d+) of dimension", self.message)
        self.kernel: "Optional[str]" = kernel[1] if kernel else None
        self.block: "Optional[Tuple[int, int, int]]" = (int(block[1]), int(block[2]), int(block[3])) if block else None
        self.op: "Optional[str]" = op[1] if op else None
        self.array: "Optional[str]" = array[1] if array else None
        self.index: "Union[int, Tuple[int, ...], None]" = None
        if place:
            numbers = tuple(int(part) for part in place[2].split(","))
            self.index = numbers if len(numbers) > 1 else numbers[0]
        elif index and index[2]:
            self.index = tuple(int(part) for part in index[2].split(","))
        elif index:
            self.index = int(index[1] or index[3])


class StateError(Error):
    """Not now: the stream records a graph, the event was never recorded."""


class InternalError(Error):
    """A mistake of tilevm or of the driver."""


class StoppedError(Error):
    """The launch was stopped from outside: the interpreter ends."""


_BY_STATUS: "dict[int, Type[Error]]" = {
    1: ArgumentError, 2: NotFoundError, 3: ModuleError, 4: UnavailableError, 5: UnsupportedError,
    6: OutOfMemoryError, 7: TrapError, 8: StateError, 9: InternalError, 10: StoppedError,
}


def make_error(status: int, code: str, text: "Union[str, bytes]") -> Error:
    """The exception of a status of tilevm.h and its message."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    text = shown(text)
    if status == 7:
        text = with_source(text)
    return _BY_STATUS.get(status, InternalError)(text, code)


_CONTROLS = "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"


def shown(text: str) -> str:
    """Text of strangers, kept from steering a terminal: control characters, those that change the direction of text, and what is not
    UTF-8 become \\xNN or \\uNNNN."""
    if text.isascii() and text.isprintable():
        return text
    import re

    return re.sub(_CONTROLS, lambda m: f"\\x{ord(m[0]):02x}" if ord(m[0]) < 256 else f"\\u{ord(m[0]):04x}", text)


def argument_error(message: str, fix: str = "") -> ArgumentError:
    """A mistake that Python finds before the library does."""
    return ArgumentError(f"error[python.arguments]: {shown(message)}" + (f"\n  fix: {shown(fix)}" if fix else ""))


def without_package(error: "Error") -> "Error":
    """The error with a traceback of its callers' code alone: the frames of this package say nothing that its message does not."""
    return without_frames(error, lambda code: code.co_filename.startswith(_PACKAGE))


def without_frames(error: "E", dropped: "Callable[[types.CodeType], bool]") -> "E":
    """The error with a traceback that lacks frames of some code."""
    frames: "list[types.TracebackType]" = []
    at = error.__traceback__
    while at is not None:
        if not dropped(at.tb_frame.f_code):
            frames.append(at)
        at = at.tb_next
    made: "Optional[types.TracebackType]" = None
    for one in reversed(frames):
        made = types.TracebackType(made, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return error.with_traceback(made)


def entry(function: "F") -> "F":
    """Makes a function that users call: what goes wrong below it is shown at their line. IPython and pytest hide its own frame."""

    @functools.wraps(function)
    def call(*args: "Any", **named: "Any") -> "Any":
        __tracebackhide__ = True
        try:
            return function(*args, **named)
        except Error as error:
            found = error
        raise without_package(found)

    return call  # type: ignore[return-value]
