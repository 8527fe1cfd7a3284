"""What the VM says about a kernel, in the words of its author: errors and warnings with the kernel's name in Python."""
from __future__ import annotations

import re

from .._device import deliver_print
from .._errors import TrapError, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List

_names: "Dict[str, str]" = {}
_said: "Dict[Any, Any]" = {}  # where Python's warnings remember what was issued


class KernelWarning(UserWarning):
    """What a kernel does that works on hardware, but is probably not meant. `code` is stable ("vm.index_out_of_bounds"); the warning is
    issued at the line of the kernel, once if Python's filters are as always."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code


def name_kernel(symbol: str, name: str) -> None:
    """`symbol`: what cuTile calls a kernel for the types of its arguments."""
    _names[symbol] = name


def _renamed(text: str) -> str:
    return re.sub("in kernel `([^`]*)`", lambda m: f"in kernel `{_names.get(m[1], m[1])}`", text)


def named(error: BaseException) -> BaseException:
    """A TrapError with the kernel's name in Python; other errors as they are."""
    if not isinstance(error, TrapError):
        return error
    if error.code == "vm.assert":
        deliver_print(error.message + "\n")  # as a GPU does
    return TrapError(_renamed(str(error)), error.code)


def tell(texts: "List[str]") -> None:
    """Issues warnings, for the extension."""
    import warnings

    for text in texts:
        for found in parse(text):
            warnings.warn_explicit(KernelWarning(_renamed(text), found.code), KernelWarning, found.file or "<kernel>", found.line or 1,
                                   registry=_said)
            break
