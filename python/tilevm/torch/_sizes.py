"""Sizes of tensors without memory, among them symbolic ones, for the launch rule (tilevm/_rule.py)."""
from __future__ import annotations

import torch

from .._rule import Sizes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Union

    Size = Union[int, torch.SymInt]


class TorchSizes(Sizes):
    def choose(self, condition: "Any", a: "Size", b: "Size") -> "Size":
        if isinstance(condition, bool):
            return a if condition else b
        if isinstance(a, int) != isinstance(b, int):  # sym_ite wants both of one kind
            a, b = a + 0 * b, b + 0 * a
        size: "Size" = torch.sym_ite(condition, a, b)
        return size

    def least(self, a: "Size", b: "Size") -> "Size":
        size: "Size" = torch.sym_min(a, b)
        return size

    def greatest(self, a: "Size", b: "Size") -> "Size":
        size: "Size" = torch.sym_max(a, b)
        return size

    def check(self, size: "Size", other: "Size", message: "Callable[[], str]") -> None:
        """Errors: RuntimeError of torch."""
        torch._check(size == other, message)

    def stride(self, array: "torch.Tensor", dimension: int) -> "Any":
        return None if array.is_contiguous() else array.stride(dimension)
