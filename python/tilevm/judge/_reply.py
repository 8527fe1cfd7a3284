"""What an answer's process said, with its form checked: the process may be hostile, so that no field is believed to be there or of its type.

    reply = Reply(said, blobs)      # Errors: Unbelievable
    reply.said["launches"], reply.results, reply.after, reply.kept

Whether what it claims is true is another question: values are compared with a reference that the process cannot see.
"""
from __future__ import annotations

from . import _values
from ._reference import flatten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List

_MOST_ELEMENTS = 1 << 28  # of an array of a result; an expanded one needs no memory in the process of the answer, and needs it here
# A type; [form] a list of it; {str: form} a mapping; {"key": form} an object with these keys; (form, form) one of them.
_CALL = {"launches": [[object]], "torch": {str: int}, "tf32": bool, "replaced": [str], "threads": int, "changed": [int], "copied": [int],
         "streams": [str], "coverage": [[object]],
         "warnings": [{"code": str, "text": str, "file": (str, None), "line": (int, None)}],
         "unwritten": [{"result": int, "count": int, "of": int, "first": [int], "made_at": (str, None)}]}
_ERROR = {"type": str, "text": str, "code": (str, None), "unsupported": bool, "late": bool}


class Unbelievable(Exception):
    """What came is no reply."""


class Reply:
    """Of one call: `said`, the claims; `results`, arrays and numbers in order; `after`, the arrays of the arguments; `kept`, results of
    earlier calls as they are now. Errors: Unbelievable."""

    def __init__(self, said: "Dict[str, Any]", blobs: "List[bytes]") -> None:
        _ask(said, _CALL)
        for launch in said["launches"]:
            _ask(launch, [object])
            if len(launch) != 3 or not _fits(launch[2], {str: object}):
                raise Unbelievable("a launch without a name, a grid and constants")
        try:
            results, after, kept = _values.unpack(said["arrays"], blobs)
            self.results = flatten(results)
            self.after = [each for each in flatten(after) if _values.is_array(each)]
            self.kept = [flatten(each) for each in kept]
        except (_values.Unpackable, KeyError, ValueError, TypeError) as error:
            raise Unbelievable(str(error)) from None
        for array in [*self.results, *self.after]:
            if _values.is_array(array) and _values.count(array) > _MOST_ELEMENTS:
                raise Unbelievable(f"an array of {_values.count(array)} elements")
        self.said = clean(said)


def error_of(said: "Dict[str, Any]") -> "Dict[str, Any]":
    """What a call ended in. Errors: Unbelievable."""
    _ask(said, {"error": _ERROR})
    found: "Dict[str, Any]" = clean(said["error"])
    if not _fits(found.get("line"), (int, None)) or not _fits(found.get("file"), (str, None)):
        raise Unbelievable("an error without a place")
    return found


def clean(value: "Any") -> "Any":
    """Texts without characters that a terminal obeys."""
    if isinstance(value, str):
        return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in value)
    if isinstance(value, list):
        return [clean(each) for each in value]
    return {clean(key): clean(each) for key, each in value.items()} if isinstance(value, dict) else value


def _ask(value: "Any", form: "Any") -> None:
    if not _fits(value, form):
        raise Unbelievable("a reply of another form")


def _fits(value: "Any", form: "Any") -> bool:
    if isinstance(form, tuple):
        return any(_fits(value, each) for each in form)
    if isinstance(form, list):
        return type(value) is list and all(_fits(each, form[0]) for each in value)
    if isinstance(form, dict):
        if type(value) is not dict:
            return False
        if str in form:
            return all(_fits(each, form[str]) for each in value.values())
        return all(key in value and _fits(value[key], each) for key, each in form.items())
    return value is None if form is None else form is object or type(value) is form
