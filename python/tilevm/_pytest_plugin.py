"""pytest plugin: a test suite that was written for a GPU runs on this CPU, and the summary says what its kernels do wrong.

    pytest --tilevm                          # cuTile and Triton kernels on the VM, torch's "cuda" is the CPU; bounds are checked
    pytest --tilevm --tilevm-check=full      # also races, reads of memory that nothing wrote, broken promises

The fixture `tilevm_judge` gives verdicts on kernels (judge/_session.py); it needs no option.

The wheel names it (entry point `pytest11`), so that pytest finds it; without --tilevm it does nothing else. Children of the tests and
workers of pytest-xdist do as pytest does. On GitHub each mistake is an annotation of its line, too.
"""
from __future__ import annotations

import os

import pytest

from ._errors import Error, without_frames
from ._warnings import KernelWarning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any, Dict, Iterator, List, Optional, Tuple

    Found = Tuple[str, str, str, str]  # severity, code, place, message

_OPTIONS = {"check": ("none", "bounds", "full"), "capability": None, "tune": ("once", "first")}
_HELP = {
    "check": "what the VM checks; default: TILEVM_CHECK, or bounds",
    "capability": "of the GPU that tests see; default: 9.0",
    "tune": "searches of configurations run each one once, or take the first; default: once",
}
_NAMED = 3  # tests that the summary names for each mistake


def pytest_addoption(parser: "Any") -> None:
    group = parser.getgroup("tilevm", "tile kernels without a GPU")
    group.addoption("--tilevm", action="store_true", help="run kernels of cuTile and Triton on this CPU; torch's \"cuda\" is the CPU")
    for name, choices in _OPTIONS.items():
        shown = None if choices else "M.N"
        group.addoption(f"--tilevm-{name}", choices=choices, metavar=shown, help=_HELP[name])


def pytest_load_initial_conftests(early_config: "Any") -> None:
    """Before any conftest.py imports torch. Errors: pytest.UsageError."""
    options = early_config.known_args_namespace
    given = {name: getattr(options, f"tilevm_{name}") for name in _OPTIONS}
    if not options.tilevm:
        for name, value in given.items():
            if value is not None:
                raise pytest.UsageError(f"--tilevm-{name} has no meaning without --tilevm\n  fix: add --tilevm")
        return
    from ._frontend.command import start, variables

    environment = dict.fromkeys(variables("--device"), "cpu")
    for name, value in given.items():
        if value is not None:
            environment.update(dict.fromkeys(variables(f"--{name}"), value))
    try:
        start(["cutile", "triton"], environment)
    except Error as error:
        raise pytest.UsageError(str(error)) from None
    early_config.pluginmanager.register(_Findings(), "tilevm-findings")


pytest.hookimpl(tryfirst=True)(pytest_load_initial_conftests)  # a decorator would take its hints away, where pytest has none


def _session() -> "Iterator[Any]":
    from .judge._session import Session

    session = Session()
    yield session
    session.close()


def _judge(request: "Any", _tilevm_judges: "Any") -> "Any":
    """tilevm_judge(task, answer, inputs=…, sizes=…, budget=5): a test fails unless the verdict is right. Paths are from the folder of the test."""
    from .judge import NotRight

    def check(task: "Any", answer: "Any", **options: "Any") -> "Any":
        try:
            return _tilevm_judges.check(task, answer, str(request.path.parent), **options)
        except NotRight as error:
            failed = error
        pytest.fail(str(failed), pytrace=False)

    return check


_tilevm_judges = pytest.fixture(scope="session")(_session)
tilevm_judge = pytest.fixture(_judge)


