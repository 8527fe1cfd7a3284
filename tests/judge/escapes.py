#!/usr/bin/env python3
"""Does anything get out of the process of an answer? Programs that try to read, write, start, connect, trace and exhaust.

    tests/judge/escapes.py [--only=NAME]        needs tilevm

Each body below runs in the process of an answer. It ends by `return` of what it got, which is an escape, or by an error, which is none. Where an
attempt is seen from outside (a file that is written, a process that lives on), this program looks by itself. It ends with 1 if one succeeds.
"""
import argparse
import os
import pathlib
import sys
import tempfile
import textwrap
import time

HEAD = """import ctypes, os, socket, struct, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)

def syscall(*arguments):
    result = libc.syscall(*[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

def answer():
"""

ESCAPES = {
    "read the task": "return open(TASK).read()",
    "read the task by its folder": "return os.listdir(os.path.dirname(TASK))",
    "import the task": "sys.path.insert(0, os.path.dirname(TASK)); import secret_task; return secret_task",
    "read files of the user": "return [open(p).read() for p in map(os.path.expanduser, ('~/.bashrc', '~root/.bashrc', '~root/.profile'))]",
    "list home folders": "return [p for p in os.listdir('/home')]",
    "read /etc/passwd": "return open('/etc/passwd').read()",
    "read the environment": "return os.environ['JUDGE_SECRET']",
    "read the environment of /proc": "return open('/proc/self/environ', 'rb').read() or open('/proc/1/environ', 'rb').read()",
    "read the environment in memory": """
        environ = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, 'environ')
        found = [environ[i] for i in range(200) if all(environ[j] for j in range(i + 1))]
        libc.getauxval.restype = ctypes.c_ulong
        top = libc.getauxval(31)  # the name of the program: it stands above the strings of the environment
        text = ctypes.string_at(top - 4096, 4096) + b' '.join(found)
        assert b'JUDGE_SECRET' not in text and SECRET.encode()[::-1] not in text[::-1], 'found'
        raise PermissionError('not there')""",
    "write the answer": "open(__file__, 'a').write('# changed'); return __file__",
    "write a module": "open(os.path.join(os.path.dirname(os.__file__), 'evil.py'), 'w').write('x'); return 1",
    "write tilevm": "import tilevm; open(tilevm.__file__, 'a').write('x'); return 1",
    "write outside": "open(OUTSIDE, 'w').write('x'); raise PermissionError('this program looks whether the file is there')",
    "write /": "open('/evil', 'w').write('x'); return 1",
    "remove a module": "os.remove(os.__file__); return 1",
    "mount over": "syscall(165 if os.uname().machine == 'x86_64' else 40, b'none', b'/usr', b'tmpfs', 0, b''); return 1",
    "new namespaces": "syscall(272 if os.uname().machine == 'x86_64' else 97, 0x10000000); return 1",
    "chroot": "os.chroot('/tmp'); return 1",
    "leave by ..": "return os.listdir('/../../..' + os.path.dirname(TASK))",
    "the old root": "return os.listdir('/proc/1/root')",
    "fork": "pid = os.fork(); return pid",
    "fork by clone": "return syscall(56 if os.uname().machine == 'x86_64' else 220, 17, 0, 0, 0, 0)",
    "fork bomb": """
        done = 0
        for _ in range(1000):
            if os.fork() == 0:
                while True: os.fork()
            done += 1
        return done""",
    "start a program": "return subprocess.run(['/bin/sh', '-c', 'echo out'], capture_output=True).stdout",
    "become a program": "os.execv('/bin/sh', ['sh', '-c', 'echo out'])",
    "start a program from memory": "fd = os.memfd_create('x'); os.write(fd, open(sys.executable, 'rb').read()); os.execve(fd, ['x'], {})",
    "connect": "s = socket.socket(); s.settimeout(2); s.connect(('1.1.1.1', 53)); return 1",
    "send a datagram": "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); return s.sendto(b'x', ('1.1.1.1', 53))",
    "local socket": "s = socket.socket(socket.AF_UNIX); s.bind('/tmp/s'); return 1",
    "interfaces": "return [i for i in socket.if_nameindex() if i[1] != 'lo']",
    "trace the judge": "return syscall(101 if os.uname().machine == 'x86_64' else 117, 16, os.getppid() or 1, 0, 0)",
    "read other memory": "b = ctypes.create_string_buffer(64); return syscall(310 if os.uname().machine == 'x86_64' else 270, JUDGE, b, 1, b, 1, 0)",
    "end the judge": "os.kill(JUDGE, 9); return 1",
    "end everything": "os.kill(-1, 9); raise PermissionError('nobody is there')",
    "other descriptors": """
        found = []
        for fd in range(3, 1024):
            try: name = os.fstat(fd)
            except OSError: continue
            found.append(fd)
        if len(found) > 1: return found
        raise PermissionError('the connection alone')""",
    "64 GiB of memory": "x = bytearray(64 << 30); return len(x)",
    "memory bit by bit": """
        kept = []
        while len(kept) < 64 * 64: kept.append(b'x' * (16 << 20))
        return len(kept)""",
    "fill /tmp": """
        with open('/tmp/big', 'wb') as file:
            for _ in range(4096): file.write(bytes(1 << 20))
        return 1""",
    "raise the limits": "import resource; resource.setrlimit(resource.RLIMIT_AS, (-1, -1)); return resource.getrlimit(resource.RLIMIT_AS)",
    "threads without end": """
        for _ in range(100000): threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
        return 1""",
    "loop without end": """
        import signal
        signal.signal(signal.SIGPROF, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF])
        while True: pass""",
    "kernel interfaces": """
        got = []
        for number in ((321, 298, 425, 323, 250, 248, 304, 175, 169) if os.uname().machine == 'x86_64' else (280, 241, 425, 282, 219, 217, 265, 105, 142)):
            try: got.append((number, syscall(number, 0, 0, 0, 0, 0)))
            except OSError as error:
                if error.errno not in (1, 38): got.append((number, error.errno))
        if got: return got
        raise PermissionError('none')""",
    "shared memory of the system": "return syscall(29 if os.uname().machine == 'x86_64' else 194, 1, 4096, 0o1600)",
    "set the clock": "time.clock_settime(time.CLOCK_REALTIME, 0); return 1",
    "a forged reply": """
        text = b'{"ok": true, "arrays": {"kind": "plain", "value": "forged"}, "blobs": []}'
        for fd in range(3, 256):
            try: os.write(fd, struct.pack('<Q', len(text)) + text)
            except OSError: pass
        os._exit(0)""",
    "a reply of garbage": """
        for fd in range(3, 256):
            try: os.write(fd, b'\\xff' * 4096)
            except OSError: pass
        os._exit(0)""",
}


