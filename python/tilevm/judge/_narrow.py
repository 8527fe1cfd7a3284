"""Which sizes of an inferred schema may change: those that the task's function takes when they do.

    schema = narrowed(task)          # "x: float32[m, n], w: float32[n]" of a module that has a weight of 64: "x: float32[m, 64], …"

An example does not tell a size that a caller chooses from one that a parameter of the module has. So each size is changed alone, and the function is
run: a size that it refuses to have changed keeps the example's number.
"""
from __future__ import annotations

import dataclasses

from . import _cases
from ._reference import Reference, Refused
from ._schema import ArrayInput, Formula, ScalarInput, Schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict

    from ._task import Task

_MOST_ELEMENTS = 1 << 20  # of an example with which the function is run some times


def narrowed(task: "Task") -> Schema:
    """The schema with fewer sizes, or the same one. Errors: none; a function that takes no input at all is found when it is judged."""
    schema, sizes = task.schema, task.schema.example
    if schema.declared or not sizes or schema.elements(sizes) > _MOST_ELEMENTS or not _takes(task, sizes):
        return schema
    fixed = {name: number for name, number in sizes.items()
             if not any(_takes(task, {**sizes, name: other}) for other in (number - 1, number + 1, number * 2, number // 2) if other > 0)}
    return with_fixed(schema, fixed)


def _takes(task: "Task", sizes: "Dict[str, int]") -> bool:
    arguments = _cases.build(task.schema, _cases.Case(tuple(sizes.items())), [])
    try:
        Reference(task).native(arguments)
    except Refused:
        return False
    return True


def with_fixed(schema: Schema, fixed: "Dict[str, int]") -> Schema:
    """Names of sizes as numbers. For inferred schemas, whose formulas are names or numbers."""
    def number(formula: "Any") -> "Any":
        return Formula(str(fixed[formula.text])) if isinstance(formula, Formula) and formula.text in fixed else formula

    inputs = []
    for item in schema.inputs:
        if isinstance(item, ArrayInput):
            item = dataclasses.replace(item, shape=tuple(map(number, item.shape)))
        elif isinstance(item, ScalarInput):
            item = dataclasses.replace(item, value=number(item.value))
        inputs.append(item)
    return Schema(inputs, schema.rules, {name: size for name, size in schema.example.items() if name not in fixed}, schema.declared, schema.keywords)
