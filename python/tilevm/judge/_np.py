"""NumPy without its type hints, which need a newer mypy than Debian's."""
from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

numpy: "Any" = importlib.import_module("numpy")
