"""What a thread records for a CUDA graph, instead of doing it."""
from __future__ import annotations

import threading

from ... import _tilevm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, List, Optional

    from .streams import Stream

_local = threading.local()


class Recording:
    """Launches and functions, in order. The extension appends launches to `steps`."""

    def __init__(self, stream: "Stream") -> None:
        self.stream = stream
        self.steps: "List[Any]" = []
        self.kept: "List[Any]" = []

    def add(self, step: "Callable[[], object]") -> None:
        self.steps.append(step)

    def run(self) -> None:
        for step in self.steps:
            if isinstance(step, _tilevm.Launch):
                step.run()
            else:
                step()


def recording() -> "Optional[Recording]":
    """What this thread records into."""
    found: "Optional[Recording]" = getattr(_local, "recording", None)
    return found


def recording_on(stream: "Stream") -> bool:
    found = recording()
    return found is not None and found.stream == stream


def record_into(into: "Optional[Recording]") -> None:
    """From here on, in this thread."""
    _local.recording = into
