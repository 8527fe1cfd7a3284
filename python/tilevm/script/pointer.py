"""Tiles of pointers: loads, stores and atomic updates of memory that they name, element by element.

    p = x.ptr + script.arange(128)                    # pointers to x[0] … x[127]
    a = script.pointer.load_masked(p, mask, 0)
    script.pointer.store_masked(p, a + 1, mask)
    old = script.pointer.atomic_add(p, 1, "relaxed", "device")

A pointer leads to an element type; those of inputs are const: they may be loaded from. A mask is true where it is not 0, and is
repeated to the shape of the pointers; a masked element is not accessed, its pointer may be anything. Values are converted if nothing
can be lost, and repeated to the shape of the pointers. Elements are accessed in no order. `order` is "relaxed", "acquire" (loads),
"release" (stores) or "acq_rel" (updates take all four), `scope` "block", "cluster", "device" or "sys"; the default is "sys". Atomic updates
give the values before.
"""
from __future__ import annotations

from . import _arith
from ._api import api
from ._dtypes import DType, PointerType
from ._enums import MemoryOrder, MemoryScope
from ._memory import _ATOMIC, hints_of, mask_of, order_of, stored
from ._tile import Tile, as_tile, broadcast, make, type_text, use
from ._trace import current, fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Optional, Tuple, Union

    from ._tile import TileLike

    Order = Union[MemoryOrder, str]
    Scope = Union[MemoryScope, str]

_SYS = MemoryScope.SYS
_READ = (MemoryOrder.RELAXED, MemoryOrder.ACQUIRE)
_WRITE = (MemoryOrder.RELAXED, MemoryOrder.RELEASE)
_WEAK = {"ordering": "weak"}

# Element types that each update takes.
_INTEGERS = ("i32", "i64", "u32", "u64")
TYPES = {
    "add": (*_INTEGERS, "f16", "bf16", "f32", "f64"), "sub": (*_INTEGERS, "f16", "bf16", "f32", "f64"),
    "xchg": (*_INTEGERS, "f32", "f64"), "cas": (*_INTEGERS, "f32", "f64"), "inc": ("u32",), "dec": ("u32",),
    **{f: _INTEGERS for f in ("and", "or", "xor", "max", "min")},
}


def mode_of(function: str, type: "DType", what: str) -> str:
    """The mode of an update of a type. Errors: script.dtype."""
    if type.name not in TYPES[function]:
        fail("script.dtype", f"{what} of {type}", f"it takes {', '.join(TYPES[function])}")
    if function == "add" and type.is_float:
        return "addf"
    return "u" + function if function in ("max", "min") and type.kind == "uint" else function


def _pointers(ptrs: "Any", writes: bool, what: str) -> "Tuple[Tile, DType]":
    if not isinstance(ptrs, Tile) or not isinstance(ptrs.dtype, PointerType):
        fail("script.type", f"{what}: {ptrs!r} is no tile of pointers", "x.ptr is one, of the first element of x; x.ptr + offsets are more")
    if writes and ptrs.dtype.const:
        names = ", ".join(f"`{n}`" for n in sorted(ptrs._origin))
        fail("script.const", f"{what} changes what a pointer to {names} leads to, which is an input",
             "declare the array as an output (behind ->), or as inout, in the signature")
    return ptrs, ptrs.dtype.pointee


def read(ptrs: Tile, mask: "Optional[Tile]", padding: "Any", how: "Dict[str, str]", what: str) -> Tile:
    """A load; mask and padding of any shape that is repeated to that of the pointers."""
    ptrs, type = _pointers(ptrs, False, what)
    trace = current(what)
    pad = None
    if padding is not None:
        given = as_tile(padding, None, what)
        if not isinstance(given.dtype, DType):
            fail("script.dtype", f"{what}: a {given.dtype} as padding of {type}", "pad with a number or a tile of numbers")
        pad = use(_arith.convert(broadcast(given, ptrs.shape, what), type))
    operands = {"mask": use(mask) if mask is not None else None, "padding_value": pad}
    keys = sorted(ptrs._origin)
    value, token = trace.emit("load_ptr_tko", use(ptrs), **operands, token=trace.before(keys, False, how["ordering"]), **how,
                              results=[type_text(ptrs.shape, type.element), "token"])
    trace.after(keys, False, token, how["ordering"])
    return make(value, type, ptrs.shape)


