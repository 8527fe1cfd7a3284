"""Groups of threads run one after the other here, in the order of the program. Programs in which a group waits for a later one are refused."""
from __future__ import annotations

import math

from . import _scan
from ._refuse import Refusal, at
from ._scan import kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

_SIGNALS = ("ArriveBarrierInst", "ArriveExpectTxBarrierInst", "CopyAsyncTensorGlobalToSharedInst", "CopyAsyncBulkGlobalToSharedInst",
            "Tcgen05CommitInst")


class _Barriers:
    """Finds the allocation that a barrier comes from, by way of slices and variables, and its number there (None if that is not known)."""

    def __init__(self, function: "Any") -> None:
        self.of: "Dict[Any, Tuple[Any, Optional[int]]]" = {}
        for s in _scan.statements(function.body):
            if kind(s) == "InstStmt" and kind(s.inst) == "AllocBarrierInst":
                self.of[s.inst.output] = s.inst, 0 if len(s.inst.counts) == 1 else None
            elif kind(s) == "InstStmt" and s.inst.inputs and s.inst.inputs[0] in self.of and s.inst.output is not None:
                self.of[s.inst.output] = self._part(s.inst)
            elif kind(s) == "TensorItemValueStmt" and s.tensor in self.of:
                self.of[s.var] = self.of[s.tensor]
            elif kind(s) == "LetStmt":
                self.of.update((var, self.of[value]) for var, value in zip(s.bind_vars, s.bind_values) if value in self.of)

    def _part(self, inst: "Any") -> "Tuple[Any, Optional[int]]":
        """The barriers of a slice, or of another instruction, of barriers."""
        allocation, number = self.of[inst.inputs[0]]
        if number is not None or kind(inst) != "SliceRegisterInst" or math.prod(inst.output.shape) != 1:
            return allocation, number
        value = getattr(inst.offsets[0], "value", None)
        return allocation, value if isinstance(value, int) else None

    def all(self, stmt: "Any", names: "Tuple[str, ...]") -> "Iterator[Tuple[Tuple[Any, Optional[int]], Any]]":
        """Each of these instructions with its barrier. An allocation that is not known is None."""
        for inst in _scan.instructions(stmt):
            if kind(inst) in names:
                yield self.of.get(inst.barrier if hasattr(inst, "barrier") else inst.mbarrier, (None, None)), inst


def _may_be_one_of(barrier: "Tuple[Any, Optional[int]]", others: "Set[Tuple[Any, Optional[int]]]") -> bool:
    return any(barrier[0] is allocation and (barrier[1] is None or number is None or barrier[1] == number) for allocation, number in others)


def _groups(stmt: "Any") -> "Iterator[Any]":
    """The outermost groups of several threads."""
    if stmt is None:
        return
    if kind(stmt) == "ThreadGroupStmt" and stmt.num_threads > 1:
        yield stmt
        return
    for inner in getattr(stmt, "seq", ()):
        yield from _groups(inner)
    for name in ("body", "then_body", "else_body"):
        yield from _groups(getattr(stmt, name, None))


def check(function: "Any") -> None:
    """Errors: UnsupportedError for a wait in a group that only a later group can end."""
    barriers = _Barriers(function)
    groups: "List[Any]" = list(_groups(function.body))
    for number, group in enumerate(groups):
        later: "Set[Any]" = {b for other in groups[number + 1:] for b, _ in barriers.all(other, _SIGNALS)}
        here: "Set[Any]" = {b for b, _ in barriers.all(group, _SIGNALS)}
        for barrier, wait in barriers.all(group, ("WaitBarrierInst",)):
            if _may_be_one_of(barrier, later) and not _may_be_one_of(barrier, here):
                raise at(getattr(wait, "tilevm_place", None) or ("", 0, 1), Refusal(
                    "mbarrier.wait in a group of threads for another group, which comes later in the program and would have to run at the same time",
                    "groups run one after the other here: use a version of the kernel without warp specialization, in which the threads that copy "
                    "are those that compute", "groups"))
