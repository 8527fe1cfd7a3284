"""The judge's side of an answer's process: starting it, asking it, ending it.

    with Server(["torch", "triton"]) as server, server.open(answer, hidden=[task]) as process:
        reply, blobs = process.ask({"do": "load", …}, seconds=20)
"""
from __future__ import annotations

import dataclasses
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import sysconfig
import time

from .._errors import UnavailableError
from . import _wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Dict, List, Optional, Sequence, Set, Tuple, Type


@dataclasses.dataclass(frozen=True)
class Bounds:
    """Of an answer's process: bytes of memory and of /tmp, seconds of CPU time; `sandbox`: whether it is shut in; `device`: "vm", "cuda", or "tilec"
    (a GPU by tilec)."""

    memory: int = 4 << 30
    tmp: int = 256 << 20
    seconds: int = 600
    sandbox: bool = True
    device: str = "vm"


_TRANSFER = 120.0  # seconds on the clock, for the bytes of a message
_ASLEEP = 20.0  # … in which a process that does nothing counts as one that waits for ever


class Ended(Exception):
    """The answer's process ended, or was ended: `late` if by the time limit."""

    def __init__(self, how: str, late: bool = False) -> None:
        super().__init__(how)
        self.late = late


def start(imports: "Sequence[str]", device: str, requests: int = -1, commands: int = -1) -> "subprocess.Popen[bytes]":
    """The process that forks those of answers (_server.py), with the environment that answers may see. `requests`, `commands`: descriptors."""
    descriptors = [each for each in (requests, commands) if each >= 0]
    return subprocess.Popen([sys.executable, "-m", "tilevm.judge._server", str(requests), str(commands), ",".join(imports), device],
                            env=_environment(device), cwd="/", pass_fds=descriptors, stdin=subprocess.DEVNULL, start_new_session=commands >= 0)


