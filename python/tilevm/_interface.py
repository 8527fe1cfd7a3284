"""How a kernel is called, for reading: arrays and scalars of its interface, or raw parameters."""
from __future__ import annotations

from ._errors import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Optional, Sequence, Tuple, Union


def _size_name(parameters: "Sequence[Parameter]", index: int) -> str:
    name = parameters[index].name
    return f"n{index}" if " " in name else name


def _number(element: str, bits: int) -> "Union[int, float, None]":
    """The number of an element's bits; None for 8-bit floats."""
    formats = {"f16": "<e", "f32": "<f", "tf32": "<f", "bf16": "<f", "f64": "<d"}
    if element in formats:
        import struct

        bits <<= 16 if element == "bf16" else 0
        number: float = struct.unpack(formats[element], bits.to_bytes(struct.calcsize(formats[element]), "little"))[0]
        return number
    if element[0] != "i":
        return None
    width = int(element[1:])
    return bits - (1 << width) if width > 1 and bits >> (width - 1) else bits


class Array:
    """An array argument: `name`, `direction` ("in", "out", "inout"), `element` ("f32"), `rank`, and `shape`: per dimension a number
    that it must be, the name of the parameter that receives it, the expression that gives it ("ceildiv(x.shape[0], 2)"), or "?"."""

    __slots__ = ("name", "direction", "element", "shape", "strided", "sizes", "strides")

    def __init__(self, data: "Dict[str, Any]", parameters: "Sequence[Parameter]") -> None:
        # Per dimension what fills it, as the description has it: "parameter", "constant", "size".
        self.sizes: "Sequence[Dict[str, Any]]" = data["shape"]
        self.strides: "Sequence[Dict[str, Any]]" = data.get("strides", ())
        self.name: str = data["name"]
        self.direction: str = data["direction"]
        self.element: str = data["element"]
        self.strided: bool = "strides" in data  # else row-major without gaps
        self.shape: "Tuple[Union[int, str], ...]" = tuple(
            d["constant"] if "constant" in d else
            d["size"] if "size" in d else _size_name(parameters, d["parameter"]) if "parameter" in d else "?" for d in data["shape"])

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __repr__(self) -> str:
        return shown(f"{self.direction} {self.name}: {self.element}[{', '.join(map(str, self.shape))}]")


class Scalar:
    """A scalar argument: `name`, `element` ("f32"), `optional` (it has a default, or follows from the arrays), `default` (a number,
    or None), `value` (the expression that it follows from, or None)."""

    __slots__ = ("name", "element", "optional", "default", "value")

    def __init__(self, data: "Dict[str, Any]") -> None:
        self.name: str = data["name"]
        self.element: str = data["element"]
        self.value: "Optional[str]" = data.get("value")
        self.optional: bool = self.value is not None or "default_bits" in data
        self.default: "Union[int, float, None]" = _number(self.element, int(data["default_bits"])) if "default_bits" in data else None

    def __repr__(self) -> str:
        return shown(f"scalar {self.name}: {self.element}") + (" (optional)" if self.optional else "")


class Parameter:
    """A raw parameter, in the order of the kernel's code: `name` (or "parameter N"), `type` ("tile<ptr<f32>>"), `element` (of
    what a pointer points to), `is_pointer`."""

    __slots__ = ("name", "type", "element", "is_pointer")

    def __init__(self, data: "Dict[str, Any]", index: int) -> None:
        self.name: str = data["name"] or f"parameter {index}"
        if not self.name.isascii() and shown(self.name) != self.name:
            self.name = f"parameter {index}"  # nobody could say it
        self.type: str = data["type"]
        self.element: str = data["element"]
        self.is_pointer: bool = data["pointer"]

    def __repr__(self) -> str:
        return shown(f"{self.name}: {self.type}")


def signature(name: str, arrays: "Sequence[Array]", scalars: "Sequence[Scalar]", parameters: "Sequence[Parameter]",
              has_interface: bool) -> str:
    """"scale(x: f32[n], f: f32) -> y: f32[n]"."""
    if not has_interface:
        return shown(f"{name}({', '.join(map(repr, parameters))})")

    def shape(a: Array) -> str:
        return f"{a.name}: {a.element}[{', '.join(map(str, a.shape))}]"

    taken = [shape(a) + (" (changed)" if a.direction == "inout" else "") for a in arrays if a.direction != "out"]
    taken += [f"{s.name}: {s.element}" + (" = …" if s.optional else "") for s in scalars]
    given = [shape(a) for a in arrays if a.direction == "out"]
    return shown(f"{name}({', '.join(taken)})" + (f" -> {', '.join(given)}" if given else ""))
