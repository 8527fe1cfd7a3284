"""The eleven atomic functions of CUDA C, by their names, on global and shared memory.

    old = script.atomicAdd(x.at(i), 1)            # i: a number or a tile of them
    old = script.atomicAdd(counts.at(3), 1)       # of a shared array: one element
    old = script.atomicAdd(counts, values)        # of a whole array, or script.tile(…), element by element

Each gives the value before. They are relaxed; others see them on the whole device, on shared memory in the block.
"""
from __future__ import annotations

from ._api import api
from ._array import Array, TileRef
from ._tile import Tile
from ._dtypes import PointerType
from ._memory import stored
from ._trace import fail
from .atomic import elementwise
from .pointer import compare_exchange, update

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional, Union

    from ._tile import TileLike

    Address = Union[Tile, Array, TileRef]

_INTEGERS = ("i32", "u32", "i64", "u64")
_TYPES = {
    "add": (*_INTEGERS, "f32", "f64", "f16", "bf16"), "sub": _INTEGERS, "xchg": (*_INTEGERS, "f32", "f64"), "min": _INTEGERS,
    "max": _INTEGERS, "inc": ("u32",), "dec": ("u32",), "cas": _INTEGERS, "and": _INTEGERS, "or": _INTEGERS, "xor": _INTEGERS,
}


def _call(what: str, function: str, address: "Any", compare: "Optional[TileLike]", value: "TileLike") -> Tile:
    if isinstance(address, Tile) and isinstance(address.dtype, PointerType):
        type, shape = address.dtype.pointee, address.shape
    elif isinstance(address, (Array, TileRef)):
        array = address.array if isinstance(address, TileRef) else address
        if isinstance(address, Array) and any(isinstance(s, Tile) for s in address.shape):
            fail("script.shape", f"{what}: the shape of the {array._describe} is not constant",
                 "name a place: array.at(index), or script.tile(array, index, shape)")
        scalar = isinstance(address, TileRef) and address.scalar
        type, shape = array.dtype, () if scalar else tuple(int(s) for s in address.shape)
    else:
        fail("script.type", f"{what}: {address!r} is no address", "array.at(index) is one; so are tiles of pointers, and whole arrays of constant shape")
    if type.name not in _TYPES[function]:
        fail("script.dtype", f"{what} of {type}", f"it takes {', '.join(_TYPES[function])}")
    if isinstance(address, Tile):
        how = {"ordering": "relaxed", "scope": "device"}
        if function == "cas":
            return compare_exchange(address, compare, value, None, how, what)
        return update(function, address, value, None, how, what)
    new = stored(value, type, shape, what)
    expected = stored(compare, type, shape, f"{what}: compare") if function == "cas" else None
    space = array.space
    return elementwise(function, address, new, expected, {"ordering": "relaxed", "scope": "tl_blk" if space == "shared" else "device"}, space, what)


@api
def atomicAdd(address: "Address", val: "TileLike") -> Tile:
    """old + val; integers wrap. i32, u32, i64, u64, and the floats."""
    return _call("atomicAdd", "add", address, None, val)


@api
def atomicSub(address: "Address", val: "TileLike") -> Tile:
    """old - val; it wraps. Integers of 32 and 64 bits."""
    return _call("atomicSub", "sub", address, None, val)


@api
def atomicExch(address: "Address", val: "TileLike") -> Tile:
    """val. Integers and floats of 32 and 64 bits."""
    return _call("atomicExch", "xchg", address, None, val)


@api
def atomicMin(address: "Address", val: "TileLike") -> Tile:
    """The smaller of old and val. Integers of 32 and 64 bits."""
    return _call("atomicMin", "min", address, None, val)


@api
def atomicMax(address: "Address", val: "TileLike") -> Tile:
    """The larger of old and val. Integers of 32 and 64 bits."""
    return _call("atomicMax", "max", address, None, val)


@api
def atomicInc(address: "Address", val: "TileLike") -> Tile:
    """0 if old >= val, else old + 1: counts 0 … val. u32."""
    return _call("atomicInc", "inc", address, None, val)


@api
def atomicDec(address: "Address", val: "TileLike") -> Tile:
    """val if old == 0 or old > val, else old - 1: counts val … 0. u32."""
    return _call("atomicDec", "dec", address, None, val)


@api
def atomicCAS(address: "Address", compare: "TileLike", val: "TileLike") -> Tile:
    """val if old == compare, else old. Integers of 32 and 64 bits."""
    return _call("atomicCAS", "cas", address, compare, val)


@api
def atomicAnd(address: "Address", val: "TileLike") -> Tile:
    """old & val. Integers of 32 and 64 bits."""
    return _call("atomicAnd", "and", address, None, val)


@api
def atomicOr(address: "Address", val: "TileLike") -> Tile:
    """old | val. Integers of 32 and 64 bits."""
    return _call("atomicOr", "or", address, None, val)


@api
def atomicXor(address: "Address", val: "TileLike") -> Tile:
    """old ^ val. Integers of 32 and 64 bits."""
    return _call("atomicXor", "xor", address, None, val)


__all__ = ["atomicAdd", "atomicSub", "atomicExch", "atomicMin", "atomicMax", "atomicInc", "atomicDec", "atomicCAS", "atomicAnd", "atomicOr",
           "atomicXor"]
