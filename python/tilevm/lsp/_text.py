"""What the names of a `.tile` text mean, also of one that is being typed: where each is defined, and where it is visible.

    text = Text("entry @k(%x: tile<ptr<f32>>) {\\n  %i, %j, %k = get_tile_block_id\\n}")
    text.definition_at(offset)          # of the %value or @symbol there, or None

docs/text.md has the grammar. A text with mistakes gives what can be seen in it; the parser of the library says what is wrong.
"""
from __future__ import annotations

import bisect
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, Iterator, List, Optional, Tuple

_TOKEN = re.compile(r"""(?P<comment>//[^\n]*)|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<value>%(?:[\w$.]|-(?=\d))+(?:\#\d+)?)"""
                    r"""|(?P<symbol>@(?:[\w$.]+|"(?:[^"\\\n]|\\.)*"))|(?P<word>[A-Za-z_]\w*)|(?P<number>\d[\w.]*)|(?P<mark>->|[^\s])""")


class Token:
    """`kind` is a name of a group above; `start` and `end` are offsets."""

    __slots__ = ("kind", "text", "start", "end")

    def __init__(self, kind: str, text: str, start: int, end: int) -> None:
        self.kind, self.text, self.start, self.end = kind, text, start, end


class Definition:
    """Of a value or symbol: `kind` ("value", "parameter", "argument", "entry", "global"), the place of its name, the offsets between which
    it is visible, and `detail`: a type, or the line that defines it."""

    __slots__ = ("name", "kind", "start", "end", "first", "last", "detail")

    def __init__(self, name: str, kind: str, token: Token, first: int, last: int, detail: str) -> None:
        self.name, self.kind, self.start, self.end = name, kind, token.start, token.end
        self.first, self.last, self.detail = first, last, detail


