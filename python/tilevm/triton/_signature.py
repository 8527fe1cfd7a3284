"""Types of Triton's signatures, as python/ext/triton/words.h takes them.

    leaves(["*fp32", "i32", "constexpr"], ["x", "n", "BLOCK"])
"""
from __future__ import annotations

import re

from .._errors import UnsupportedError
from .._types import BY_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Sequence, Tuple

    Leaf = Tuple[int, int, int, str, Any]

_CONSTANT, _POINTER, _SIGNED, _UNSIGNED, _FLOATING, _DESCRIPTOR, _TUPLE = range(7)

# Triton's names, and MLIR's, which files of TTIR have.
_FLOATS = {"fp16": "f16", "bf16": "bf16", "fp32": "f32", "f32": "f32", "fp64": "f64", "f16": "f16", "f64": "f64"}
_ELEMENTS = {**_FLOATS, "fp8e4nv": "f8E4M3FN", "fp8e5": "f8E5M2", "i1": "i1", "u1": "i1", "int1": "i1"}
for _bits in ("8", "16", "32", "64"):
    _ELEMENTS[f"i{_bits}"] = _ELEMENTS[f"u{_bits}"] = f"i{_bits}"


def element_number(name: str) -> int:
    """Of what a pointer points to; bytes, of what tilevm has no name for."""
    if name.startswith(("*", "!tt.ptr")):
        return BY_NAME["i64"].number
    return BY_NAME[_ELEMENTS.get(name, "i8")].number


def _leaf(kind: "Any", name: str) -> "Leaf":
    if isinstance(kind, (tuple, list)):
        fields = getattr(kind, "_fields", None)
        names = [f"{name}.{field}" for field in fields] if fields else [f"{name}[{i}]" for i in range(len(kind))]
        return _TUPLE, 0, 0, name, [_leaf(item, part) for item, part in zip(kind, names)]
    if kind == "constexpr":
        return _CONSTANT, 0, 0, name, 0
    if kind.startswith("*"):
        return _POINTER, element_number(kind[1:].removeprefix("k")), 64, name, 0
    pointer = re.match(r"!tt\.ptr<([^,>]*)", kind)
    if pointer:
        return _POINTER, element_number(pointer[1]), 64, name, 0
    descriptor = re.match(r"tensordesc<([^[>]*)\[([^\]]*)\]", kind)
    if descriptor:
        return _DESCRIPTOR, element_number(descriptor[1]), 64, name, descriptor[2].count(",") + 1
    if kind in _FLOATS:
        element = BY_NAME[_FLOATS[kind]]
        return _FLOATING, element.number, element.bits, name, 0
    number = re.fullmatch(r"([iu])(1|8|16|32|64)", kind)
    if number is None:
        raise UnsupportedError(f"error[triton.type]: argument `{name}` is of Triton's type {kind}, which tilevm does not have\n"
                               "  fix: pass numbers, tensors, TensorDescriptors, and tuples of them")
    bits = int(number[2])
    return (_UNSIGNED if number[1] == "u" or bits == 1 else _SIGNED), 0, bits, name, 0


def leaves(types: "Sequence[Any]", names: "Sequence[str]") -> "Leaf":
    """All arguments, as one tuple. Errors: UnsupportedError names the argument."""
    made: "List[Leaf]" = [_leaf(kind, name) for kind, name in zip(types, names)]
    return _TUPLE, 0, 0, "", made


def descriptors(leaf: "Leaf", place: "Tuple[int, ...]" = ()) -> "List[Tuple[int, ...]]":
    """Where descriptors are among the arguments, and in tuples."""
    if leaf[0] == _TUPLE:
        return [found for i, item in enumerate(leaf[4]) for found in descriptors(item, (*place, i))]
    return [place] if leaf[0] == _DESCRIPTOR else []
