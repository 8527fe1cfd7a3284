"""Lets Tilus' layout inference end for programs with atomic updates and scatters.

Its rule for these names the layouts of all register tensors again and again, as long as the shared tensor has none, and so keeps the rule for
shared tensors from its turn. Tilus' main branch (commit 9a22de0a) never ends there; Tilus 0.2.0 has no such instructions.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict


def let_rules_end() -> None:
    """The rules of these instructions leave out layouts that tensors have already."""
    try:
        from tilus.ir.layout.inference.inference_rules.atomic import AtomicElementWiseRule
        from tilus.ir.layout.inference.inference_rules.scatter import ScatterRule
    except ImportError:
        return
    for rule in (AtomicElementWiseRule, ScatterRule):
        _leave_out_known(rule)


def _leave_out_known(rule: "Any") -> None:
    original = rule.inference

    def inference(ctx: "Any", inst: "Any") -> "Dict[Any, Any]":
        return {tensor: layout for tensor, layout in original(ctx, inst).items() if tensor.optional_layout != layout}

    rule.inference = staticmethod(inference)
