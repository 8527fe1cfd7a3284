"""Variables, register tensors and tokens, which a program changes while it runs, as values that loops carry and ifs give.

Tilus assigns; the text form is SSA. A key is a variable, a tensor, or a text: of a token, or of the state of barriers. Each region has a
frame. A loop carries the keys that its body assigns, which _scan.py finds before, and every text that its body uses as a key. An if gives the
keys that one of its branches has changed. Heads and terminators are written when this is known.

    state[var] = tile;  state[var];  var in state
    with state.loop(changed, …)
"""
from __future__ import annotations

import contextlib

from ._writer import Tile, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

    from ._writer import Writer


def _another(value: "Any", name: str) -> "Any":
    """A value of the same type."""
    return Token(name) if isinstance(value, Token) else Tile(name, value.shape, value.dtype)


class _Frame:
    def __init__(self, kind: str) -> None:
        self.kind = kind  # "top", "loop", "branch"
        self.now: "Dict[Any, Any]" = {}
        self.carried: "Dict[Any, Any]" = {}  # of a loop: the names of its body's arguments
        self.breaks: "List[Tuple[int, str, Dict[Any, Any]]]" = []  # line, mnemonic, values where a loop is left or begun anew
        self.ended = False  # whether it has a terminator other than the usual one


class State:
    def __init__(self, writer: "Writer") -> None:
        self.w = writer
        self._frames = [_Frame("top")]
        self._none: "Optional[Token]" = None

    # --- values by key

    def __contains__(self, key: "Any") -> bool:
        return any(key in frame.now for frame in self._frames)

    def __getitem__(self, key: "Any") -> "Any":
        return self._get(key, len(self._frames) - 1)

    def __setitem__(self, key: "Any", value: "Any") -> None:
        top = self._frames[-1]
        if isinstance(key, str) and top.kind == "loop" and key not in top.now:
            self._get(key, len(self._frames) - 1)  # so that it is carried
        top.now[key] = value

    def update(self, values: "Any") -> None:
        """Sets the keys of a dictionary, or of pairs."""
        for key, value in dict(values).items():
            self[key] = value

    def _get(self, key: "Any", depth: int) -> "Any":
        frame = self._frames[depth]
        if key in frame.now:
            return frame.now[key]
        if depth == 0:
            if isinstance(key, str):
                return self.none()
            raise KeyError(key)
        if isinstance(key, str) and frame.kind == "loop":
            outer = self._get(key, depth - 1)
            frame.now[key] = frame.carried[key] = _another(outer, self.w.name())
            return frame.now[key]
        return self._get(key, depth - 1)

    def none(self) -> Token:
        """The token that the entry makes, which waits for nothing."""
        assert self._none is not None
        return self._none

    def begin(self) -> None:
        """Writes the token that waits for nothing, at the top of the entry."""
        self._none = self.w.token("make_token")

    @property
    def ended(self) -> bool:
        """Whether the region has its terminator: nothing may follow."""
        return self._frames[-1].ended

    # --- loops

    @contextlib.contextmanager
    def loop(self, head: str, changed: "Iterable[Any]", index: "Optional[Tuple[Any, Tile, str]]" = None) -> "Iterator[None]":
        """Around the body of a `for` ("for %i in (%a to %b, step %c) : tile<i32>") or a `loop`. `index` is, of a loop that counts itself, the
        key of the index, its first value and the operation that gives the next one."""
        frame = _Frame("loop")
        for key in changed:
            if key in self:
                old = self[key]
                frame.now[key] = frame.carried[key] = Tile(self.w.name(), old.shape, old.dtype)
        if index is not None:
            frame.now[index[0]] = frame.carried[index[0]] = Tile(self.w.name(), (), index[1].dtype)
            self._frames[-1].now[index[0]] = index[1]
        self._frames.append(frame)
        with self.w.body(head) as line:
            yield
            if not frame.ended:
                if index is not None:
                    frame.now[index[0]] = self.w.op(index[2].format(frame.now[index[0]]), (), index[1].dtype)
                self._leave("continue")
        self._frames.pop()
        self._close_loop(frame, line, head)

    def _close_loop(self, frame: _Frame, line: int, head: str) -> None:
        keys = list(frame.carried)
        for at, mnemonic, values in frame.breaks:
            self.w.replace(at, f"{mnemonic} {', '.join(str(values.get(key, frame.carried[key])) for key in keys)}".rstrip())
        if not keys:
            self.w.replace(line, head + " {")
            return
        results = []
        pairs = ", ".join(f"{frame.carried[key]} = {self[key]}" for key in keys)
        for key in keys:
            old = frame.carried[key]
            results.append(_another(old, self.w.name()))
        types = ", ".join(r.type for r in results)
        into = f" : {types} -> {types}" if head == "loop" else f" -> ({types})"
        self.w.replace(line, f"{', '.join(map(str, results))} = {head} iter_values({pairs}){into} {{")
        for key, made in zip(keys, results):
            self[key] = made

    def _leave(self, mnemonic: str) -> None:
        """Writes break or continue, whose operands are filled in when the loop is over."""
        depth = max(i for i, frame in enumerate(self._frames) if frame.kind == "loop")
        values: "Dict[Any, Any]" = {}
        for frame in self._frames[depth:]:
            values.update(frame.now)
        at = self.w.put(mnemonic)
        self._frames[depth].breaks.append((at, mnemonic, values))
        self._frames[-1].ended = True

    def leave_loop(self) -> None:
        self._leave("break")

    def leave_kernel(self) -> None:
        self.w.put("return")
        self._frames[-1].ended = True

    # --- ifs

    def branches(self, condition: Tile, then: "Any", otherwise: "Any" = None) -> None:
        """Writes an if; `then` and `otherwise` are called to write the bodies."""
        with self.w.body(f"if {condition}", end="") as line:
            first, first_end = self._branch(then)
        if otherwise is None and (first.ended or not first.now):
            self.w.put("}", "close")
            return
        with self.w.body("} else", end="") as middle:
            second, second_end = self._branch(otherwise or (lambda: None))
        self.w.put("}", "close")
        self.w.kinds[middle] = ""
        self._close_if(condition, line, (first, first_end), (second, second_end))

    def _branch(self, write: "Any") -> "Tuple[_Frame, int]":
        frame = _Frame("branch")
        self._frames.append(frame)
        write()
        end = -1 if frame.ended else self.w.put("yield")
        self._frames.pop()
        return frame, end

    def _close_if(self, condition: Tile, line: int, *branches: "Tuple[_Frame, int]") -> None:
        live = [frame for frame, _ in branches if not frame.ended]
        if not live:
            self._frames[-1].ended = True
        keys = [key for key in dict.fromkeys(k for frame in live for k in frame.now) if isinstance(key, str) or key in self]
        keys = [key for key in keys if any(key in frame.now and frame.now[key] is not self[key] for frame in live)]
        results: "List[Any]" = []
        for key in keys:
            results.append(_another(self[key], self.w.name()))
        for frame, end in branches:
            if end >= 0:
                self.w.replace(end, f"yield {', '.join(str(frame.now.get(key, self[key])) for key in keys)}".rstrip())
        if keys:
            types = ", ".join(r.type for r in results)
            self.w.replace(line, f"{', '.join(map(str, results))} = if {condition} -> ({types}) {{")
        for key, made in zip(keys, results):
            self[key] = made
