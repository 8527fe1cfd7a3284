"""Memory that runs out is a MemoryError, wherever it does, and never the end of the process."""
import subprocess
import sys

import pytest


def sums(n):
    """Each operation needs the ones before it."""
    return ("entry @k(%x: tile<ptr<i32>>) interface {\n  inout x: i32[64] at %x\n  grid 64\n} {\n  %i, %j, %l = get_tile_block_id\n"
            "  %p = offset %x, %i\n  %v0, %t = load_ptr_tko weak %p\n"
            + "".join(f"  %v{i + 1} = addi %v{i}, %v{i // 2}\n" for i in range(n)) + f"  store_ptr_tko weak %p, %v{n} token = %t\n  return\n}}\n")


def chain(n):
    """One token after the other."""
    return ("entry @k(%x: tile<ptr<i32>>) interface {\n  inout x: i32[64] at %x\n  grid 1\n} {\n  %t0 = make_token\n"
            + "".join(f"  %p{i} = offset %x, {i % 64}\n  %t{i + 1} = store_ptr_tko weak %p{i}, {i} token = %t{i}\n" for i in range(n))
            + "  return\n}\n")


LIMITED = """
import os, resource, sys
import numpy, tilevm
text, extra, named = open(sys.argv[1]).read(), int(sys.argv[2]), eval(sys.argv[3])
x = numpy.arange(64, dtype="int32")
tilevm.loads("entry @k(%x: tile<ptr<i32>>) {\\n  return\\n}\\n")["k"](x, grid=1, **named)
have = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
resource.setrlimit(resource.RLIMIT_AS, (have + (extra << 20),) * 2)
try:
    tilevm.loads(text)["k"](x, **named)
    print("ran")
except MemoryError as e:
    print("MemoryError", getattr(e, "code", ""), "memory" in str(e))
"""


def under(tmp_path, extra, text, **named):
    """What a process does that may have so many MiB more: "ran", "MemoryError", or how it ended."""
    file = tmp_path / "k.tile"
    file.write_text(text)
    done = subprocess.run([sys.executable, "-c", LIMITED, str(file), str(extra), repr(named)], capture_output=True, text=True, check=False)
    return done.stdout.split()[0] if done.returncode == 0 and done.stdout else f"status {done.returncode}: {done.stderr[-200:]}"


@pytest.mark.parametrize("text", [sums(15000), chain(8000)], ids=["sums", "chain"])
@pytest.mark.parametrize("named", [{"threads": 1}, {"threads": 4}, {"check": "full"}], ids=["one", "threads", "full"])
def test_no_memory_is_an_error(tmp_path, text, named):
    ends = [under(tmp_path, extra, text, **named) for extra in (1, 4, 16, 2048)]
    assert set(ends) <= {"ran", "MemoryError"}, ends
    assert ends[0] == "MemoryError" and ends[-1] == "ran", ends


def test_the_error_has_a_reason(tmp_path):
    assert under(tmp_path, 1, sums(30000)) == "MemoryError"
