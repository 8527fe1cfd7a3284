"""printf and print_tensor, once for a block. print_tensor prints a tensor in one line by its format, without the layout."""
from __future__ import annotations

import re

from . import _shared, _tmem
from ._refuse import Refusal
from ._scan import kind
from ._translate import Translator, row
from ._types import dtypes, element, is_bool, is_float, is_padded, is_small
from ._writer import Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Tuple

_CONVERSION = re.compile(r"%(?:%|[-+ #0]*\d*(?:\.\d+)?(?:hh|h|ll|l|z|j|t)?[diouxXeEfFgGaAcsp])")
_FORMATS = {"float16": "%5.2f", "bfloat16": "%5.3f", "float32": "%6.3f", "float64": "%6.3f", "int32": "%5d", "uint32": "%3u", "bool": "%1d"}


def _quoted(text: str) -> str:
    out = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return "".join(c if " " <= c <= "~" else "".join(f"\\x{b:02X}" for b in c.encode()) for c in out)


def _print(t: Translator, condition: "Any", text: str, values: "List[Tile]") -> None:
    def write() -> None:
        t.w.put(f'print_tko "{_quoted(text)}"' + "".join(f", {v}" for v in values))

    if getattr(condition, "value", None) is True:
        write()
        return
    t.state.branches(t.x.truth(t.x.value(condition)), write)


def _printable(t: Translator, value: Tile) -> Tile:
    """The value as C passes it to printf."""
    if is_bool(value.dtype) or is_small(value.dtype):
        return t.x.cast(value, dtypes.int32)
    if is_float(value.dtype) and element(value.dtype) not in ("f32", "f64"):
        return t.x.cast(value, dtypes.float32)
    return value


@row("FormatPrintInst")
def _printf(t: Translator, i: "Any") -> None:
    values: "List[Tile]" = []
    rest = list(i.expressions)

    def fill(match: "re.Match[str]") -> str:
        if match[0] == "%%" or not rest:
            return match[0]
        e = rest.pop(0)
        if match[0].endswith("s"):
            if kind(e) != "Constant" or not isinstance(e.value, str):
                raise Refusal("a value printed by %s", "use %s for texts only")
            return e.value.replace("%", "%%")
        values.append(_printable(t, t.x.value(e)))
        return re.sub(r"hh|h|ll|l|z|j|t", "", match[0])

    _print(t, i.cond, _CONVERSION.sub(fill, i.fstring), values)


@row("PrintTensorInst")
def _print_tensor(t: Translator, i: "Any") -> None:
    tensor = i.inputs[0]
    if kind(tensor) == "SharedTensor":
        value, after = _shared.load(t, tensor, t.order.before())
        t.order.after(after)
        where = "shared_tile"
    elif kind(tensor) == "RegisterTensor":
        value, where = t.register(tensor), "register_tile"
    elif kind(tensor) == "TMemoryTensor":
        value, where = _tmem.read(t, tensor), "register_tile"  # Tilus loads it into registers to print it
    else:
        raise Refusal(f"print_tensor of a {kind(tensor)}", "load it into registers first")
    text, values = _elements(t, value, tensor, i.fmt)
    head = f"{i.msg}{where}(dtype={tensor.dtype.name}, shape={list(tensor.shape)})\n".replace("%", "%%")
    _print(t, i.cond, f"{head}{text}\n", values)


def _elements(t: Translator, value: Tile, tensor: "Any", fmt: "Any") -> "Tuple[str, List[Tile]]":
    if is_padded(tensor.shape):
        raise Refusal(f"print_tensor of the shape {list(tensor.shape)}", "print parts whose sizes are powers of two")
    default = "%5.2f" if is_float(tensor.dtype) else "%3d"
    return fmt or _FORMATS.get(tensor.dtype.name, default), [_printable(t, value)]
