"""What is wrong in a script, with the Python line that says so.

    raise script_error("script.shape", "size 3 is no power of two", "use 4")

gives "kernel.py:12:9: error[script.shape]: size 3 is no power of two" and the fix on a line of its own. Codes are stable.
"""
from __future__ import annotations

import os
import sys

from .._errors import Error, with_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Optional

    from .._places import Place

_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")


class ScriptError(Error, ValueError):
    """A mistake in a kernel written with tilevm.script: `file`, `line` and `column` of the Python code, `code`, `message`, `fix`."""


class ScriptAttributeError(ScriptError, AttributeError):
    """A name that script, a tile or an array lacks."""


def _column(frame: "FrameType") -> int:
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None or frame.f_lasti < 0:
        return 1
    import itertools

    at = next(itertools.islice(positions(), frame.f_lasti // 2, None), None)
    return 1 if at is None or at[0] != frame.f_lineno or at[2] is None else int(at[2]) + 1


def place() -> "Place":
    """File, line and column of the innermost Python code that is not of this package, nor of a library that was called with a tile."""
    frame: "Optional[FrameType]" = sys._getframe(1)
    while frame is not None and (os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE) or
                                 str(frame.f_globals.get("__name__", "")).partition(".")[0] in ("numpy", "torch")):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno, _column(frame)) if frame is not None else ("", 0, 1)


def is_unread() -> bool:
    """Whether the innermost Python code that is not of this package has no source text: its statements are Python's (_rewrite.py)."""
    import linecache

    return not linecache.getlines(place()[0])


def message_of(code: str, message: str, fix: str = "", at: "Optional[Place]" = None) -> str:
    """An error's text, at the Python line that is running, or at another."""
    file, line, column = at or place()
    where = f"{file}:{line}:{column}: " if file else ""
    return with_source(f"{where}error[{code}]: {message}" + (f"\n  fix: {fix}" if fix else ""))


def script_error(code: str, message: str, fix: str = "", at: "Optional[Place]" = None) -> ScriptError:
    """An error at the Python line that is running, or at another."""
    return ScriptError(message_of(code, message, fix, at), code)


ScriptError.__module__ = ScriptAttributeError.__module__ = "tilevm.script"  # where it is found
