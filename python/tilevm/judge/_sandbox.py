"""What the process of an answer cannot do: everything but to compute.

    enter(Limits(memory=4 << 30), readable=["/usr", answer], hidden=[task])       # in a forked child, for good

    namespaces   of users, mounts, processes, network, IPC and host names: no other process, no network, no name of the machine
    files        an empty root with read-only binds of `readable`, and a small /tmp in memory; what is `hidden` is empty
    resources    memory, CPU time, size of files, no core dumps
    seccomp      no new program, no new process, no socket, no tracing, no mount, no key, no kernel interface that answers never need

It is what bubblewrap does, by the same system calls. bubblewrap starts a new program, and that would import torch for each answer.
Linux alone, x86-64 and aarch64. Errors: SandboxError, which says what this machine does not allow.
"""
from __future__ import annotations

import ctypes
import dataclasses
import errno
import os
import platform
import resource
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, List, Sequence, Tuple

_CLONE_NEWNS, _CLONE_NEWUTS, _CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET = (
    0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
_CLONE_THREAD = 0x10000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_READ_ONLY, _NO_SUID, _NO_DEV, _AT_RECURSIVE, _MOUNT_SETATTR = 1, 2, 4, 0x8000, 442
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 24, 38
_TMP = "/tmp"


class SandboxError(Exception):
    """This machine does not let a process be shut in."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """`memory` of the process beyond what it has when it is shut in, and of its /tmp; `seconds` of CPU time."""

    memory: int = 4 << 30
    tmp: int = 256 << 20
    seconds: int = 600


_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: object) -> int:
    result: int = getattr(_libc, name)(*arguments)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def enter(limits: Limits, readable: "Sequence[str]", hidden: "Sequence[str]" = ()) -> int:
    """In a child of fork with one thread. Returns 0 in the process that is shut in; the caller's process gets the exit status of that one.

    The process that is shut in is the first of its namespace, so that everything in it ends with it."""
    user, group = os.getuid(), os.getgid()
    try:
        _call("unshare", _CLONE_NEWUSER | _CLONE_NEWNS | _CLONE_NEWUTS | _CLONE_NEWIPC | _CLONE_NEWPID | _CLONE_NEWNET)
        _map_ids(user, group)
        child = os.fork()
        if child != 0:
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or -1
        _call("prctl", _PR_SET_PDEATHSIG, 9, 0, 0, 0)
        has = _memory_now()
        _files(limits, readable, hidden)
        _call("sethostname", b"judge", 5)
        _resources(limits, has)
        _no_privileges()
        _filter_calls()
    except OSError as error:
        raise SandboxError(str(error)) from None
    return 0


def _map_ids(user: int, group: int) -> None:
    for file, text in (("setgroups", "deny"), ("uid_map", f"1000 {user} 1"), ("gid_map", f"1000 {group} 1")):
        with open(f"/proc/self/{file}", "w") as out:
            out.write(text)


def _mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    _call("mount", source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode())


def _files(limits: Limits, readable: "Sequence[str]", hidden: "Sequence[str]") -> None:
    root = "/tmp"  # noqa: S108  # a name only: an empty file system lies over it
    links = {path: os.readlink(path) for path in ("/bin", "/lib", "/lib64", "/lib32", "/sbin") if os.path.islink(path)}
    places = _outermost([*readable, *(path for path in ("/lib", "/lib64", "/bin") if path not in links)])
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE)
    sources = [(place, os.open(place, os.O_PATH)) for place in places if os.path.exists(place)]
    devices = [(place, os.open(place, os.O_PATH)) for place in ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")]
    _mount("judge", root, "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=755,size=1m")
    os.makedirs(root + _TMP)
    _mount("judge", root + _TMP, "tmpfs", _MS_NOSUID | _MS_NODEV, f"mode=700,size={limits.tmp}")  # what is readable may lie in it
    for place, descriptor in sources:
        _bind(f"/proc/self/fd/{descriptor}", root + place, os.path.isdir(f"/proc/self/fd/{descriptor}"), _READ_ONLY | _NO_SUID | _NO_DEV)
    for place, descriptor in devices:
        _bind(f"/proc/self/fd/{descriptor}", root + place, False, _NO_SUID)
    for place, to in links.items():
        os.symlink(to, root + place)
    for place in hidden:
        _hide(root, place)
    _mount("judge", root, "tmpfs", _MS_REMOUNT | _MS_RDONLY | _MS_NOSUID | _MS_NODEV, "mode=755,size=1m")
    for _, descriptor in (*sources, *devices):
        os.close(descriptor)
    os.chdir(root)
    _call("syscall", {"x86_64": 155, "aarch64": 41}[platform.machine()], b".", b".")  # pivot_root: the old root lies over the new one
    _call("umount2", b".", 2)  # MNT_DETACH: it is gone
    os.chdir(_TMP)


def _outermost(places: "Sequence[str]") -> "List[str]":
    """Without those inside of another one."""
    found: "List[str]" = []
    for place in sorted({os.path.abspath(p) for p in places}):
        if not found or not (place + "/").startswith(found[-1].rstrip("/") + "/"):
            found.append(place)
    return found


def _bind(source: str, target: str, folder: bool, flags: int) -> None:
    if folder:
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.exists(target):
            with open(target, "w"):
                pass
    _mount(source, target, "", _MS_BIND | (_MS_REC if folder else 0))
    attributes = struct.pack("<QQQQ", flags, 0, 0, 0)  # of what is mounted inside, too
    _call("syscall", ctypes.c_long(_MOUNT_SETATTR), ctypes.c_long(-100), target.encode(), ctypes.c_ulong(_AT_RECURSIVE if folder else 0), attributes,
          ctypes.c_ulong(len(attributes)))


def _hide(root: str, place: str) -> None:
    """Binds nothing over a file or folder that lies in something readable."""
    target = root + os.path.abspath(place)
    if os.path.isdir(target):
        _mount("judge", target, "tmpfs", _MS_RDONLY | _MS_NOSUID | _MS_NODEV, "mode=755,size=4k")
    elif os.path.exists(target):
        _mount(root + "/dev/null", target, "", _MS_BIND)


def _memory_now() -> int:
    """Addresses in use, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _resources(limits: Limits, has: int) -> None:
    for kind, most in ((resource.RLIMIT_AS, has + limits.memory), (resource.RLIMIT_CPU, limits.seconds), (resource.RLIMIT_CORE, 0),
                       (resource.RLIMIT_FSIZE, limits.tmp), (resource.RLIMIT_NOFILE, 256), (resource.RLIMIT_MEMLOCK, 0), (resource.RLIMIT_MSGQUEUE, 0)):
        resource.setrlimit(kind, (most, most))


def _no_privileges() -> None:
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for number in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) != 0:
            break
    header = struct.pack("<Ii", 0x20080522, 0)
    _call("syscall", {"x86_64": 126, "aarch64": 91}[platform.machine()], header, bytes(24))  # capset: none
    _call("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)


# System calls that fail with EPERM, by the numbers of x86-64 and aarch64; -1: it has none.
_REFUSED: "Dict[str, Tuple[int, int]]" = {
    "fork": (57, -1), "vfork": (58, -1), "execve": (59, 221), "execveat": (322, 281), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "process_madvise": (440, 440), "kcmp": (312, 272), "socket": (41, 198), "socketpair": (53, 199),
    "connect": (42, 203), "bind": (49, 200), "listen": (50, 201), "accept": (43, 202), "accept4": (288, 242), "mount": (165, 40),
    "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97), "setns": (308, 268), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "open_tree": (428, 428), "move_mount": (429, 429),
    "mount_setattr": (442, 442), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "add_key": (248, 217),
    "request_key": (249, 218), "keyctl": (250, 219), "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "syslog": (103, 116), "settimeofday": (164, 170),
    "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266), "quotactl": (179, 60), "personality": (135, 92),
    "iopl": (172, -1), "ioperm": (173, -1), "modify_ldt": (154, -1), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424), "migrate_pages": (256, 238), "move_pages": (279, 239), "mknod": (133, -1), "mknodat": (259, 33),
    "prlimit64": (302, 261), "setrlimit": (160, 164), "sched_setscheduler": (144, 119), "setpriority": (141, 140), "shmget": (29, 194),
    "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180), "setdomainname": (171, 162), "sethostname": (170, 161),
    "sendmsg": (46, 211), "seccomp": (317, 277),
}
_CLONE, _CLONE3 = (56, 220), (435, 435)
_LOAD, _EQUAL, _AT_LEAST, _SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # instructions of the filter, on the word at an offset
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def _filter_calls() -> None:
    machine = platform.machine()
    at = list(_ARCHITECTURES).index(machine)
    program: "List[bytes]" = []

    def add(code: int, value: int, if_so: int = 0, if_not: int = 0) -> None:
        program.append(struct.pack("<HBBI", code, if_so, if_not, value))

    add(_LOAD, 4)
    add(_EQUAL, _ARCHITECTURES[machine], 1, 0)
    add(_RETURN, _KILL)
    add(_LOAD, 0)
    add(_AT_LEAST, 0x40000000, 0, 1)  # the other numbers of x86-64
    add(_RETURN, _KILL)
    add(_EQUAL, _CLONE3[at], 0, 1)  # its flags lie in memory; the C library takes clone then
    add(_RETURN, _FAIL | errno.ENOSYS)
    for numbers in _REFUSED.values():
        if numbers[at] >= 0:
            add(_EQUAL, numbers[at], 0, 1)
            add(_RETURN, _FAIL | errno.EPERM)
    add(_EQUAL, _CLONE[at], 0, 3)
    add(_LOAD, 16)  # flags: threads are allowed
    add(_SET, _CLONE_THREAD, 1, 0)
    add(_RETURN, _FAIL | errno.EPERM)
    add(_RETURN, _ALLOW)
    text = ctypes.create_string_buffer(b"".join(program))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]

    filled = Program(len(program), ctypes.addressof(text))
    _call("prctl", _PR_SET_SECCOMP, 2, ctypes.byref(filled), 0, 0)
