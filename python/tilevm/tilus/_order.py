"""Tokens for the order of memory accesses, which Tilus leaves to its program. An access has no token of another one that the program does not
order before it, so that --check=full finds the mistake (vm.missing_token).

    ready     accesses before the last sync, on which all threads may rely
    since     accesses since then; the next sync adds them to `ready`
    own N     accesses since then whose threads are the same (one layout, one window): each thread is in order with itself
    KIND M    asynchronous groups: `open` (not committed), 0 (committed last), 1, …, `old`; a wait adds those that it ends to `since`
    barrier N accesses that complete on a barrier; a wait adds them to `ready`
    group N   accesses that a group of threads may rely on, from one of its bodies to the next

Each is a key of the state, so that loops carry them.
"""
from __future__ import annotations

import contextlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List

    from ._state import State
    from ._writer import Token


class Order:
    def __init__(self, state: "State", depths: "Dict[str, int]") -> None:
        """`depths`: for each kind of asynchronous groups, how many of the last ones a wait leaves under way."""
        self.state = state
        self.depths = depths
        self._single: "List[bool]" = [False]  # for each group around: whether it is one thread, which is in order with itself
        self._own: "Dict[Any, str]" = {}

    def join(self, *tokens: "Token") -> "Token":
        none = self.state.none()
        found = list(dict.fromkeys(t for t in tokens if t is not none))
        if len(found) < 2:
            return found[0] if found else none
        return self.state.w.token(f"join_tokens {', '.join(map(str, found))}")

    def add(self, key: str, *tokens: "Token") -> None:
        if tokens and any(t is not self.state.none() for t in tokens):
            self.state[key] = self.join(self.state[key], *tokens)

    # --- accesses

    def before(self, threads: "Any" = None) -> "Token":
        """The token that an access takes. `threads`: a key of which thread accesses which element; None if that is not known."""
        own = [self.state[self._own_key(threads)]] if threads is not None else []
        return self.join(self.state["ready"], *own)

    def after(self, token: "Token", threads: "Any" = None) -> None:
        """Notes the token that an access gives."""
        if self._single[-1]:
            self.add("ready", token)
            return
        self.add("since", token)
        if threads is not None:
            self.add(self._own_key(threads), token)

    def _own_key(self, threads: "Any") -> str:
        return self._own.setdefault(threads, f"own {len(self._own)}")

    def sync(self) -> None:
        """A barrier of all threads of the group."""
        self.add("ready", self.state["since"])
        self.state["since"] = self.state.none()

    # --- asynchronous groups

    def start(self, kind: str, token: "Token") -> None:
        self.add(f"{kind} open", token)

    def commit(self, kind: str) -> None:
        depth = self.depths.get(kind, 0)
        none = self.state.none()
        newest = self.state[f"{kind} open"]
        self.state[f"{kind} open"] = none
        for i in range(depth):
            at = f"{kind} {i}"
            newest, self.state[at] = self.state[at], newest
        self.add(f"{kind} old", newest)

    def wait(self, kind: str, left: int, to: str = "since") -> None:
        """Ends all but the last `left` groups."""
        none = self.state.none()
        names = [f"{kind} old", *(f"{kind} {i}" for i in range(left, self.depths.get(kind, 0)))]
        self.add(to, *(self.state[name] for name in names))
        for name in names:
            self.state[name] = none

    # --- groups of threads

    @contextlib.contextmanager
    def group(self, name: str, threads: int) -> "Iterator[None]":
        """A context for the body of a group."""
        outer, since = self.state["ready"], self.state["since"]
        self.state["ready"] = self.join(outer, self.state[name])
        self.state["since"] = self.state.none()
        self._single.append(threads == 1)
        yield
        self._single.pop()
        every = self.join(self.state["ready"], self.state["since"])
        self.state[name] = every if threads == 1 else self.state["ready"]
        self.state["since"] = self.join(since, every)
        self.state["ready"] = outer