def write(ptrs: Tile, value: "Any", mask: "Optional[Tile]", how: "Dict[str, str]", what: str) -> None:
    """A store."""
    ptrs, type = _pointers(ptrs, True, what)
    trace = current(what)
    tile = stored(value, type, ptrs.shape, what)
    keys = sorted(ptrs._origin)
    token = trace.emit("store_ptr_tko", use(ptrs), use(tile), mask=use(mask) if mask is not None else None,
                       token=trace.before(keys, True, how["ordering"]), **how, results=["token"])
    trace.after(keys, True, token, how["ordering"])


def compare_exchange(ptrs: Tile, compare: "Any", value: "Any", mask: "Optional[Tile]", how: "Dict[str, str]", what: str) -> Tile:
    """A compare-and-swap."""
    ptrs, type = _pointers(ptrs, True, what)
    mode_of("cas", type, what)
    trace = current(what)
    cmp, new = stored(compare, type, ptrs.shape, f"{what}: compare"), stored(value, type, ptrs.shape, what)
    keys = sorted(ptrs._origin)
    old, token = trace.emit("atomic_cas_tko", use(ptrs), use(cmp), use(new), mask=use(mask) if mask is not None else None,
                            token=trace.before(keys, True, how["ordering"]), **how, results=[type_text(ptrs.shape, type.element), "token"])
    trace.after(keys, True, token, how["ordering"])
    return make(old, type, ptrs.shape)


def update(function: str, ptrs: Tile, value: "Any", mask: "Optional[Tile]", how: "Dict[str, str]", what: str) -> Tile:
    """A read-modify-write."""
    ptrs, type = _pointers(ptrs, True, what)
    mode = mode_of(function, type, what)
    trace = current(what)
    tile = stored(value, type, ptrs.shape, what)
    keys = sorted(ptrs._origin)
    old, token = trace.emit("atomic_rmw_tko", use(ptrs), use(tile), mask=use(mask) if mask is not None else None, mode=mode,
                            token=trace.before(keys, True, how["ordering"]), **how, results=[type_text(ptrs.shape, type.element), "token"])
    trace.after(keys, True, token, how["ordering"])
    return make(old, type, ptrs.shape)


def _mask(ptrs: "Any", mask: "Any", what: str) -> Tile:
    if not isinstance(ptrs, Tile):
        _pointers(ptrs, False, what)
    return mask_of(mask, ptrs.shape, what)


# --- loads and stores

@api
def load(ptrs: Tile, *, latency: "Optional[int]" = None) -> Tile:
    """The elements that the pointers lead to. `latency`: a hint from 1 (little traffic) to 10."""
    return read(ptrs, None, None, {**_WEAK, **hints_of(latency, None, "pointer.load")}, "pointer.load")


@api
def load_masked(ptrs: Tile, mask: "TileLike", padding: "TileLike | None" = None, *, latency: "Optional[int]" = None) -> Tile:
    """The elements that the pointers lead to where the mask is true, else `padding` (without one: an unspecified value)."""
    what = "pointer.load_masked"
    return read(ptrs, _mask(ptrs, mask, what), padding, {**_WEAK, **hints_of(latency, None, what)}, what)


@api
def atomic_load(ptrs: Tile, order: "Order", scope: "Scope" = _SYS, *, latency: "Optional[int]" = None) -> Tile:
    """A strong load: "relaxed" or "acquire"."""
    what = "pointer.atomic_load"
    return read(ptrs, None, None, {**order_of(order, scope, _READ, what), **hints_of(latency, None, what)}, what)


@api
def atomic_load_masked(ptrs: Tile, mask: "TileLike", padding: "TileLike | None" = None, order: "Order | None" = None, scope: "Scope" = _SYS, *,
                       latency: "Optional[int]" = None) -> Tile:
    """A strong load where the mask is true, else `padding` (without one: an unspecified value). `order` must be given."""
    what = "pointer.atomic_load_masked"
    how = {**order_of(order, scope, _READ, what), **hints_of(latency, None, what)}
    return read(ptrs, _mask(ptrs, mask, what), padding, how, what)


@api
def store(ptrs: Tile, value: "TileLike", *, latency: "Optional[int]" = None) -> None:
    """Writes where the pointers lead. No two may lead to one place."""
    write(ptrs, value, None, {**_WEAK, **hints_of(latency, None, "pointer.store")}, "pointer.store")


