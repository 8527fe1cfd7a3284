"""One frontend's place in this process: whether it was installed, how, and whether the user asked for it by name.

    _own = Installation("triton")
    installed = _own.installed
    state, is_first = _own.open("cpu", check="full")       # in its install()
    _own.beside(install)                                   # in its install_beside()
"""
from __future__ import annotations

from .state import State, open_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Optional, Tuple


class Installation:
    """`state` is None before the first install(). `ignores_versions`: the frontend's package stays as it is if tilevm does not know it."""

    def __init__(self, frontend: str) -> None:
        self.frontend = frontend
        self.state: "Optional[State]" = None
        self.ignores_versions = False

    def installed(self) -> "Optional[State]":
        """How tilevm was installed in this process, or None."""
        return self.state

    def open(self, device: str, capability: "Optional[str]" = None, check: "Optional[str]" = None, threads: "Optional[int]" = None,
             tune: "Optional[str]" = None) -> "Tuple[State, bool]":
        """The state after an install() with these options, and whether it was the first one. Errors: those of open_state()."""
        is_first = self.state is None
        self.state = open_state(self.frontend, self.state, device, capability, check, threads, tune)
        return self.state, is_first

    def beside(self, install: "Callable[[str], State]") -> None:
        """Installs the frontend on the cpu because the user asked for another one. A version that tilevm does not know is then no error."""
        self.ignores_versions = self.state is None
        install("cpu")
