"""Lines of Python in Tilus' IR, which has none: each instruction remembers the place of the call that made it.

    note_places()          from here on, in this process and those that it forks

A place is an attribute of the instruction object, because programs cross process boundaries. Passes that make a new instruction of an old one
hand it on. Functions that print an instruction or take it apart do not see it.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List

    from .._places import Place

NAME = "tilevm_place"
_current: "List[Place]" = []


def note_places() -> None:
    from tilus.ir.builders import stmt_builder
    from tilus.ir.functors import functor
    from tilus.ir.inst import Instruction
    from tilus.lang.transpiler import Transpiler

    _follow_calls(Transpiler)
    _mark_new(stmt_builder.StmtBuilderCore, Instruction)
    _hand_on(functor.IRRewriter)
    Instruction.attributes = property(lambda self: {name: value for name, value in self.__dict__.items() if name not in ("output", "inputs", NAME)})


def _follow_calls(transpiler: "Any") -> None:
    import ast

    original = transpiler.visit

    def visit(self: "Any", node: "Any") -> "Any":
        if not isinstance(node, (ast.stmt, ast.expr)) or not hasattr(node, "lineno"):
            return original(self, node)
        _current.append((self.file, self.start_lineno + node.lineno - 1, self.start_column + node.col_offset + 1))
        try:
            return original(self, node)
        finally:
            _current.pop()

    transpiler.visit = visit


def _mark_new(builder: "Any", instruction: "Any") -> None:
    original = builder.append

    def append(self: "Any", item: "Any") -> None:
        if isinstance(item, instruction) and _current and NAME not in item.__dict__:
            object.__setattr__(item, NAME, _current[-1])
        original(self, item)

    builder.append = append


def _hand_on(rewriter: "Any") -> None:
    """visit() calls all methods of a rewriter, those for one kind of instruction among them."""
    original = rewriter.visit

    def visit(self: "Any", node: "Any") -> "Any":
        made = original(self, node)
        place = getattr(node, NAME, None)
        if place is not None and made is not node and made is not None:
            for new in _made_instructions(made):
                if NAME not in new.__dict__:
                    object.__setattr__(new, NAME, place)
        return made

    rewriter.visit = visit


def _made_instructions(made: "Any") -> "List[Any]":
    if hasattr(made, "inputs") and hasattr(made, "output"):
        return [made]
    if hasattr(made, "inst"):
        return [made.inst]
    return [s.inst for s in getattr(made, "seq", ()) if hasattr(s, "inst")]


def places(program: "Any") -> str:
    """The places of all instructions, in order, as text. Two programs may differ in nothing else."""
    from ._scan import instructions

    return "\n".join(str(getattr(inst, NAME, "")) for f in program.functions.values() for inst in instructions(f.body))
