"""What the VM says about a kernel, in the words of its author: errors and warnings with the kernel's name in Python."""
from __future__ import annotations

import re

from .._device import deliver_print
from .._errors import TrapError
from .._warnings import KernelWarning, tell_warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, List

__all__ = ["KernelWarning", "name_kernel", "named", "tell"]

_names: "Dict[str, str]" = {}


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
    tell_warnings(texts, _renamed)
