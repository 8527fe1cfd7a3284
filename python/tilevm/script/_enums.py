"""The words of memory operations: order, scope, padding. A member or its word will do: MemoryOrder.RELAXED, "relaxed"."""
from __future__ import annotations

import enum

from ._errors import script_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable, Type, TypeVar, Union

    Enum = TypeVar("Enum", bound=enum.Enum)


class MemoryOrder(enum.Enum):
    """How an access is ordered against those of other blocks."""

    WEAK = "weak"
    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"


class MemoryScope(enum.Enum):
    """Who takes part in the order: the block (CUDA: cta), its cluster, the device (gpu), the system (sys); NONE of weak accesses."""

    NONE = "none"
    BLOCK = "tl_blk"
    CLUSTER = "cluster"
    DEVICE = "device"
    SYS = "sys"


class PaddingMode(enum.Enum):
    """What elements outside of an array are read as."""

    UNDETERMINED = "undetermined"
    ZERO = "zero"
    NEG_ZERO = "neg_zero"
    NAN = "nan"
    POS_INF = "pos_inf"
    NEG_INF = "neg_inf"


# Other words of the same.
_WORDS = {"block": "tl_blk", "cta": "tl_blk", "gpu": "device", "system": "sys"}


def member(kind: "Type[Enum]", value: "Union[Enum, str]", name: str, allowed: "Iterable[Enum]", of: str) -> "Enum":
    """The member that a caller named. Errors: script.memory_order, script.memory_scope, script.padding."""
    code = {MemoryOrder: "script.memory_order", MemoryScope: "script.memory_scope"}.get(kind, "script.padding")
    choices = list(allowed)
    found = value
    if isinstance(value, str):
        word = _WORDS.get(value, value)
        found = next((m for m in kind if word in (m.value, m.name)), value)
    if not isinstance(found, kind) or found not in choices:
        raise script_error(code, f"{of}: {name}={value!r}", f"use {', '.join(f'{kind.__name__}.{m.name}' for m in choices)}")
    return found
