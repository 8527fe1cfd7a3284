"""What the words of a `.tile` text mean, from the table of operations: texts to hover over, and what may be typed at a place.

    hover("fma")                     # Markdown: syntax, meaning, an example; None for a word that means nothing
    complete(text, offset)           # [Completion]
"""
from __future__ import annotations

import re

from ..builder import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Optional

    from ._text import Definition, Text

# Words that the table does not have: those of files, types and interfaces (docs/text.md).
_STRUCTURE = {
    "entry": "A kernel: `entry @name(%x: type, …) interface { … } { operations }`.",
    "global": "A variable of the module: `global @name <i32: [1, 2]> : tile<2xi32>`.",
    "module": "The name of the module: `module @name`.",
    "interface": "How arrays and scalars become parameters, and the launch rule.",
}
_INTERFACE = {
    "in": "An array that the kernel reads: `in x: f32[%n] at %x`.",
    "out": "An array that the kernel writes: `out y: f32[x.shape[0]] at %y`.",
    "inout": "An array that the kernel reads and writes: `inout y: f32[%n] at %y`.",
    "scalar": "A number that the caller gives: `scalar a = %a default 1.0`.",
    "workspace": "Memory for the time of a launch: `workspace w: f32[x.shape[0]] at %w`.",
    "grid": "The number of blocks, one to three expressions: `grid ceildiv(x.shape[0], 128)`.",
}
_TYPES = {
    "tile": "A tile of elements in registers: `tile<16x8xf32>`; without sizes a scalar, `tile<i32>`.",
    "ptr": "A pointer to elements, as an element of a tile: `tile<64xptr<f32>>`.",
    "token": "The order of memory operations: who takes a token runs after who gave it.",
    "tensor_view": "Memory seen as a tensor: `tensor_view<?x8xf32, strides=[?,1]>`.",
    "partition_view": "A tensor cut into tiles: `partition_view<tile=(64)>`; also padding_value, dim_map.",
    "strided_view": "Tiles of a tensor that begin at multiples of steps: `strided_view<tile=(4x2), traversal_strides=[4,3]>`.",
    "gather_scatter_view": "Tiles whose rows are chosen by indices: `gather_scatter_view<tile=(4x2), sparse_dim=0>`.",
}


class Completion:
    """`kind`: "operation", "keyword", "type", "value"."""

    __slots__ = ("label", "kind", "detail", "documentation")

    def __init__(self, label: str, kind: str, detail: str = "", documentation: str = "") -> None:
        self.label, self.kind, self.detail, self.documentation = label, kind, detail, documentation


def hover(word: str, operation: str = "") -> "Optional[str]":
    """Markdown for a word; `operation` is the one that it stands behind, whose enumerations are meant first."""
    found = table()
    if word in found["op_of"]:
        return _operation(found["op_of"][word])
    for element in found["elements"]:
        if element["spelling"] == word:
            return f"**{word}**: element type, {element['bits']} bits, {element['storage']} in memory"
    enums = [e["enum"] for e in found["enums"] if e["keyword"] == word]
    if enums:
        attributes = _enums_of(operation)
        enums = [e for e in enums if e in attributes] or enums
        return "\n\n".join(f"**{word}**: {enum}, one of {', '.join(_keywords(enum))}" for enum in dict.fromkeys(enums))
    for words in (_STRUCTURE, _INTERFACE, _TYPES):
        if word in words:
            return f"**{word}**\n\n{words[word]}"
    for row in found["foreign_names"]:
        if row["name"] == word:
            return f"`{word}` is no word of tile code. What does it: `{row['form']}`" if row["form"] else f"`{word}` is called `{row['own']}`"
    return None


def _operation(op: "Dict[str, Any]") -> str:
    format = table()["format_of"][op["format"]]
    since = f"{op['since'] // 100}.{op['since'] % 100}" if op["since"] >= 100 else str(op["since"])
    lines = [f"```tile\n{op['mnemonic']} {format['syntax']}".rstrip() + "\n```", op["doc"]]
    if op["example"]:
        lines.append(f"```tile\n{op['example'].strip()}\n```")
    lines.append(f"*{op['family']}, since {since}; `tilevm ops {op['mnemonic']}`*")
    return "\n\n".join(line for line in lines if line.strip())


def _enums_of(operation: str) -> "List[str]":
    op = table()["op_of"].get(operation)
    return [] if op is None else [a["enum"] for a in table()["format_of"][op["format"]]["attributes"] if a["kind"] == "enum"]


def _keywords(enum: str) -> "List[str]":
    return [e["keyword"] for e in table()["enums"] if e["enum"] == enum]


def _flags_of(operation: str) -> "List[str]":
    op = table()["op_of"].get(operation)
    return [] if op is None else [a["name"] for a in table()["format_of"][op["format"]]["attributes"] if a["kind"] == "flag"]


def operation_of(line: str) -> str:
    """The operation that a line holds, or "" if it holds none: `%r = fma %a` holds fma."""
    match = re.match(r"\s*(?:%[^=]*=\s*)?([A-Za-z_]\w*)", line)
    return match[1] if match else ""


def complete(text: "Text", offset: int) -> "List[Completion]":
    """What may stand at the place: a value behind %, a type in one, an operation where one begins, its words behind it."""
    if text.is_comment(offset):
        return []
    before = text.text[text.text.rfind("\n", 0, offset) + 1:offset]
    word = re.search(r"[\w$.]*$", before)
    lead = before[:word.start()] if word else before
    if lead.endswith("%"):
        return [_value(d) for d in text.visible_values(offset)]
    if re.search(r"<[^<>]*$|(?::|->)\s*[^=]*$", lead) and not re.search(r"\b(?:in|out|inout|scalar)\s+\w*$", lead):
        return list(_type_words())
    if re.fullmatch(r"\s*(?:%[^=]*=\s*)?", lead):
        return [*_operations(), *(Completion(w, "keyword", "", d) for words in (_STRUCTURE, _INTERFACE) for w, d in words.items())]
    operation = operation_of(before)
    words = [Completion(k, "keyword", enum) for enum in _enums_of(operation) for k in _keywords(enum)]
    return words + [Completion(flag, "keyword", "flag") for flag in _flags_of(operation)] + [_value(d) for d in text.visible_values(offset)]


def _value(definition: "Definition") -> Completion:
    return Completion(definition.name, "value", definition.detail)


def _operations() -> "Iterator[Completion]":
    for op in table()["ops"]:
        yield Completion(op["mnemonic"], "operation", table()["format_of"][op["format"]]["syntax"], op["doc"])


def _type_words() -> "Iterator[Completion]":
    for element in table()["elements"]:
        yield Completion(element["spelling"], "type", f"{element['bits']} bits")
    for word, documentation in _TYPES.items():
        yield Completion(word, "type", "", documentation)
