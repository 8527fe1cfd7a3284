"""What the VM says about a kernel that works on hardware, but is probably not meant: a Python warning at the kernel's line.

    warnings.simplefilter("error", tilevm.KernelWarning)     # raise it; check="full" makes an error of it, too
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List

_said: "Dict[Any, Any]" = {}  # where Python's warnings remember what was issued


class KernelWarning(UserWarning):
    """What a kernel does that works on hardware, but is probably not meant. `code` is stable ("vm.index_out_of_bounds"); the warning is
    issued at the line of the kernel, once if Python's filters are as always."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code


def tell_warnings(texts: "List[str]", renamed: "Callable[[str], str]" = str) -> None:
    """Issues warnings, for the extension. `renamed` changes the text that is shown. Errors: KernelWarning, where filters say so."""
    import warnings

    from ._errors import parse

    for text in texts:
        for found in parse(text):
            warnings.warn_explicit(KernelWarning(renamed(text), found.code), KernelWarning, found.file or "<kernel>", found.line or 1,
                                   registry=_said)
            break
