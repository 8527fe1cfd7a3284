"""cuTile's cache on disk: what it holds of tilevm has a checksum, so that a damaged entry is compiled again.

    lookup = checked_lookup(original, cache_module)     # None for what is damaged, which is removed
    store = checked_store(original)
"""
from __future__ import annotations

import hashlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Callable, Optional

_MAGIC = b"TILEVM-CACHED-1\0"
_START = len(_MAGIC) + hashlib.sha256().digest_size


def seal(content: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(content).digest() + content


def unseal(blob: "Any") -> "Optional[bytes]":
    """The content, or None if it is not what seal() was given."""
    if not isinstance(blob, bytes) or blob[:len(_MAGIC)] != _MAGIC:
        return None
    content = blob[_START:]
    return content if hashlib.sha256(content).digest() == blob[len(_MAGIC):_START] else None


def checked_store(original: "Callable[..., None]") -> "Callable[..., None]":
    def cache_store(cache_dir: str, key: str, cubin: bytes, *more: "Any", **options: "Any") -> None:
        original(cache_dir, key, seal(cubin), *more, **options)

    return cache_store


def checked_lookup(original: "Callable[[str, str], Any]", module: "ModuleType") -> "Callable[[str, str], Optional[bytes]]":
    def cache_lookup(cache_dir: str, key: str) -> "Optional[bytes]":
        blob = original(cache_dir, key)
        content = unseal(blob)
        if blob is not None and content is None:
            _remove(module, cache_dir, key)  # cuTile keeps what is there already
        return content

    return cache_lookup


def _remove(module: "ModuleType", cache_dir: str, key: str) -> None:
    import contextlib
    import sqlite3

    with contextlib.suppress(sqlite3.Error, OSError), contextlib.closing(getattr(module, "_connect")(cache_dir)) as connection:
        connection.execute("DELETE FROM cache WHERE key = ?", (key,))
        connection.commit()
