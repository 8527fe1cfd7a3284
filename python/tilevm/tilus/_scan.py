"""Facts of a function that its translation needs before it begins.

    statements(stmt)          all of them, in order
    changed(body)             variables and tensors that it assigns, which a loop carries
    leaves(body)              whether it ends the loop around it before its time
    depths(function)          of asynchronous groups
    roots(function)           of each shared tensor the allocation that it is a part of
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List

_BODIES = ("body", "then_body", "else_body")
# Instructions that make another name for a part of their first input.
_PARTS = ("SliceSharedInst", "ReshapeSharedInst", "PermuteSharedInst")
_TMEM_PARTS = ("Tcgen05SliceInst", "Tcgen05ViewInst")
# Families of asynchronous groups, by the instructions that commit them and wait for them.
COMMITS = {"CopyAsyncCommitGroupInst": "copy", "CopyAsyncTensorCommitGroupInst": "tma", "CopyAsyncBulkCommitGroupInst": "bulk",
           "WgmmaCommitGroupInst": "wgmma"}
WAITS = {"CopyAsyncWaitGroupInst": "copy", "CopyAsyncTensorWaitGroupInst": "tma", "CopyAsyncBulkWaitGroupInst": "bulk",
         "WgmmaWaitGroupInst": "wgmma"}


def kind(node: "Any") -> str:
    return type(node).__name__


def statements(stmt: "Any", into_loops: bool = True) -> "Iterator[Any]":
    if stmt is None:
        return
    yield stmt
    if kind(stmt) == "SeqStmt":
        for inner in stmt.seq:
            yield from statements(inner, into_loops)
        return
    if not into_loops and kind(stmt) in ("ForStmt", "WhileStmt"):
        return
    for name in _BODIES:
        yield from statements(getattr(stmt, name, None), into_loops)


def instructions(stmt: "Any") -> "Iterator[Any]":
    for s in statements(stmt):
        if kind(s) == "InstStmt":
            yield s.inst


def changed(body: "Any", tmem_root: "Dict[Any, Any]") -> "List[Any]":
    """The variables and tensors that a body assigns, in order, each once."""
    found: "Dict[Any, None]" = {}
    for s in statements(body):
        if kind(s) == "AssignStmt":
            found[s.var] = None
        elif kind(s) == "InstStmt":
            inst = s.inst
            if inst.output is not None and kind(inst.output) == "RegisterTensor":
                found[inst.output] = None
            if kind(inst) in ("AssignInst", "SliceAssignInst"):
                found[inst.inputs[0]] = None
            elif kind(inst).startswith("WgmmaMma"):
                found[inst.inputs[2]] = None
            for tensor in inst.inputs:
                if kind(tensor) == "TMemoryTensor" and kind(inst) not in ("Tcgen05LoadInst", *_TMEM_PARTS):
                    found[tmem_root.get(tensor, tensor)] = None
    return list(found)


def leaves(body: "Any") -> bool:
    return any(kind(s) == "BreakStmt" for s in statements(body, into_loops=False)) or any(
        kind(s) == "ReturnStmt" or (kind(s) == "InstStmt" and kind(s.inst) == "ExitInst") for s in statements(body))


def depths(function: "Any") -> "Dict[str, int]":
    """For each kind of asynchronous groups, the largest number that a wait leaves under way."""
    found: "Dict[str, int]" = {}
    for inst in instructions(function.body):
        name = WAITS.get(kind(inst))
        if name:
            n = inst.n if isinstance(inst.n, int) else getattr(inst.n, "value", 0)
            found[name] = max(found.get(name, 0), int(n))
    return found


def roots(function: "Any", parts: "Any" = _PARTS, alloc: str = "AllocateSharedInst") -> "Dict[Any, Any]":
    found: "Dict[Any, Any]" = {}
    for inst in instructions(function.body):
        if kind(inst) == alloc:
            found[inst.output] = inst.output
        elif kind(inst) in parts:
            found[inst.output] = found.get(inst.inputs[0], inst.inputs[0])
    return found


def tmem_roots(function: "Any") -> "Dict[Any, Any]":
    return roots(function, _TMEM_PARTS, "Tcgen05AllocInst")


def base_of(pointer: "Any", lets: "Dict[Any, Any]") -> "Any":
    """The pointer that another one is computed from: a parameter, as a rule."""
    while True:
        if pointer in lets:
            pointer = lets[pointer]
        elif kind(pointer) == "Cast":
            pointer = pointer.expr
        elif kind(pointer) in ("Add", "Sub"):
            pointer = pointer.a if kind(pointer.a) in ("Cast", "Var", "Add", "Sub") and _leads_to_pointer(pointer.a, lets) else pointer.b
        else:
            return pointer


def _leads_to_pointer(expr: "Any", lets: "Dict[Any, Any]") -> bool:
    from ._types import is_pointer

    return kind(expr) in ("Add", "Sub") or is_pointer(getattr(expr, "type", None) or getattr(expr, "target_type", None))


def bound_once(function: "Any") -> "Dict[Any, Any]":
    """The expressions of variables that let statements bind."""
    found: "Dict[Any, Any]" = {}
    for s in statements(function.body):
        if kind(s) == "LetStmt":
            found.update(zip(s.bind_vars, s.bind_values))
    return found


class Memory:
    """Which memory a tensor is a part of, and which memory the program writes. Other memory needs no order."""

    # Instructions that write their first input, and those that write what a pointer leads to.
    _WRITE = ("StoreGlobalInst", "StoreSharedInst", "StoreSharedScatterInst", "StoreGlobalScatterInst", "CopyAsyncInst", "CopyAsyncGenericInst",
              "CopyAsyncTensorGlobalToSharedInst", "CopyAsyncTensorSharedToGlobalInst", "CopyAsyncBulkGlobalToSharedInst",
              "CopyAsyncBulkSharedToGlobalInst", "AtomicSharedInst", "AtomicGlobalInst", "AtomicScatterSharedInst", "AtomicScatterGlobalInst")

    def __init__(self, function: "Any") -> None:
        lets = bound_once(function)
        self._lets = lets
        self._root: "Dict[Any, Any]" = dict(roots(function))
        self._written: "Dict[Any, None]" = {}
        for inst in instructions(function.body):
            if kind(inst) == "GlobalViewInst":
                self._root[inst.output] = base_of(inst.ptr, lets)
            elif kind(inst) == "AllocateGlobalInst":
                self._root[inst.output] = inst.output
            elif kind(inst) == "SliceGlobalInst":
                self._root[inst.output] = self.root(inst.inputs[0])
        for s in statements(function.body):
            if kind(s) == "TensorItemPtrStmt" and kind(s.tensor) == "GlobalTensor":
                self._root[s.ptr_var] = self.root(s.tensor)
        for inst in instructions(function.body):
            if kind(inst) in self._WRITE:
                self._written[self.root(inst.inputs[0])] = None
            elif kind(inst) in ("StoreGlobalGenericInst",):
                self._written[self.root(inst.ptr)] = None

    def root(self, tensor_or_pointer: "Any") -> "Any":
        if tensor_or_pointer in self._root:
            return self._root[tensor_or_pointer]
        base = base_of(tensor_or_pointer, self._lets)
        return self._root.get(base, base)

    def is_written(self, tensor_or_pointer: "Any") -> bool:
        return self.root(tensor_or_pointer) in self._written


def layout_key(tensor: "Any") -> "Any":
    """A key of which thread has which element of a register tensor; None if that is not known."""
    layout = getattr(tensor, "optional_layout", None)
    return None if layout is None else (tuple(layout.shape), tuple(layout.mode_shape), tuple(layout.spatial_modes), tuple(layout.local_modes))
