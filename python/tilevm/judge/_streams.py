"""Launches on streams that nothing waits for: a result that may not be there yet, and a time that is not that of the work.

    streams = Streams()             # before the answer is loaded
    streams.launched("add")         # at each launch
    streams.pending                 # kernels on another stream than the default one, since nothing waited

On this device work is done when a call returns, so that such an answer has the right values here. Any wait counts for all streams.
"""
from __future__ import annotations

import functools
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List

_WAITS = (("Stream", "synchronize"), ("Stream", "wait_stream"), ("Stream", "wait_event"), ("Event", "synchronize"), ("Event", "wait"))


class Streams:
    """Of one process. `pending`: names of kernels."""

    def __init__(self, device: str = "vm") -> None:
        self._seen: "Dict[str, None]" = {}
        self._module: "Any" = None
        if "torch" in sys.modules and device == "vm":  # torch's own streams are another matter
            from .._frontend.torch_cuda import streams

            self._module = streams
            for owner, name in _WAITS:
                self._watch(getattr(streams, owner), name, lambda waiting: not self._begins(waiting))
            self._watch(sys.modules["torch"].cuda, "synchronize", lambda waiting: True)

    @property
    def pending(self) -> "List[str]":
        return list(self._seen)

    def begin(self) -> None:
        """A call of the answer."""
        self._seen.clear()

    def launched(self, name: str) -> None:
        if self._module is not None and self._module.current_stream() != self._module.default_stream():
            self._seen[name] = None

    def _begins(self, waiting: "Any") -> bool:
        """Whether it is another stream that waits, as it does before its work: that waits for no work of it."""
        return isinstance(waiting, self._module.Stream) and waiting != self._module.default_stream() and waiting != self._module.current_stream()

    def _watch(self, owner: "Any", name: str, counts: "Any") -> None:
        original = getattr(owner, name)

        @functools.wraps(original)
        def wait(*arguments: "Any", **named: "Any") -> "Any":
            if name == "synchronize" or not arguments or counts(arguments[0]):
                self._seen.clear()
            return original(*arguments, **named)

        setattr(owner, name, wait)
