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


# The limit is set before the program is read, or before it runs.
LIMITED = """
import os, resource, sys
import numpy, tilevm
text, stage, extra, named = open(sys.argv[1]).read(), sys.argv[2], int(sys.argv[3]), eval(sys.argv[4])
x = numpy.arange(64, dtype="int32")
tilevm.loads("entry @k(%x: tile<ptr<i32>>) {\\n  return\\n}\\n")["k"](x, grid=1, **named)
kernel = tilevm.loads(text)["k"] if stage == "run" else None
have = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
resource.setrlimit(resource.RLIMIT_AS, (have + (extra << 20),) * 2)
try:
    (kernel or tilevm.loads(text)["k"])(x, **named)
    print("ran")
except MemoryError as e:
    print(e.code if isinstance(e, tilevm.OutOfMemoryError) else "Python's own")
    print(e)
"""
# What the library says, by its code. Where Python itself has no room for an object, the error has no code.
SAID = {"forms.out_of_memory": "error[forms.out_of_memory]: the process has no memory left to read the program\n  fix: ",
        "run.out_of_memory": "error[run.out_of_memory]: the process has no memory left\n  fix: ",
        "vm.out_of_memory": "error[vm.out_of_memory]: no memory is left to run kernel `k`\n  fix: "}
OF_STAGE = {"read": {"forms.out_of_memory"}, "run": {"run.out_of_memory", "vm.out_of_memory"}}


def under(tmp_path, stage, extra, text, **named):
    """What a process does that may have so many MiB more: "ran", the code of its MemoryError, or how it ended."""
    file = tmp_path / "k.tile"
    file.write_text(text)
    done = subprocess.run([sys.executable, "-c", LIMITED, str(file), stage, str(extra), repr(named)], capture_output=True, text=True, check=False)
    code, _, said = done.stdout.partition("\n")
    if done.returncode != 0 or not code or not said.startswith(SAID.get(code, "")):
        return f"status {done.returncode}: {done.stdout[-200:]} {done.stderr[-200:]}"
    return code


@pytest.mark.parametrize("text", [sums(15000), chain(8000)], ids=["sums", "chain"])
@pytest.mark.parametrize("named", [{"threads": 1}, {"threads": 4}, {"check": "full"}], ids=["one", "threads", "full"])
@pytest.mark.parametrize("stage", OF_STAGE)
def test_no_memory_is_an_error(tmp_path, stage, text, named):
    ends = [under(tmp_path, stage, extra, text, **named) for extra in (1, 4, 2048)]
    assert ends[-1] == "ran", ends
    assert set(ends[:-1]) <= {"ran", "Python's own", *OF_STAGE[stage], "run.out_of_memory"} and ends[0] != "ran", ends


@pytest.mark.parametrize("stage", OF_STAGE)
def test_the_error_has_a_reason(tmp_path, stage):
    ends = {under(tmp_path, stage, extra, sums(30000)) for extra in (2, 4)}
    assert ends & OF_STAGE[stage] and ends <= {"ran", *OF_STAGE[stage]}, ends
