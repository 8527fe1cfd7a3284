"""What `python -m tilevm.cutile` and `tilevm.triton` print when nobody catches an error of tilevm or of a frontend: what the commands print,
which names the line of the kernel, and the line of the program that led to it. Frames of the launcher and the frontend stay away, unless asked for.

    add.py:9:16: error[vm.out_of_bounds]: …
      called from add.py:31; --traceback shows all calls
"""
from __future__ import annotations

import contextlib
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator, List

_FLAG = "--traceback"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def take_flag(arguments: "List[str]") -> bool:
    """Whether --traceback stands among the options before the program; takes it away."""
    at = 1
    while at < len(arguments) and arguments[at].startswith("--"):
        if arguments[at] == _FLAG:
            del arguments[at]
            return True
        at += 1 if "=" in arguments[at] else 2
    return False


@contextlib.contextmanager
def printed(traceback: bool) -> "Iterator[None]":
    """Around the program: ends the process as Python does after an error, with status 1. Errors: SystemExit; with `traceback` what was raised."""
    from .._errors import Error
    from . import foreign

    try:
        yield
    except Exception as error:
        called = _called_from(error)
        text = str(error) if isinstance(error, Error) else None if traceback else foreign.text_of(error, called)
        if traceback or text is None:
            raise
        sys.stdout.flush()
        print(f"{text}\n  called from {called}; {_FLAG} shows all calls" if called else text, file=sys.stderr)
        raise SystemExit(1) from None


def _called_from(error: BaseException) -> str:
    """"program.py:12": the innermost line that is neither of this package nor of an installed one; "" if there is none."""
    found, at = "", error.__traceback__
    while at is not None:
        file = at.tb_frame.f_code.co_filename
        installed = "site-packages" in file or "dist-packages" in file or file.startswith((_PACKAGE, os.path.dirname(os.__file__)))
        if os.path.exists(file) and not installed:
            found = f"{file}:{at.tb_lineno}"
        at = at.tb_next
    return found
