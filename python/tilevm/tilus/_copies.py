"""Asynchronous copies between global and shared memory: a load and a store, whose token belongs to a group or to a barrier."""
from __future__ import annotations

import math

from . import _global, _shared
from ._barriers import count, signal
from ._refuse import Refusal
from ._translate import Translator, row
from ._types import dtypes
from ._writer import Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional, Sequence


def _to_shared(t: Translator, target: "Any", source: "Any", offsets: "Sequence[Any]", dims: "Optional[Sequence[int]]") -> Token:
    """Copies a window of global memory into shared memory."""
    w = _global.window(t, source, offsets, dims, target.shape)
    before = t.order.before()
    value, read = _global.load(t, w, source.dtype, before if t.memory.is_written(source) else None)
    return t.order.join(read if t.memory.is_written(source) else before, _shared.store(t, target, value, before))


def _to_global(t: Translator, target: "Any", source: "Any", offsets: "Sequence[Any]", dims: "Optional[Sequence[int]]") -> Token:
    before = t.order.before()
    value, read = _shared.load(t, source, before)
    w = _global.window(t, target, offsets, dims, source.shape)
    return t.order.join(read, _global.store(t, w, t.x.cast(value, target.dtype), before))


@row("CopyAsyncInst")
def _copy(t: Translator, i: "Any") -> None:
    t.order.start("copy", _to_shared(t, i.inputs[0], i.inputs[1], i.offsets, i.dims))


@row("CopyAsyncGenericInst")
def _copy_generic(t: Translator, i: "Any") -> None:
    target = i.inputs[0]
    w = _global.generic_window(t, i, target.shape)
    before = t.order.before()
    value, _ = _global.load(t, w, target.dtype, before if t.memory.is_written(i.ptr) else None)
    t.order.start("copy", _shared.store(t, target, value, before))


@row("CopyAsyncTensorGlobalToSharedInst", "CopyAsyncBulkGlobalToSharedInst")
def _tensor_to_shared(t: Translator, i: "Any") -> None:
    if getattr(i, "multicast_mask", None) is not None or getattr(i, "cta_group", 1) != 1:
        raise Refusal("a copy into the shared memory of several blocks", "leave multicast_mask and cta_group=2 out")
    signal(t, i.mbarrier, _to_shared(t, i.inputs[0], i.inputs[1], i.offsets, i.dims))
    count(t, i.mbarrier, expected=t.x.number(-_bytes(i.inputs[0]), dtypes.int32))


def _bytes(tensor: "Any") -> int:
    return int(math.prod(tensor.shape) * tensor.dtype.nbits // 8)


@row("CopyAsyncTensorSharedToGlobalInst")
def _tensor_to_global(t: Translator, i: "Any") -> None:
    t.order.start("tma", _to_global(t, i.inputs[0], i.inputs[1], i.offsets, i.dims))


@row("CopyAsyncBulkSharedToGlobalInst")
def _bulk_to_global(t: Translator, i: "Any") -> None:
    t.order.start("bulk", _to_global(t, i.inputs[0], i.inputs[1], i.offsets, i.dims))


