"""What cuTile takes for a cubin: a .tbc, and what its parameters are (python/ext/cutile/image.c reads it).

    image = pack({symbol: arguments(signature.parameters, ["x", "y", "TILE"])}, tbc)
"""
from __future__ import annotations

import struct

from .._errors import UnsupportedError, argument_error
from .._types import BY_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable, List, Mapping, Sequence, Tuple

    Argument = Tuple[int, int, int, int, str]

_MAGIC = b"TILEVM-CUTILE-1\0"
_SCALAR, _ARRAY, _LIST = range(3)

# cuTile's names of types that are not called like ours.
_ELEMENTS = {
    "bool_": "i1", "bool": "i1", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "tfloat32": "tf32", "float64": "f64",
    "float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2", "float8_e8m0fnu": "f8E8M0FNU", "float8_e5m3fnu": "f8E5M3FNU",
    "float4_e2m1fn": "f4E2M1FN",
}
for _bits in ("8", "16", "32", "64"):
    _ELEMENTS[f"int{_bits}"] = _ELEMENTS[f"uint{_bits}"] = f"i{_bits}"


def _element(dtype: "Any") -> "Any":
    name = getattr(dtype, "name", str(dtype))
    element = BY_NAME.get(_ELEMENTS.get(name, ""))
    if element is None:
        raise UnsupportedError(f"error[cutile.type]: an argument of {name}: tilevm has no such elements")
    return element


def _index_bits(dtype: "Any") -> int:
    return 64 if "64" in getattr(dtype, "name", str(dtype)) else 32


def arguments(constraints: "Iterable[Any]", names: "Sequence[str]") -> "List[Argument]":
    """(kind, rank, bits, type, name) of what cuTile passes for parameters of these constraints, in order; constants are not passed.

    Errors: UnsupportedError for a kind of parameter that tilevm does not know."""
    found: "List[Argument]" = []
    for constraint, name in zip(constraints, names):
        kind = type(constraint).__name__
        if kind == "ConstantConstraint":
            continue
        if kind == "ScalarConstraint":
            element = _element(constraint.dtype)
            found.append((_SCALAR, 0, 1 if element.name == "i1" else element.bits, element.number, name))
        elif kind == "ArrayConstraint":
            found.append((_ARRAY, constraint.ndim, _index_bits(constraint.index_dtype), _element(constraint.dtype).number, name))
        elif kind == "ListConstraint":
            array = constraint.element
            found.append((_LIST, array.ndim, 64, _element(array.dtype).number, name))
        elif kind == "TupleConstraint":
            found += arguments(constraint.items, [f"{name}[{i}]" for i in range(len(constraint.items))])
        elif kind == "DataclassConstraint":
            import dataclasses

            found += arguments(constraint.fields, [f"{name}.{field.name}" for field in dataclasses.fields(constraint.cls)])
        else:
            raise UnsupportedError(f"error[cutile.parameter]: parameter `{name}` is a {kind}: tilevm runs tile kernels, whose "
                                   "parameters are arrays, numbers, and lists, tuples and dataclasses of them")
    return found


def pack(kernels: "Mapping[str, Sequence[Argument]]", tbc: bytes) -> bytes:
    """An image of a .tbc whose kernels, by name, take these."""
    records = b""
    for symbol, parameters in kernels.items():
        name = symbol.encode() + b"\0"
        records += struct.pack("<II", len(parameters), len(name)) + name
        for kind, rank, bits, number, parameter in parameters:
            name = parameter.encode() + b"\0"
            records += struct.pack("<BBBxiI", kind, rank, bits, number, len(name)) + name
    start = (32 + len(records) + 31) // 32 * 32
    head = _MAGIC + struct.pack("<QII", start + len(tbc), len(kernels), len(records))
    return (head + records).ljust(start, b"\0") + tbc


def unpack(image: bytes) -> bytes:
    """The .tbc of an image, for example of one that cuTile's export_kernel wrote. Errors: ArgumentError if it is none."""
    if image[:16] != _MAGIC or len(image) < 32:
        raise argument_error("no machine code of tilevm.cutile", "export the kernel under tilevm.cutile, with output_format='cubin'")
    size, _, records = struct.unpack_from("<QII", image, 16)
    return image[(32 + records + 31) // 32 * 32:size]
