"""tl.multiple_of of scalars as an assumption in the kernel.

Triton notes the divisor on the operation that computes the value. A parameter and what a loop carries have no such operation, so Triton
drops the promise. As an assumption it stays, so that compilers use it and the VM checks it.
"""
from __future__ import annotations

import functools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List


def keep() -> None:
    """Changes Triton's frontend, once."""
    from triton.language import core, semantic

    cls = semantic.TritonSemantic
    theirs = cls.multiple_of
    if hasattr(theirs, "__wrapped__"):
        return

    @functools.wraps(theirs)
    def multiple_of(self: "Any", x: "Any", values: "List[int]") -> "Any":
        result = theirs(self, x, values)
        divisor = int(values[0])
        is_pointer = x.type.is_ptr()
        if x.type.is_block() or divisor < 2 or not (is_pointer or x.type.is_int()):
            return result
        number = self.cast(x, core.int64) if is_pointer else x
        self.assume(self.equal(self.mod(number, divisor), 0))
        return result

    setattr(cls, "multiple_of", multiple_of)
