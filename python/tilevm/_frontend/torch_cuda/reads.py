"""Outputs with elements that no kernel wrote, for full checks: told where torch makes one number of them, such as a sum or a comparison.

    out = torch.empty(100, device="cuda")
    add[(3,)](x, y, out, 100, BLOCK=32)       # 96 of 100 elements
    torch.allclose(out, x + y)                # here: vm.not_written

A kernel of Triton or cuTile may leave a part of a buffer as it is: room for more, or a part that another kernel writes. So nothing is said
when it ends, but when torch uses such elements. What is computed element by element is followed into the result (`Copy`).
"""
from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Dict, Iterator, Optional, Tuple, Union

if TYPE_CHECKING:  # torch need not be installed where hints are checked
    torch: Any
else:
    import torch

from ..._warnings import warn_caller
from ..report import kernel_name
from . import fresh

# Those of which one number, or one bit, comes.
_DECIDE = frozenset(("allclose", "equal", "item", "tolist", "__bool__", "__float__", "__int__", "__index__"))
_REDUCE = frozenset(("sum", "mean", "prod", "max", "min", "amax", "amin", "argmax", "argmin", "norm", "std", "var", "all", "any", "nansum",
                     "nanmean", "count_nonzero", "logsumexp", "mse_loss", "l1_loss", "dist"))
# Those whose elements come from the elements at their place.
_COPY = frozenset(("to", "cpu", "cuda", "clone", "contiguous", "double", "float", "half", "bfloat16", "int", "long", "type", "type_as",
                   "reshape", "flatten", "ravel", "abs", "__abs__", "neg", "__neg__", "sqrt", "rsqrt", "exp", "log", "square",
                   "reciprocal", "tanh", "sigmoid", "floor", "ceil", "round", "sign", "nan_to_num", "isnan", "isinf", "isfinite", "logical_not", "__invert__"))
_PAIR = frozenset(("add", "sub", "subtract", "div", "true_divide", "__add__", "__radd__", "__sub__", "__rsub__", "rsub", "__truediv__", "__rtruediv__",
                   "isclose", "eq", "ne", "lt", "le", "gt", "ge", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"))
_PRODUCT = frozenset(("mul", "multiply", "__mul__", "__rmul__"))  # 0 times anything is meant to be 0
NAMES = _DECIDE | _REDUCE | _COPY | _PAIR | _PRODUCT


class Copy:
    """The storage of a result whose elements were computed from some that nobody wrote."""

    def __init__(self, tensor: Any, missing: Any, source: "fresh.Fresh") -> None:
        self.source = source
        self.missing = missing  # a bool for each element of the storage
        self.size = tensor.element_size()
        self.version = fresh.version_of(tensor)
        storage = tensor.untyped_storage()
        self.begin, self.bytes = storage.data_ptr(), storage.nbytes()
        self.storage = weakref.ref(storage, lambda gone: _copies.pop(self.begin, None) if _copies.get(self.begin) is self else None)

    def missing_of(self, tensor: Any) -> Any:
        """A bool for each element of a tensor of this storage; None: all come from values, or it is unknown, as somebody has written."""
        if tensor.element_size() != self.size or self.version is None or fresh.version_of(tensor) != self.version:
            return None
        missing = self.missing.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
        return missing if missing.any() else None


_copies: "Dict[int, Copy]" = {}  # by the address of the storage


def _source_of(tensor: Any) -> "Optional[Union[fresh.Fresh, Copy]]":
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout != torch.strided or tensor.numel() == 0 or not fresh.has_memory(tensor):
        return None
    begin = tensor.untyped_storage().data_ptr()
    entry = fresh.entry_of(begin)
    if entry is not None:
        return entry if entry.kernel and not entry.told else None
    copy = _copies.get(begin)
    return None if copy is None or copy.source.told else copy


def _missing_of(tensor: Any) -> "Optional[Tuple[Any, fresh.Fresh]]":
    """A bool for each element of the tensor, and where those come from that nobody wrote; None: all have values."""
    source = _source_of(tensor)
    if source is None:
        return None
    missing = source.missing_of(tensor)
    return None if missing is None else (missing, source.source)


def _is_computed(tensor: Any) -> bool:
    """It is no memory that a kernel was given."""
    return fresh.entry_of(tensor.untyped_storage().data_ptr()) is None


def _tensors(values: Any) -> "Iterator[Any]":
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value


def _matters(missing: Any, factors: "Tuple[Any, ...]", tensor: Any) -> Any:
    """What is missing of a factor, where the other one is not 0."""
    for other in factors:
        if other is not tensor:
            missing = missing & (other != 0)
    return missing


def _follow(arguments: "Tuple[Any, ...]", result: Any, product: bool) -> None:
    if type(result) is not torch.Tensor or result.layout != torch.strided or not fresh.has_memory(result) or not result.is_contiguous():
        return
    begin = result.untyped_storage().data_ptr()
    known = fresh.entry_of(begin)
    if known is not None or begin in _copies:
        return  # a view of an argument
    found = []
    for tensor in _tensors(arguments):
        pair = _missing_of(tensor)
        if pair is not None:
            found.append((_matters(pair[0], arguments, tensor) if product else pair[0], pair[1]))
    if not found or result.untyped_storage().nbytes() != result.numel() * result.element_size():
        return
    missing = torch.zeros(result.shape, dtype=torch.bool)
    for one, _ in found:
        missing |= one.reshape(result.shape) if one.numel() == result.numel() else one
    copy = Copy(result, missing.reshape(-1), found[0][1])
    _copies[copy.begin] = copy


def _tell(name: str, tensor: Any) -> None:
    found = _missing_of(tensor)
    if found is None:
        return
    missing, source = found
    source.told = True
    count, total = int(missing.sum()), missing.numel()
    first = [int(i) for i in missing.nonzero()[0]]
    kind = str(tensor.dtype).replace("torch.", "") + str(list(tensor.shape)) + (f", first {first}" if total > 1 else "")
    which = "the only element" if total == 1 else f"all {total} elements" if count == total else f"{count} of {total} elements"
    whose = "that were computed from memory that nobody wrote" if _is_computed(tensor) else "that nobody wrote"
    warn_caller("vm.not_written", f"`{name.strip('_')}` uses {which} of a tensor of {kind}, {whose}; kernel "
                f"`{kernel_name(source.kernel)}` got the memory as `{source.argument}`; it was made at {source.made_at}",
                "store every element (does the grid reach to the end of the array?), make the tensor by torch.zeros, or use the part that is written",
                packages=("tilevm", "torch"))


def see(name: str, arguments: "Tuple[Any, ...]", keywords: "Dict[str, Any]", result: Any) -> None:
    """After a function of torch has run, one of NAMES."""
    if "out" in keywords or not fresh.wanted():
        return
    with torch._C.DisableTorchFunction(), torch.no_grad():
        if name in _COPY:
            _follow(arguments[:1], result, False)
        elif name in _PAIR or name in _PRODUCT:
            _follow((*arguments, *keywords.values()), result, name in _PRODUCT)
        elif name in _DECIDE or (isinstance(result, torch.Tensor) and result.numel() == 1):
            for tensor in _tensors((*arguments, *keywords.values())):
                _tell(name, tensor)


def _forget(address: int, bytes: int) -> None:
    """A kernel may write there."""
    for begin, copy in list(_copies.items()):
        if begin < address + bytes and address < begin + copy.bytes:
            del _copies[begin]


fresh.on_launch.append(_forget)
