"""No memory is lost, or touched where it is not ours: valgrind watches everything that the extension does."""
import os
import re
import shutil
import subprocess
import sys
import textwrap

import pytest
from conftest import COUNTS, EXAMPLES, OUTSIDE, RAW

WORK = f"""
import gc, sys
import numpy
import tilevm

a = numpy.arange(8, dtype="float32")
add = tilevm.load({str(EXAMPLES / "vector_add.tile")!r}).kernel
outside = tilevm.loads({OUTSIDE!r}, "outside.tile").kernel
raw = tilevm.loads({RAW!r}).kernel
counts = tilevm.loads({COUNTS!r}).kernel
tilevm.set_print(lambda text: None)


class Tensor:
    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **named):
        return self.array.__dlpack__()


def fails(call):
    try:
        call()
    except (tilevm.Error, TypeError, ValueError, OverflowError):
        return
    raise AssertionError("a wrong call succeeded")


def work():
    for n in (8, 8, 3, 0):
        add(a[:n], a[:n])
        add(a[:n], b=a[:n], out=numpy.empty(n, "float32"))
        add(a[:n], a[:n], check="full", threads=1)
    add(Tensor(a), Tensor(a), out=numpy.empty(8, "float32"))
    fails(lambda: outside(a[:3]))
    outside(a[:4])
    for wrong in (lambda: add(a), lambda: add(a, a[:4]), lambda: add(a[::-1], a), lambda: add(a, a.astype("int64")), lambda: add(a, 1.5),
                  lambda: add(a, a, out=3), lambda: add(a, a, threads=-1), lambda: add(a, a, grid=1 << 70), lambda: tilevm.loads("entry"),
                  lambda: tilevm.device("tpu"), lambda: tilevm.load(b"x"), lambda: add.prepare(a, a).set_scalar("f", 1),
                  lambda: tilevm._tilevm.Plan(1), lambda: tilevm._tilevm.describe_array(3), lambda: tilevm._tilevm.Launch(3, 0, 0)):
        fails(wrong)
    raw(a, 2.0, grid=1)
    counts(1)
    launch = add.prepare(a, a)
    launch()
    device = tilevm.device("cpu")
    stream, start, end = device.stream(), device.event(), device.event()
    start.record(stream)
    add(a, a, stream=stream)
    for _ in range(3):
        launch(stream)
        launch()
    with stream.capture() as graph:
        launch(stream)
        add(a, a, stream=stream)
    graph(stream)
    end.record(stream)
    end.elapsed_ms(start)
    stream.synchronize()
    module = tilevm.loads(tilevm.load({str(EXAMPLES / "vector_add.tile")!r}).disassemble())
    module.export(version="13.1")
    k = module.kernel
    for _ in range(3):
        k(a, a)


for _ in range(3):
    work()
    gc.collect()
print("done")
"""

# Paths of files with debug information, names of libraries without.
OURS = re.compile(r"_tilevm\.|libtilevm|/ext/[\w/]+\.c:\d+\)")


def records(log):
    """What valgrind says about memory, of those places where the package had a part: of memory that is lost anywhere above, of
    others without Python code in between (Python's own integers look uninitialised to it). Names that the import interns, once, are
    Python's."""
    found = []
    for record in re.split(r"^==\d+== *\n", log, flags=re.M):
        if "definitely lost in" not in record:
            record = record.split("_PyEval_EvalFrame")[0]
        if "PyInit__tilevm" in record:
            continue
        if re.search(r"Invalid|ninitialised|definitely lost in|Mismatched|overlap", record) and OURS.search(record):
            found.append(record)
    return found


def test_records_are_found():
    theirs = "==7== 48 bytes in 1 blocks are definitely lost in loss record 1 of 2\n==7==    at 0x1: malloc (vg.c:1)\n==7==    by 0x2: numpy (a.c:2)\n==7== \n"
    ours = theirs.replace("numpy (a.c:2)", "plan_new (/x/ext/core/call.c:5)"), theirs.replace("numpy (a.c:2)", "??? (in /x/_tilevm.abi3.so)")
    assert records(theirs + "==7== HEAP SUMMARY:\n") == []
    assert [len(records(theirs + text)) for text in ours] == [1, 1]
    assert len(records("==7== Invalid read of size 8\n==7==    at 0x1: memcpy (vg.c:1)\n==7==    by 0x2: take (/x/ext/core/call.c:5)\n")) == 1


def test_under_valgrind(tmp_path):
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    environment = {**os.environ, "PYTHONMALLOC": "malloc", "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    log = tmp_path / "log"
    said = subprocess.run(["valgrind", "--leak-check=full", "--show-leak-kinds=definite", "--num-callers=30", "--fullpath-after=", f"--log-file={log}",
                           sys.executable,
                           "-c", textwrap.dedent(WORK)], capture_output=True, text=True, env=environment)
    assert said.stdout.endswith("done\n"), said.stdout + said.stderr
    text = log.read_text()
    assert "LEAK SUMMARY" in text
    found = records(text)
    assert not found, "\n".join(found[:5])
