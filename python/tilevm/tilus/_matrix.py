"""Matrix products of register and shared tensors."""
from __future__ import annotations

from . import _shared
from ._refuse import Refusal
from ._registers import without_padding
from ._translate import Translator, row
from ._types import dtypes, element, is_float, is_small, sign
from ._writer import Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence


def product(t: Translator, a: Tile, b: Tile, acc: Tile, k: int) -> Tile:
    """acc + a * b, in the type of acc; `k` is the size that both share, without padding. Errors: Refusal."""
    if len(a.shape) != 2:
        raise Refusal(f"a matrix product of tensors with {len(a.shape)} dimensions", "use tensors with two dimensions")
    if is_float(a.dtype) != is_float(b.dtype):
        raise Refusal(f"a product of {a.dtype.name} and {b.dtype.name}", "cast one of them")
    a, b = (t.x.computable(v) if is_small(v.dtype) and is_float(v.dtype) else v for v in (a, b))
    a = without_padding(t, a, (a.shape[0], k), 1, "sum")
    b = without_padding(t, b, (k, b.shape[1]), 0, "sum")
    wanted = acc.dtype
    acc = _accumulator(t, a, acc)
    if is_float(a.dtype):
        if a.dtype.name != b.dtype.name:
            a, b = t.x.cast(a, dtypes.float32), t.x.cast(b, dtypes.float32)
        made = t.w.op(f"mmaf {a}, {b}, {acc}", acc.shape, acc.dtype)
    elif element(a.dtype) == "i8" and element(b.dtype) == "i8":
        made = t.w.op(f"mmai {a}, {b}, {acc} {sign(a.dtype)} {sign(b.dtype)}", acc.shape, acc.dtype)
    else:
        raise Refusal(f"a product of {a.dtype.name}", "use integers of eight bits, or floats")
    return t.x.cast(made, wanted)


def _accumulator(t: Translator, a: Tile, acc: Tile) -> Tile:
    """The accumulator in a type in which products of these factors are summed."""
    if not is_float(a.dtype):
        return t.x.cast(acc, dtypes.int32)
    if element(acc.dtype) in ("f32", "f64") or (element(acc.dtype) == "f16" and element(a.dtype) in ("f16", "f8E4M3FN", "f8E5M2")):
        return acc
    return t.x.cast(acc, dtypes.float32)


@row("DotInst", "SimtDotInst")
def _dot(t: Translator, i: "Any") -> None:
    a, b, c = (t.register(x) for x in i.inputs)
    t.define(i.output, product(t, a, b, c, i.inputs[0].shape[1]))


def shared_operand(t: Translator, tensor: "Any", kind: str) -> Tile:
    """A shared tensor that an asynchronous product reads; a wait for that kind of groups ends the read."""
    value, after = _shared.load(t, tensor, t.order.before())
    t.order.start(kind, after)
    return value


def _wgmma(t: Translator, a: Tile, i: "Any") -> None:
    d = i.inputs[2]
    b = shared_operand(t, i.inputs[1], "wgmma")
    t.define(d, product(t, a, b, t.register(d), i.inputs[1].shape[0]))


@row("WgmmaMmaSSInst")
def _wgmma_shared(t: Translator, i: "Any") -> None:
    _wgmma(t, shared_operand(t, i.inputs[0], "wgmma"), i)


@row("WgmmaMmaRSInst")
def _wgmma_register(t: Translator, i: "Any") -> None:
    _wgmma(t, t.register(i.inputs[0]), i)


def zeros(t: Translator, shape: "Sequence[int]", dtype: "Any") -> Tile:
    return t.x.number(0, dtype, shape)
