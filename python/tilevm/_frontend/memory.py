"""Memory of which only an address is known: the tensors of torch that live in this process."""
from __future__ import annotations

import sys
import weakref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple


_MOST_NOTED = 4096
_noted: "Dict[int, weakref.ref[Any]]" = {}


def note_addresses(torch: "Any") -> None:
    """Remembers the tensors whose data_ptr() is called, so that tensor_at() need not look through all objects of the process."""
    original = torch.Tensor.data_ptr

    def data_ptr(self: "Any") -> int:
        address: int = original(self)
        if len(_noted) >= _MOST_NOTED:
            _noted.clear()
        _noted[address] = weakref.ref(self)
        return address

    torch.Tensor.data_ptr = data_ptr


def tensor_at(address: int) -> "Optional[Tuple[int, int]]":
    """Storage (address, bytes) of a tensor of torch that holds this address."""
    noted = _noted.get(address, lambda: None)()
    found = None if noted is None else _storage_with(noted, address)
    if found is not None:
        return found
    for tensor in tensors():
        found = _storage_with(tensor, address)
        if found is not None:
            return found
    return None


def _storage_with(tensor: "Any", address: int) -> "Optional[Tuple[int, int]]":
    storage = tensor.untyped_storage()
    begin: int = storage.data_ptr()
    return (begin, storage.nbytes()) if begin != 0 and begin <= address < begin + storage.nbytes() else None


def tensors() -> "List[Any]":
    """Those with memory of their own."""
    import gc

    torch = sys.modules.get("torch")
    if torch is None:
        return []
    found = []
    for item in gc.get_objects():
        if issubclass(type(item), torch.Tensor) and item.layout == torch.strided:
            try:
                item.untyped_storage().data_ptr()
            except Exception:  # of no memory: fake, functional, meta
                continue
            found.append(item)
    return found