class Server:
    """The process that forks those of answers: one that it starts, or the one that this process was forked from, by a socket to it."""

    def __init__(self, imports: "Sequence[str]", device: str = "vm", known: "Optional[socket.socket]" = None) -> None:
        self.imports, self.device = tuple(imports), device
        self._process: "Optional[subprocess.Popen[bytes]]" = None
        if known is not None:
            self._socket = known
            return
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = start(imports, device, requests=other.fileno())
        other.close()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, kind: "Optional[Type[BaseException]]", error: "Optional[BaseException]", trace: "Optional[TracebackType]") -> None:
        self.close()

    def lives(self) -> bool:
        if self._process is not None:
            return self._process.poll() is None
        ended = select.poll()
        ended.register(self._socket, 0)
        return not ended.poll(0)  # nobody has the other end

    def close(self) -> None:
        self._socket.close()
        if self._process is None:
            return
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _fix(self) -> str:
        """What the process lacks: it sees installed modules alone."""
        places = [*_module_places(), *sysconfig.get_paths().values()]
        names = [name for each in self.imports for name in [{"cuda": "cuda.tile"}.get(each, each)] if not _is_in(places, name)]
        text = f"`PYTHONPATH={os.pathsep.join(_module_places())} {sys.executable} -m tilevm.judge._server -1 -1 {','.join(self.imports)}` shows why"
        return f"install {', '.join(names)}: found in none of {', '.join(_module_places())}; {text}" if names else text

    def open(self, answer: str, hidden: "Sequence[str]", bounds: Bounds) -> "AnswerProcess":
        """Errors: UnavailableError, if the server has died."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        status, status_out = os.pipe()
        request = {"sandbox": bounds.sandbox, "memory": bounds.memory, "tmp": bounds.tmp, "seconds": bounds.seconds, "answer": answer, "device": bounds.device,
                   "readable": [*_places(), answer, *_modules_beside(answer, hidden)], "hidden": list(hidden)}
        try:
            socket.send_fds(self._socket, [json.dumps(request).encode()], [theirs.fileno(), status_out])
            line = b""
            while not line.endswith(b"\n"):
                part = self._socket.recv(64)
                if not part:
                    raise OSError("it has ended")
                line += part
        except OSError as error:
            raise UnavailableError(f"error[judge.server]: the process that starts answers does not work: {error}\n"
                                   f"  fix: {self._fix()}") from None
        finally:
            theirs.close()
            os.close(status_out)
        return AnswerProcess(ours, status, json.loads(line)["pid"])


def _is_in(places: "Sequence[str]", name: str) -> bool:
    """Whether a module or its package is in one of the folders."""
    path = name.replace(".", "/")
    return any(os.path.isdir(os.path.join(place, path)) or os.path.isfile(os.path.join(place, path + ".py")) for place in places)


def _environment(device: str = "vm") -> "Dict[str, str]":
    """What answers see of the environment: where modules are, one thread, a folder of their own; for a GPU where its driver and compiler are."""
    gpu = ("PATH", "CUDA_HOME", "CUDA_VISIBLE_DEVICES", "CC", "LIBRARY_PATH", "C_INCLUDE_PATH", "TILEVM_LIBCUDA", "TILEVM_LIBTILEC", "TILEVM_TILEC")
    names = ("LD_LIBRARY_PATH", "LANG", "LC_ALL", "TZ", *(gpu if device != "vm" else ()))
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return {"PATH": "/usr/bin:/bin", **kept, "HOME": "/tmp", "TMPDIR": "/tmp", "PYTHONPATH": os.pathsep.join(_module_places()),
            "USER": "answer", "LOGNAME": "answer",  # libraries ask for it when they are imported, and the user inside is in no file of the system
            "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
            "TILEVM_CHECK": "full", "TRITON_CACHE_DIR": "/tmp/triton", "CUDA_TILE_CACHE_DIR": "/tmp/cutile",
            "CUDA_TILE_TEMP_DIR": "/tmp",  # else one is made when it is imported, and the process of an answer has another /tmp
            "TILEVM_TRITON_TUNE": "first", "TILEVM_CUTILE_TUNE": "first", "XDG_CACHE_HOME": "/tmp/cache", "PYTHONHASHSEED": "0"}


def _package_folder() -> str:
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _module_places() -> "List[str]":
    """Installed modules alone: not the folder of the program, where the task may lie."""
    found = [path for path in sys.path if path and os.path.isdir(path) and _is_installed(path)]
    return list(dict.fromkeys([*found, _package_folder()]))


def _is_installed(folder: str) -> bool:
    """Whether packages were installed there: by its name, or as `pip install --target` leaves it."""
    named = os.path.basename(folder.rstrip("/")) in ("site-packages", "dist-packages")
    return named or any(name.endswith(".dist-info") for name in os.listdir(folder))


def _modules_beside(answer: str, hidden: "Sequence[str]") -> "List[str]":
    """Kernels in files of their own, such as bytecode of CUDA Tile C++: those beside a Python answer that its text names, and that of no hidden file."""
    if not answer.endswith(".py"):
        return []
    named = _module_names(answer).difference(*map(_module_names, hidden))
    paths = [os.path.join(os.path.dirname(os.path.abspath(answer)), name) for name in sorted(named)]
    return [path for path in paths if os.path.isfile(path)]


def _module_names(path: str) -> "Set[str]":
    if not os.path.isfile(path):
        return set()
    with open(path, encoding="utf-8", errors="replace") as file:
        return set(re.findall(r"[\w.-]+\.(?:tbc|tilebc|tile)\b", file.read()))


def _places() -> "List[str]":
    """What the process of an answer may read: Python, its modules, the system's libraries."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(os.path.dirname(os.path.realpath(sys.executable)))}
    standard = {os.path.dirname(os.__file__)}
    system = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo", "/etc/ld.so.cache", "/etc/localtime")
    own = os.path.join(_package_folder(), "tilevm")
    # A folder of installed packages is read whole; of a checkout, which may hold tasks, only the package.
    folder = _package_folder()
    modules = [path for path in _module_places() if _is_installed(folder) or path != folder]
    return sorted(path for path in {*prefixes - {"/usr", "/"}, *standard, *modules, *system, own} if os.path.exists(path))


