"""The memory of this machine, which the stand-ins for CUDA devices report as theirs.

    free, total = memory()      # bytes
"""
from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Tuple


def memory() -> "Tuple[int, int]":
    """Bytes that are free, and all bytes, at the time of the call."""
    page = os.sysconf("SC_PAGE_SIZE")
    return os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page
