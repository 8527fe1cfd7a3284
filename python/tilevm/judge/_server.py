"""The process that starts those of answers: it has imported what they need, and knows no task.

    python -m tilevm.judge._server FD COMMANDS torch,triton vm   (started by _process.py, with an environment of its own; or cuda, tilec, for a GPU)

For each request on the socket FD it forks a process, which is shut in (_sandbox.py) before it reads the answer. So an answer finds the
frontends imported, and no reference, result or secret in its memory. The process between this one and the answer's waits for it, and
says on a pipe how it ended. With the socket COMMANDS in place of FD it forks the process that judges (_judging.py) first, whose answers it starts.
"""
from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import signal
import socket
import sys
import traceback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Sequence


# What the process that judges needs beside those of answers. Those can read it, for it is installed.
_OF_JUDGE = ("tilevm.judge._batch", "tilevm.judge._judge", "tilevm.judge._replay", "tilevm.judge._task")


def main(descriptor: int, commands: int, imports: "Sequence[str]", device: str) -> None:
    """Serves until the other side closes the socket."""
    if commands >= 0:
        for name in (*(name for name in ("torch", "triton") if name in imports), *_OF_JUDGE):
            with contextlib.suppress(ImportError):  # an answer or a task that imports it says so
                importlib.import_module(name)
    requests = socket.socket(fileno=descriptor) if commands < 0 else _fork_judge(commands, imports, device)
    if device == "vm":
        _prepare(imports)
    else:
        _prepare_gpu(imports)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # those that ended are not kept
    while True:
        text, descriptors, _, _ = socket.recv_fds(requests, 1 << 16, 2)
        if not text:
            return
        child = os.fork()
        if child == 0:
            try:
                requests.close()
                _start(json.loads(text), descriptors)
            finally:
                os._exit(1)
        for each in descriptors:
            os.close(each)
        requests.sendall(json.dumps({"pid": child}).encode() + b"\n")


def _fork_judge(commands: int, imports: "Sequence[str]", device: str) -> "socket.socket":
    """The socket on which it asks for processes of answers."""
    requests, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        try:
            from ._judging import serve
            from ._process import Server

            requests.close()
            serve(socket.socket(fileno=commands), Server(imports, device, other))
        except BaseException:  # noqa: BLE001  # it must not become a second server
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(0)
    other.close()
    os.close(commands)
    return requests


def _prepare(imports: "Sequence[str]") -> None:
    """Imports what the answers need; with torch and a frontend its "cuda" is this CPU."""
    import tilevm

    from . import _values, _watch, _worker  # noqa: F401  # so that they are there

    if "torch" in imports and importlib.util.find_spec("torch"):  # not here: a task or an answer that imports it says so
        tilevm.install(check="full")
        import torch

        torch.set_num_threads(1)
        torch.set_grad_enabled(True)
        with _watch.torch_operations({}):  # what a mode needs at its first use, each process of an answer would import again
            torch.zeros(2) + torch.zeros(2)
    for name in imports:
        with contextlib.suppress(ImportError):  # not here: an answer that imports it says so
            _import_frontend(name)
    import tilevm.script  # noqa: F401


def _prepare_gpu(imports: "Sequence[str]") -> None:
    """Imports without touching the GPU: a forked process cannot use what its parent began there."""
    from . import _values, _watch, _worker  # noqa: F401

    for name in imports:
        with contextlib.suppress(ImportError):
            importlib.import_module({"cuda": "cuda.tile", "triton": "triton.language"}.get(name, name))
    if "torch" in imports and importlib.util.find_spec("torch"):
        with _watch.torch_operations({}):
            importlib.import_module("torch").zeros(2)


def _import_frontend(name: str) -> None:
    if name == "triton":
        import triton
        import triton.language

        triton.runtime.driver.active.get_current_target()
        with contextlib.suppress(ImportError, AttributeError):  # of another version: then each process does it
            importlib.import_module("triton.experimental.gluon")
            importlib.import_module("triton.compiler.code_generator")
            _name_triton(triton)
    elif name == "cuda":
        import cuda.tile  # noqa: F401


def _name_triton(triton: "Any") -> None:
    """What Triton is known by in its cache: a name in place of a hash of its whole library, which takes as long as a verdict."""
    def name() -> str:
        return f"{triton.__version__} {triton.__file__}"

    for module in (triton.runtime.cache, importlib.import_module("triton.compiler.compiler")):
        if hasattr(module, "triton_key"):
            setattr(module, "triton_key", name)


def _start(request: "Dict[str, Any]", descriptors: "List[int]") -> None:
    """In the child, which ends here."""
    from ._sandbox import Limits, SandboxError, enter

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    connection, status = descriptors
    try:
        if request["sandbox"]:
            code = enter(Limits(request["memory"], request["tmp"], request["seconds"]), request["readable"], request["hidden"])
            if os.getpid() != 1:  # the answer's is the first process of its namespace
                _say_end(status, code)
        _close_others(connection)
    except (SandboxError, OSError) as error:
        _say_end(status, f"sandbox: {error}")
    _quiet()
    from ._worker import serve

    try:
        serve(socket.socket(fileno=connection), request)
    finally:
        os._exit(0)


def _say_end(status: int, how: "Any") -> None:
    try:
        os.write(status, json.dumps(how).encode())
    except OSError:  # nobody asks
        pass
    os._exit(0)


def _close_others(kept: int) -> None:
    os.closerange(3, kept)
    os.closerange(kept + 1, 4096)


def _quiet() -> None:
    """What the answer prints goes nowhere."""
    nothing = os.open("/dev/null", os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.close(nothing)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(",") if sys.argv[3] else [], sys.argv[4] if len(sys.argv) > 4 else "vm")
