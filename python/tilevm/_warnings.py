"""What the VM says about a kernel that works on hardware, but is probably not meant: a Python warning at the kernel's line.

    warnings.simplefilter("error", tilevm.KernelWarning)     # raise it; check="full" makes an error of it, too
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Callable, Dict, List, Optional, Tuple

_said: "Dict[Any, Any]" = {}  # where Python's warnings remember what was issued


class KernelWarning(UserWarning):
    """What a kernel does that works on hardware, but is probably not meant. `code` is stable ("vm.index_out_of_bounds"), `file`, `line` and
    `column` are the kernel's; the warning is issued there, once if Python's filters are as always. Its text begins with the place only where a
    filter raises it, as Python prints the place of a warning itself."""

    def __init__(self, text: str, code: str = "", file: "Optional[str]" = None, line: "Optional[int]" = None, column: "Optional[int]" = None) -> None:
        super().__init__(text)
        self.code = code
        self.file = file
        self.line = line
        self.column = column


def caller(packages: "Tuple[str, ...]" = ("tilevm",)) -> "FrameType":
    """The frame of the program that called these packages."""
    import sys

    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in packages:
        frame = frame.f_back
    return frame


def warn_caller(code: str, message: str, fix: str, packages: "Tuple[str, ...]" = ("tilevm",)) -> None:
    """Issues a warning about a call, at the line of the program that made it. Errors: KernelWarning, where filters say so."""
    import warnings

    frame = caller(packages)
    warnings.warn_explicit(KernelWarning(f"warning[{code}]: {message}\n  fix: {fix}", code), KernelWarning, frame.f_code.co_filename,
                           frame.f_lineno, registry=_said)


def tell_warnings(texts: "List[str]", renamed: "Callable[[str], str]" = str) -> None:
    """Issues warnings, for the extension. `renamed` changes the text that is shown. Errors: KernelWarning, where filters say so."""
    import warnings

    from ._errors import parse, shown

    for text in map(shown, texts):
        found = next(iter(parse(text)), None)
        if found is None:
            continue
        said = renamed(text)
        place = f"{found.file}:{found.line}:{found.column}: "
        about = found.code, found.file, found.line, found.column
        try:
            warnings.warn_explicit(KernelWarning(said[len(place):] if said.startswith(place) else said, *about), KernelWarning,
                                   found.file or "<kernel>", found.line or 1, registry=_said)
        except KernelWarning:
            raise KernelWarning(said, *about) from None