class Text:
    """A text and its definitions."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = [Token(m.lastgroup or "", m[0], m.start(), m.end()) for m in _TOKEN.finditer(text)]
        self.comments = [token for token in found if token.kind == "comment"]
        self.tokens = [token for token in found if token.kind != "comment"]
        self._starts = [token.start for token in self.tokens]
        self._partners = self._pair()
        self.definitions: "Dict[str, List[Definition]]" = {}
        for definition in (*self._symbols(), *self._results(), *self._arguments()):
            self.definitions.setdefault(definition.name, []).append(definition)

    def token_at(self, offset: int) -> "Optional[Token]":
        """The token that covers the offset, or ends there."""
        at = bisect.bisect_right(self._starts, offset) - 1
        for i in (at, at - 1):
            if 0 <= i < len(self.tokens) and self.tokens[i].start <= offset <= self.tokens[i].end:
                return self.tokens[i]
        return None

    def is_comment(self, offset: int) -> bool:
        return any(token.start < offset <= token.end for token in self.comments)

    def definition_at(self, offset: int) -> "Optional[Definition]":
        token = self.token_at(offset)
        return None if token is None or token.kind not in ("value", "symbol") else self.definition_of(token)

    def definition_of(self, token: Token) -> "Optional[Definition]":
        """The nearest one before the token that is visible there."""
        name = token.text.split("#")[0] if token.kind == "value" else token.text
        visible = [d for d in self.definitions.get(name, ()) if d.start == token.start or d.first <= token.start < d.last]
        return max(visible, key=lambda d: d.first) if visible else None

    def visible_values(self, offset: int) -> "Iterator[Definition]":
        for definitions in self.definitions.values():
            seen = [d for d in definitions if d.name.startswith("%") and d.first < offset <= d.last]
            if seen:
                yield max(seen, key=lambda d: d.first)

    def symbols(self) -> "Iterator[Definition]":
        for definitions in self.definitions.values():
            yield from (d for d in definitions if d.name.startswith("@"))

    def line_at(self, offset: int) -> str:
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        return self.text[start:end if end >= 0 else len(self.text)].strip()

    # --- how it is found

    def _pair(self) -> "Dict[int, int]":
        """Numbers of the tokens that close what others open; the last one for what is still open."""
        partners: "Dict[int, int]" = {}
        opened: "List[int]" = []
        closes = {")": "(", "}": "{", "]": "["}
        for i, token in enumerate(self.tokens):
            if token.text in "([{" and token.kind == "mark":
                opened.append(i)
            elif token.text in closes and token.kind == "mark":
                kinds = [self.tokens[j].text for j in opened]
                if closes[token.text] in kinds:  # else nothing is open that it closes
                    while self.tokens[opened[-1]].text != closes[token.text]:
                        partners[opened.pop()] = i
                    partners[opened.pop()] = i
        partners.update((i, len(self.tokens)) for i in opened)
        return partners

    def _offset(self, i: int) -> int:
        return self.tokens[i].start if i < len(self.tokens) else len(self.text) + 1

    def _region(self, i: int) -> int:
        """Where the region that token i is in ends."""
        around = [end for start, end in self._partners.items() if start < i < end and self.tokens[start].text == "{"]
        return self._offset(min(around, default=len(self.tokens)))

    def _body_after(self, i: int) -> "Tuple[int, int]":
        """From token i to the end of the next region; those of an interface and of hints are passed over."""
        while i < len(self.tokens):
            if self.tokens[i].text == "{":
                if self._text(i - 1) not in ("interface", "="):
                    return self.tokens[i].start, self._offset(self._partners[i])
                i = self._partners[i]
            i += 1
        return len(self.text), len(self.text) + 1

    def _begins_line(self, token: Token) -> bool:
        before = self.text[self.text.rfind("\n", 0, token.start) + 1:token.start].strip()
        return before == "" or before.endswith("{")

    def _symbols(self) -> "Iterator[Definition]":
        for i, token in enumerate(self.tokens):
            if token.kind != "word" or token.text not in ("entry", "global"):
                continue
            name = next((t for t in self.tokens[i + 1:i + 4] if t.kind == "symbol"), None)
            if name is not None and self._begins_line(token):
                yield Definition(name.text, token.text, name, 0, len(self.text) + 1, self.line_at(token.start))

    def _results(self) -> "Iterator[Definition]":
        """`%a, %b:2 = …` at the beginning of a line."""
        i = 0
        while i < len(self.tokens):
            first = i
            names: "List[Token]" = []
            while i < len(self.tokens) and self.tokens[i].kind == "value":
                names.append(self.tokens[i])
                i += 3 if self._text(i + 1) == ":" and i + 2 < len(self.tokens) and self.tokens[i + 2].kind == "number" else 1
                if self._text(i) != ",":
                    break
                i += 1
            if names and self._text(i) == "=" and self._begins_line(names[0]):
                end, line = self._region(first), self.line_at(names[0].start)
                yield from (Definition(name.text, "value", name, self._end_of_line(name), end, line) for name in names)
            i = max(i, first + 1)

    def _end_of_line(self, token: Token) -> int:
        end = self.text.find("\n", token.end)
        return end if end >= 0 else len(self.text)

    def _text(self, i: int) -> str:
        return self.tokens[i].text if i < len(self.tokens) else ""

    def _arguments(self) -> "Iterator[Definition]":
        """Parameters of entries, the index of a `for`, carried values, arguments of the bodies of `reduce` and `scan`."""
        for i, token in enumerate(self.tokens):
            before = self.tokens[i - 1] if i > 0 else None
            if token.text == "for" and self._begins_of_operation(i):
                at = i + 2 if self._text(i + 1) == "unsigned" else i + 1
                if at < len(self.tokens) and self.tokens[at].kind == "value":
                    yield Definition(self._text(at), "argument", self.tokens[at], *self._body_after(at), self.line_at(token.start))
            elif token.text == "(" and before is not None:
                if before.kind == "symbol" and self._text(i - 2) in ("entry", "private"):
                    body = self._body_after(self._partners[i])[1]
                    yield from self._listed(i, "parameter", token.start, body)
                elif before.text == "iter_values":
                    yield from self._listed(i, "argument", *self._body_after(self._partners[i]))
                elif self._text(self._partners[i] + 1) == "{" and self._text(i + 2) in (",", ":", ")"):
                    yield from self._listed(i, "argument", *self._body_after(self._partners[i]))

    def _begins_of_operation(self, i: int) -> bool:
        return self._begins_line(self.tokens[i]) or self._text(i - 1) == "="

    def _listed(self, opened: int, kind: str, first: int, last: int) -> "Iterator[Definition]":
        """The names in parentheses: each stands behind the parenthesis or a comma of this list."""
        depth, i = 0, opened + 1
        while i < min(self._partners[opened], len(self.tokens)):
            token = self.tokens[i]
            depth += (token.text in ("<", "[", "(")) - (token.text in (">", "]", ")"))
            if token.kind == "value" and depth == 0 and self._text(i - 1) in ("(", ","):
                stop = i + 1
                inner = 0
                while stop < len(self.tokens) and not (inner == 0 and self._text(stop) in (",", ")")) and self._text(stop) != "{":
                    inner += (self._text(stop) in ("<", "[")) - (self._text(stop) in (">", "]"))
                    stop += 1
                yield Definition(token.text, kind, token, first, last, self.text[token.start:self._offset(stop)].strip())
            i += 1