class AnswerProcess:
    """The process of one answer."""

    def __init__(self, connection: "socket.socket", status: int, pid: int) -> None:
        self._socket, self._status, self._pid = connection, status, pid
        self._handle = _handle_of(pid)
        self._ended = False
        self.seconds = 0.0  # of processor time, in all requests that it answered

    def __enter__(self) -> "AnswerProcess":
        return self

    def __exit__(self, kind: "Optional[Type[BaseException]]", error: "Optional[BaseException]", trace: "Optional[TracebackType]") -> None:
        self.end()

    def ask(self, message: "Dict[str, Any]", blobs: "Sequence[bytes]" = (), seconds: float = 30.0,
            limit: int = 1 << 30) -> "Tuple[Dict[str, Any], List[bytes]]":
        """The reply. `seconds`: of processor time. Errors: Ended; UnavailableError where the machine lets no process be shut in."""
        begin, _ = self._usage()
        try:
            _wire.send(self._socket, message, blobs, time.monotonic() + _TRANSFER)
            self._wait(seconds)
            reply = _wire.receive(self._socket, time.monotonic() + _TRANSFER, limit)
            self.seconds += max(0.0, self._usage()[0] - begin)  # measured from outside: what it says of itself decides nothing
            return reply
        except _wire.Late:
            self.end()
            raise Ended(f"no result after {seconds:.0f} s of processor time, or nothing happens", late=True) from None
        except _wire.Garbled as error:
            self.end()
            raise Ended(f"its process sent what is no message: {error}") from None
        except _wire.Closed:
            how = self._how()
            self.end()
            if isinstance(how, str) and how.startswith("sandbox: "):
                raise UnavailableError(f"error[judge.sandbox]: this machine does not let a process be shut in: {how[9:]}\n"
                                       "  fix: allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, or a container with them), "
                                       "or judge an answer that you trust with --no-sandbox") from None
            raise Ended(_said(how)) from None

    def _wait(self, seconds: float) -> None:
        """Until it says something. Errors: _wire.Late, if it computes longer than that, or sleeps."""
        first, _ = self._usage()
        before, since = first, time.monotonic()
        while not select.select([self._socket], [], [], 1.0)[0]:
            used, runs = self._usage()
            if used - first >= seconds:
                raise _wire.Late()
            if used > before or runs:  # a busy machine may let it wait for long
                before, since = used, time.monotonic()
            elif time.monotonic() - since > _ASLEEP:
                raise _wire.Late()

    def _usage(self) -> "Tuple[float, bool]":
        """Processor seconds of the answer's process, and whether it can run."""
        used, runs = 0.0, False
        try:
            with open(f"/proc/{self._pid}/task/{self._pid}/children") as file:
                pids = file.read().split()
            for pid in pids or [str(self._pid)]:
                with open(f"/proc/{pid}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
                used += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
                runs |= fields[0] == "R"
        except (OSError, IndexError, ValueError):  # it has just ended
            pass
        return used, runs

    def _how(self) -> "Any":
        if select.select([self._status], [], [], 2)[0]:
            text = os.read(self._status, 4096)
            try:
                return json.loads(text) if text else None
            except ValueError:
                return None
        return None

    def end(self) -> None:
        """Everything in it ends."""
        if self._ended:
            return
        self._ended = True
        if self._handle is not None:
            try:
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            except ProcessLookupError:
                pass
            os.close(self._handle)
        self._socket.close()
        os.close(self._status)


def _handle_of(pid: int) -> "Optional[int]":
    """A descriptor of the process: its number may be that of another one later. None if it has ended."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None


def _said(how: "Any") -> str:
    if isinstance(how, int) and how < 0:
        name = signal.Signals(-how).name if -how in set(signal.Signals) else str(-how)
        return f"its process was ended by {name}" + {"SIGKILL": " (memory or time)", "SIGXCPU": " (time)"}.get(name, "")
    return f"its process ended with status {how}" if isinstance(how, int) and how > 0 else "its process ended"
