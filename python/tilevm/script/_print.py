"""Printing from a kernel."""
from __future__ import annotations

from . import _arith
from ._api import api
from ._dtypes import F32, I32, DType
from ._tile import Tile, use
from ._trace import current, fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List

_PRINTS = "<prints>"  # as an array that each print writes: they come in order


@api
def print(*values: "Any", sep: str = " ", end: str = "\n") -> None:
    """Prints tiles and Python values when the kernel runs: to sys.stdout, or as `tilevm.set_print` says. A tile is printed as a list.

        script.print("sum", total)
    """
    parts: "List[str]" = []
    tiles: "List[Tile]" = []
    for value in values:
        if not isinstance(value, Tile):
            parts.append(str(value).replace("%", "%%"))
            continue
        if not isinstance(value.dtype, DType):
            fail("script.dtype", f"print of a {value.dtype}", "print what it points to")
        type = value.dtype
        if type.kind in ("small", "float") and type.bits < 32:
            value = _arith.convert(value, F32)
        elif type.kind == "bool":
            value = _arith.convert(value, I32)
        parts.append("%g" if type.kind in ("small", "float") else f"%{'ll' if type.bits == 64 else ''}{'u' if type.kind == 'uint' else 'd'}")
        tiles.append(value)
    trace = current("print")
    token = trace.emit("print_tko", tuple(use(t) for t in tiles), format=sep.join(parts) + end, token=trace.before([_PRINTS], True), results=["token"])
    trace.after([_PRINTS], True, token)


__all__ = ["print"]
