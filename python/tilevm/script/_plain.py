"""`assert` on a tile in a function that was not rewritten (_rewrite.py): one whose source cannot be read, or that a kernel calls without a
decorator. Python asks the tile whether it is true; the instructions behind the question say that an assert asks, and what its message is.

    assert x.shape[0] <= 128, "too long"      # POP_JUMP_IF_TRUE, LOAD_ASSERTION_ERROR, LOAD_CONST "too long"
"""
from __future__ import annotations

import dis
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional


def assertion(depth: int = 1) -> "Optional[str]":
    """The message of the assert statement that runs in the function that called so many calls up; None if it runs something else. A message that is no
    text in the program is left out."""
    frame = sys._getframe(depth + 1)
    behind = [i for i in dis.get_instructions(frame.f_code) if i.offset >= frame.f_lasti and i.opname not in ("CACHE", "NOT_TAKEN", "NOP")][:4]
    if behind and behind[0].opname == "TO_BOOL":  # from 3.13 on
        behind = behind[1:]
    names = [i.opname for i in behind]
    raises = names[1:2] == ["LOAD_ASSERTION_ERROR"] or names[1:2] == ["LOAD_COMMON_CONSTANT"] and behind[1].argval is AssertionError
    if not names or not (names[0].startswith("POP_JUMP") and names[0].endswith("IF_TRUE") and raises):
        return None
    message = behind[2].argval if names[2:3] == ["LOAD_CONST"] else None
    return message if isinstance(message, str) and message else "an assertion failed"
