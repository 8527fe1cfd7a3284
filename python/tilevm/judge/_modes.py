"""Modes of torch without torch._dynamo, whose import takes as long as that of the rest of torch.

    @without_dynamo
    class Operations(TorchDispatchMode): …

torch wraps the method of such a class in a function that imports torch._dynamo at its first call, so that torch.compile does not follow it.
The judge's modes run where nothing is compiled.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Mode = TypeVar("Mode")


def without_dynamo(mode: "Mode") -> "Mode":
    """The same class, with its method as it was written."""
    written = getattr(vars(mode).get("__torch_dispatch__"), "__wrapped__", None)
    if written is not None:
        setattr(mode, "__torch_dispatch__", written)
    return mode
