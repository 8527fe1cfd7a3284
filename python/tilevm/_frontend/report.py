"""What the VM says about a kernel, in the words of its author: errors and warnings with the kernel's name in Python."""
from __future__ import annotations

import functools
import re
import sys

from .. import _tilevm
from .._device import deliver_print
from .._errors import TrapError
from .._warnings import KernelWarning, tell_warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Callable, Dict, List, Optional

__all__ = ["KernelWarning", "check_at_exit", "check_gpu", "kernel_name", "name_kernel", "named", "tell", "watch_torch"]

_names: "Dict[str, str]" = {}


def name_kernel(symbol: str, name: str) -> None:
    """`symbol`: what the frontend calls a kernel for the types of its arguments."""
    _names[symbol] = name


def kernel_name(symbol: str) -> str:
    """A kernel's name in Python."""
    return _names.get(symbol, symbol)


def _renamed(text: str) -> str:
    return re.sub("in kernel `([^`]*)`", lambda m: f"in kernel `{kernel_name(m[1])}`", text)


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


# --- a GPU, whose launches are over before the kernel is: what it did wrong is known when somebody waits for it


def check_gpu(stream: "Optional[int]" = None) -> None:
    """Waits for a stream, or for all that kernels were launched on. Errors: TrapError, if one of their kernels failed."""
    try:
        _tilevm.driver_check(stream)
    except TrapError as error:
        raise named(error) from None


def check_at_exit() -> None:
    """For what nobody waited for."""
    try:
        check_gpu()
    except TrapError as error:
        print(f"tilevm: {error}", file=sys.stderr)


def watch_torch(torch: "ModuleType") -> None:
    """torch.cuda.synchronize and Stream.synchronize also raise what kernels reported."""

    def also_checks(original: "Callable[..., Any]", stream_of: "Callable[..., Optional[int]]") -> "Callable[..., Any]":
        @functools.wraps(original)
        def synchronize(*args: "Any", **named_args: "Any") -> "Any":
            try:
                result = original(*args, **named_args)
            except RuntimeError:
                check_gpu(stream_of(*args))  # knows more: the kernel
                raise
            check_gpu(stream_of(*args))
            return result

        return synchronize

    cuda = torch.cuda
    setattr(cuda, "synchronize", also_checks(cuda.synchronize, lambda *args: None))
    setattr(cuda.Stream, "synchronize", also_checks(cuda.Stream.synchronize, lambda stream: int(stream.cuda_stream)))
