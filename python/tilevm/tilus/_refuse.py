"""Errors for a program that cannot be run: a code, the line of Python, and a version that would work.

    kernel.py:12:9: error[tilus.unsupported]: multicast: …
      fix: …
"""
from __future__ import annotations

from .._errors import UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._places import Place


class Refusal(Exception):
    """Raised inside of the translator, which adds the place."""

    def __init__(self, what: str, fix: str, code: str = "unsupported") -> None:
        """`code`: "unsupported" may concern one schedule; "groups" and "cluster" concern all of a script."""
        super().__init__(what)
        self.what, self.fix, self.code = what, fix, code


def at(place: "Place", refusal: Refusal) -> UnsupportedError:
    """The error that a program sees."""
    where = f"{place[0]}:{place[1]}:{place[2]}: " if place[0] else ""
    return UnsupportedError(f"{where}error[tilus.{refusal.code}]: {refusal.what}\n  fix: {refusal.fix}")
