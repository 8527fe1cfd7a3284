"""Messages between the judge and the process of an answer: one JSON object, then the bytes of arrays. Nothing is unpickled.

    send(socket, {"do": "call"}, [x_bytes])
    message, blobs = receive(socket, deadline, limit)

    8 bytes   length of the JSON text, little-endian
    JSON      the object; `blobs` in it has the lengths of what follows
    bytes     the blobs

The other side may be hostile: lengths are bounded, and each wait ends at a deadline.
"""
from __future__ import annotations

import json
import select
import socket
import struct
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence, Tuple

MOST_TEXT = 4 << 20


class Closed(Exception):
    """The other side is gone."""


class Late(Exception):
    """The deadline passed."""


class Garbled(Exception):
    """What came is no message."""


def send(to: "socket.socket", message: "Dict[str, Any]", blobs: "Sequence[bytes]" = (), deadline: "Optional[float]" = None) -> None:
    """Errors: Closed; Late if the other side does not read until the deadline (of time.monotonic)."""
    text = json.dumps({**message, "blobs": [len(blob) for blob in blobs]}).encode()
    for part in (struct.pack("<Q", len(text)) + text, *blobs):
        _send_part(to, memoryview(part), deadline)


def _send_part(to: "socket.socket", part: memoryview, deadline: "Optional[float]") -> None:
    while part:
        _wait([], [to], deadline)
        try:
            part = part[to.send(part, socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT):]
        except BlockingIOError:
            continue
        except OSError as error:
            raise Closed(str(error)) from None


def receive(of: "socket.socket", deadline: "Optional[float]" = None, limit: int = 1 << 32) -> "Tuple[Dict[str, Any], List[bytes]]":
    """`limit`: of all blobs together, in bytes. Errors: Closed, Late, Garbled."""
    length = struct.unpack("<Q", _exactly(of, 8, deadline))[0]
    if length > MOST_TEXT:
        raise Garbled(f"a message of {length} bytes")
    try:
        message = json.loads(_exactly(of, length, deadline))
        lengths = message.pop("blobs")
        valid = all(type(n) is int and n >= 0 for n in lengths) and sum(lengths) <= limit
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError) as error:
        raise Garbled(str(error)) from None
    if not valid:
        raise Garbled("more bytes than the result has")
    return message, [_exactly(of, n, deadline) for n in lengths]


def _exactly(of: "socket.socket", count: int, deadline: "Optional[float]") -> bytes:
    got = bytearray()
    while len(got) < count:
        _wait([of], [], deadline)
        try:
            part = of.recv(min(count - len(got), 1 << 20))
        except OSError as error:
            raise Closed(str(error)) from None
        if not part:
            raise Closed("the process ended")
        got += part
    return bytes(got)


def _wait(readers: "List[socket.socket]", writers: "List[socket.socket]", deadline: "Optional[float]") -> None:
    left = None if deadline is None else max(0.0, deadline - time.monotonic())
    ready = select.select(readers, writers, [], left)
    if not ready[0] and not ready[1]:
        raise Late()