@api
def store_masked(ptrs: Tile, value: "TileLike", mask: "TileLike", *, latency: "Optional[int]" = None) -> None:
    """Writes where the mask is true."""
    what = "pointer.store_masked"
    write(ptrs, value, _mask(ptrs, mask, what), {**_WEAK, **hints_of(latency, None, what)}, what)


@api
def atomic_store(ptrs: Tile, value: "TileLike", order: "Order", scope: "Scope" = _SYS, *, latency: "Optional[int]" = None) -> None:
    """A strong store: "relaxed" or "release". Where pointers are equal, one of the values stays."""
    what = "pointer.atomic_store"
    write(ptrs, value, None, {**order_of(order, scope, _WRITE, what), **hints_of(latency, None, what)}, what)


@api
def atomic_store_masked(ptrs: Tile, value: "TileLike", mask: "TileLike", order: "Order", scope: "Scope" = _SYS, *,
                        latency: "Optional[int]" = None) -> None:
    """A strong store where the mask is true."""
    what = "pointer.atomic_store_masked"
    write(ptrs, value, _mask(ptrs, mask, what), {**order_of(order, scope, _WRITE, what), **hints_of(latency, None, what)}, what)


# --- updates

@api
def atomic_compare_exchange(ptrs: Tile, cmp: "TileLike", val: "TileLike", order: "Order", scope: "Scope" = _SYS) -> Tile:
    """Where memory has the bits of `cmp`, `val` is stored. It succeeded where the bits of the result are those of `cmp`. Integers and floats
    of 32 or 64 bits."""
    what = "pointer.atomic_compare_exchange"
    return compare_exchange(ptrs, cmp, val, None, order_of(order, scope, _ATOMIC, what), what)


@api
def atomic_compare_exchange_masked(ptrs: Tile, cmps: "TileLike", vals: "TileLike", mask: "TileLike", order: "Order", scope: "Scope" = _SYS) -> Tile:
    """The same where the mask is true; elsewhere the result is `cmps`."""
    what = "pointer.atomic_compare_exchange_masked"
    return compare_exchange(ptrs, cmps, vals, _mask(ptrs, mask, what), order_of(order, scope, _ATOMIC, what), what)


def _plain(function: str, doc: str) -> "Any":
    def plain(ptrs: Tile, values: "TileLike", order: "Order", scope: "Scope" = _SYS) -> Tile:
        what = f"pointer.atomic_{function}"
        return update(function, ptrs, values, None, order_of(order, scope, _ATOMIC, what), what)

    def masked(ptrs: Tile, values: "TileLike", mask: "TileLike", order: "Order", scope: "Scope" = _SYS) -> Tile:
        what = f"pointer.atomic_{function}_masked"
        return update(function, ptrs, values, _mask(ptrs, mask, what), order_of(order, scope, _ATOMIC, what), what)

    plain.__name__ = plain.__qualname__ = f"atomic_{function}"
    masked.__name__ = masked.__qualname__ = f"atomic_{function}_masked"
    plain.__doc__ = f"{doc} Element types: {', '.join(TYPES[function])}."
    masked.__doc__ = "The same where the mask is true; elsewhere the result is unspecified."
    return api(plain), api(masked)


atomic_and, atomic_and_masked = _plain("and", "Bitwise and.")
atomic_or, atomic_or_masked = _plain("or", "Bitwise or.")
atomic_xor, atomic_xor_masked = _plain("xor", "Bitwise exclusive or.")
atomic_max, atomic_max_masked = _plain("max", "The larger.")
atomic_min, atomic_min_masked = _plain("min", "The smaller.")
atomic_add, atomic_add_masked = _plain("add", "The sum; of integers it wraps.")
atomic_sub, atomic_sub_masked = _plain("sub", "The difference; of integers it wraps.")
atomic_xchg, atomic_xchg_masked = _plain("xchg", "The value given.")

__all__ = ["load", "load_masked", "atomic_load", "atomic_load_masked", "store", "store_masked", "atomic_store", "atomic_store_masked",
           "atomic_compare_exchange", "atomic_compare_exchange_masked"]
__all__ += [f"atomic_{f}{m}" for f in ("and", "or", "xor", "max", "min", "add", "sub", "xchg") for m in ("", "_masked")]
