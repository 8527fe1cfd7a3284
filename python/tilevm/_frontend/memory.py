"""Memory that only an address tells: the tensors of torch that live in this process."""
from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Optional, Tuple


def tensor_at(address: int) -> "Optional[Tuple[int, int]]":
    """Storage (address, bytes) of a tensor of torch that holds this address."""
    for tensor in tensors():
        storage = tensor.untyped_storage()
        begin: int = storage.data_ptr()
        if begin != 0 and begin <= address < begin + storage.nbytes():
            return begin, storage.nbytes()
    return None


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
