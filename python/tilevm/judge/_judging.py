"""A process that judges, beside the one that starts answers: both are forks of one process, which imports torch once and knows no task.

    judging = Judging(("torch", "triton"))
    judging.send({"id": "17", "task": "tasks/softmax.py", "answer": "answers/17.py"}, options)      # those of _batch.one
    found = judging.receive()                                                                      # the verdict as JSON
    judging.close()

The commands and the tests of a project judge there. So they import neither torch nor NumPy, and a task that ends its process costs one verdict.
The process has the environment, the folder and the places of modules of the one that starts it.
"""
from __future__ import annotations

import json
import os
import signal
import socket
import sys

from .._errors import Error, UnavailableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Sequence

    from ._process import Server


class Judging:
    """Of one process at a time: another one begins where it ended."""

    def __init__(self, imports: "Sequence[str]", device: str = "vm") -> None:
        """`imports`: what its first answer needs, of torch, triton, cuda."""
        self._imports, self._device = tuple(imports), device
        self._item: "Dict[str, Any]" = {}
        self._begin()

    def _begin(self) -> None:
        from ._process import start

        ours, theirs = socket.socketpair()
        self._process = start(self._imports, self._device, commands=theirs.fileno())
        theirs.close()
        self._socket, self._file = ours, ours.makefile("rwb")
        self._say({"environment": dict(os.environ), "modules": sys.path, "folder": os.getcwd()})

    def fileno(self) -> int:
        """Of what can be read when the verdict is there."""
        return self._socket.fileno()

    def _say(self, message: "Any") -> None:
        self._file.write(json.dumps(message).encode() + b"\n")
        self._file.flush()

    def send(self, item: "Dict[str, Any]", options: "Dict[str, Any]") -> None:
        """One at a time."""
        self._item = item
        try:
            self._say([item, options])
        except OSError:  # it has ended: `receive` says so
            pass

    def receive(self) -> "Dict[str, Any]":
        """Waits for the verdict. Errors: UnavailableError where no process can be shut in, or none can be started."""
        try:
            line = self._file.readline()
        except OSError:
            line = b""
        if not line:
            return self._ended()
        said = json.loads(line)
        if "error" in said:
            raise UnavailableError(said["error"])
        found: "Dict[str, Any]" = said["found"]
        return found

    def _ended(self) -> "Dict[str, Any]":
        from ._verdict import UNDECIDED, Verdict

        self.close()
        self._begin()
        text = "the process that judges has ended: what the task computes may have ended it, or the machine, for want of memory"
        return {"id": self._item["id"], **Verdict(UNDECIDED, self._item["task"], self._item["answer"], "judge.task", text).to_json()}

    def close(self) -> None:
        """All of its processes end."""
        try:
            self._file.close()
        except OSError:  # what was not sent yet
            pass
        self._socket.close()
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()


def serve(commands: "socket.socket", server: "Server") -> None:
    """In the fork: until the other side closes the socket. `server`: the process that it was forked from."""
    from . import _batch

    file = commands.makefile("rwb")
    first = json.loads(file.readline() or b"null")
    if first is None:
        return
    os.environ.clear()
    os.environ.update(first["environment"])
    sys.path[:] = first["modules"]
    os.chdir(first["folder"])
    _batch.use(server)
    for line in file:
        item, options = json.loads(line)
        try:
            said: "Dict[str, Any]" = {"found": _batch.one(item, options)}
        except Error as error:
            said = {"error": str(error)}
        try:
            file.write(json.dumps(said).encode() + b"\n")
            file.flush()
        except BrokenPipeError:  # who asked has ended
            return
