"""Random numbers: Philox-4x32, whose constants are those of Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (2011)."""
from __future__ import annotations

from ._expr import compare
from ._refuse import Refusal
from ._translate import Translator, row
from ._types import dtypes
from ._writer import Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ROUNDS = 10
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_KEYS = 0x9E3779B9, 0xBB67AE85


@row("Philox4x32Inst")
def _philox(t: Translator, i: "Any") -> None:
    """Four streams of the numbers that a seed and each offset give, along a new first dimension. Errors: Refusal."""
    if i.n_rounds != _ROUNDS:
        raise Refusal(f"random numbers of {i.n_rounds} rounds", f"use n_rounds={_ROUNDS}, which Tilus' own code computes whatever it is given")
    uint32, uint64 = dtypes.uint32, dtypes.uint64

    def op(mnemonic: str, a: Tile, b: Tile) -> Tile:
        return t.x.op(mnemonic, a, b, dtype=uint32)

    seed = t.x.cast(t.x.value(i.seed), uint64)
    keys = [t.x.cast(seed, uint32), t.x.cast(t.x.op("shri", seed, t.x.number(32, uint64), dtype=uint64, words=" unsigned"), uint32)]
    offset = t.register(i.inputs[0])
    zero = t.w.broadcast(t.x.number(0, uint32), offset.shape)
    c = [offset, zero, zero, zero]
    first, second = (t.x.number(n, uint32) for n in _MULTIPLIERS)
    for _ in range(_ROUNDS):
        c = [op("xori", op("xori", op("mulhii", second, c[2]), c[1]), keys[0]), op("muli", second, c[2]),
             op("xori", op("xori", op("mulhii", first, c[0]), c[3]), keys[1]), op("muli", first, c[0])]
        keys = [op("addi", key, t.x.number(step, uint32)) for key, step in zip(keys, _KEYS)]
    stream = t.iota(0, i.output.shape, dtypes.int32)
    made = t.w.reshape(c[3], (1, *offset.shape))
    for number in (2, 1, 0):
        here = compare(t.x, "equal", stream, t.x.number(number, dtypes.int32))
        made = t.x.op("select", here, t.w.reshape(c[number], (1, *offset.shape)), made, dtype=uint32)
    t.define(i.output, made)