ENDLESS = ("loop without end", "threads without end", "memory bit by bit", "fork bomb")  # those that a time limit may end


def attempt(server, name, body, folder):
    """What the attempt came to: "" if it was held."""
    from tilevm.judge._process import Bounds, Ended

    path = folder / "attempt.py"
    names = {"TASK": str(folder / "hidden" / "secret_task.py"), "OUTSIDE": str(folder / "outside.txt"), "JUDGE": os.getpid(),
             "SECRET": os.environ["JUDGE_SECRET"]}
    text = HEAD.replace("def answer", "".join(f"{key} = {value!r}\n" for key, value in names.items() if key != "SECRET") +
                        f"SECRET = {names['SECRET'][::-1]!r}\n\ndef answer")
    path.write_text(text + textwrap.indent(textwrap.dedent(body), "    ") + "\n")
    with server.open(str(path), [names["TASK"]], Bounds(memory=2 << 30, seconds=20)) as process:
        try:
            reply, _ = process.ask({"do": "load", "path": str(path), "entry": "answer", "names": []})
            if not reply["ok"]:
                return f"the attempt does not load: {reply['error']}"
            empty = {"kind": "tuple", "items": []}
            reply, _ = process.ask({"do": "call", "arguments": empty, "named": {"kind": "dict", "items": []}, "off": False, "keep": False, "into": False,
                                    "record": "", "seconds": 3}, (), 6 if name in ENDLESS else 20)
        except Ended as error:
            return "it did not run" if error.late and name not in ENDLESS else ""
    if name == "a forged reply":
        return "" if set(reply) == {"ok", "arrays"} else str(reply)  # without what a call says: the judge takes it for no result
    if reply["ok"]:
        return str(reply["arrays"])[:200]
    unmeant = reply["error"]["type"] in ("AssertionError", "NameError", "SyntaxError", "TypeError", "AttributeError", "_TimeLimit") and name not in ENDLESS
    return f"{reply['error']['type']}: {reply['error']['text']}" if unmeant else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    os.environ["JUDGE_SECRET"] = "swordfish-4711"
    from tilevm.judge._process import Server

    bad = 0
    with tempfile.TemporaryDirectory() as folder, Server(()) as server:
        folder = pathlib.Path(folder)
        (folder / "hidden").mkdir()
        (folder / "hidden" / "secret_task.py").write_text("SECRET = 1\n")
        before = sys.executable, os.path.getsize(os.__file__)
        for name, body in ESCAPES.items():
            if args.only not in name:
                continue
            begin = time.monotonic()
            got = attempt(server, name, body, folder)
            if (folder / "outside.txt").exists() or before != (sys.executable, os.path.getsize(os.__file__)):
                got = got or "a file was written"
            bad += bool(got)
            print(f"{'ESCAPED' if got else 'held':8} {time.monotonic() - begin:5.2f} s {name}" + (f": {got}" if got else ""), flush=True)
    print(f"{len(ESCAPES)} attempts, {bad} succeeded")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