class _Findings:
    """Gathers what the VM says about kernels, for the summary: each mistake once, with the tests that meet it."""

    def __init__(self) -> None:
        self.tests: "Dict[Found, List[str]]" = {}

    def pytest_report_header(self) -> str:
        from ._frontend.state import State
        from ._release import __version__
        from .triton import installed

        state = installed()
        assert isinstance(state, State)
        return f"tilevm: {__version__}, \"cuda\" is this CPU as sm_{state.capability[0]}{state.capability[1]}, check={state.check or 'bounds'}"

    def pytest_runtest_makereport(self, item: "Any", call: "Any") -> "Iterator[None]":
        excinfo = call.excinfo
        found = _found_in(excinfo.value) if excinfo is not None else []
        if found and not item.config.getoption("fulltrace"):
            # The line of the test that launches a kernel is the last one; how the launch went on inside Triton says nothing about the kernel.
            shorter = without_frames(excinfo.value, _is_of_frontend)
            if shorter.__traceback__ is not None:
                call.excinfo = pytest.ExceptionInfo.from_exc_info((type(shorter), shorter, shorter.__traceback__))
        outcome: "Any" = yield
        if found:
            outcome.get_result().tilevm = found  # plain data: a worker of pytest-xdist sends it

    pytest.hookimpl(hookwrapper=True)(pytest_runtest_makereport)

    def pytest_runtest_logreport(self, report: "Any") -> None:
        if report.outcome == "failed":  # not what a test expects to fail
            for severity, code, place, message in getattr(report, "tilevm", ()):
                self._add((severity, code, place, message), report.nodeid)

    def pytest_warning_recorded(self, warning_message: "Any", nodeid: str) -> None:
        if issubclass(warning_message.category, KernelWarning):
            self._add(_of_warning(warning_message.message, warning_message, "warning"), nodeid)

    def _add(self, found: "Found", test: str) -> None:
        for known in self.tests:
            if known[:3] == found[:3]:  # the same place with other numbers
                found = known
        tests = self.tests.setdefault(found, [])
        if test not in tests:
            tests.append(test)

    def pytest_terminal_summary(self, terminalreporter: "Any") -> None:
        if not self.tests:
            return
        terminalreporter.section("tilevm: what kernels do", cyan=True)
        for (severity, code, place, message), tests in self.tests.items():
            terminalreporter.line(f"{place + ': ' if place else ''}{severity}[{code}]: {message}", red=severity == "error", yellow=severity == "warning")
            named = ", ".join(tests[:_NAMED]) + (", …" if len(tests) > _NAMED else "")
            terminalreporter.line(f"  {_count(len(tests), 'test')}: {named}")
        severities = [found[0] for found in self.tests]
        terminalreporter.line(f"{_count(severities.count('error'), 'mistake')}, {_count(severities.count('warning'), 'warning')}")
        if os.environ.get("GITHUB_ACTIONS") == "true":
            for found in self.tests:
                terminalreporter.line(_annotation(*found))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _found_in(error: "Optional[BaseException]") -> "List[Found]":
    """The mistakes that an exception, or one that it was raised from, tells of."""
    seen: "List[BaseException]" = []
    while error is not None and error not in seen:
        if isinstance(error, Error):
            return [("error", d.code, f"{d.file}:{d.line}:{d.column}" if d.line is not None else d.file or "", d.message)
                    for d in error.diagnostics if d.code]
        if isinstance(error, KernelWarning):  # which a filter raised
            return [_of_warning(error, error, "error")]
        seen.append(error)
        error = error.__cause__ or error.__context__
    return []


def _of_warning(warning: "Any", place: "Any", severity: str) -> "Found":
    """`place`: what has its file and line. The warning may come from another process, which sends its text alone."""
    from ._errors import parse

    text = str(warning)
    found = next(iter(parse(text)), None)
    file = getattr(warning, "file", None) or getattr(place, "filename", "")
    line = getattr(warning, "line", None) or getattr(place, "lineno", "")
    column = getattr(warning, "column", None)
    where = ":".join(str(part) for part in (file, line, column) if part)
    return severity, found.code if found else "", where, found.message if found else text.splitlines()[0]


def _is_of_frontend(code: "CodeType") -> bool:
    parts = code.co_filename.replace(os.sep, "/")
    return any(f"/site-packages/{name}/" in parts or f"/dist-packages/{name}/" in parts for name in ("tilevm", "triton", "cuda/tile"))


def _annotation(severity: str, code: str, place: str, message: str) -> str:
    """A command of GitHub's workflows: the message stands beside the line in the changes of a pull request."""
    def escaped(text: str, more: str = "") -> str:
        for character in "%\r\n" + more:
            text = text.replace(character, f"%{ord(character):02X}")
        return text

    parts = place.rsplit(":", 2)
    file, line, column = (parts + ["", ""])[:3] if len(parts) == 3 and parts[1].isdigit() else (place, "", "")
    root = os.environ.get("GITHUB_WORKSPACE", "")
    if root and file.startswith(root + os.sep):
        file = os.path.relpath(file, root)
    about = [f"{name}={escaped(value, ':,')}" for name, value in (("file", file), ("line", line), ("col", column), ("title", code)) if value]
    return f"::{severity} {','.join(about)}::{escaped(message)}"
