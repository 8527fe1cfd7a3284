"""Memory that runs out is a MemoryError, wherever it does, and never the end of the process."""
import os
import resource

import numpy
import pytest
import tilevm

MIB = 1 << 20


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


def under(extra, work):
    """What a child does that may have so many MiB more: "ran" or "MemoryError"."""
    with open("/proc/self/statm") as f:
        have = int(f.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    child = os.fork()
    if child == 0:
        code = 9
        try:
            resource.setrlimit(resource.RLIMIT_AS, (have + extra * MIB,) * 2)
            work()
            code = 0
        except MemoryError:
            code = 7
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    return {0: "ran", 7: "MemoryError"}.get(status >> 8 if status & 127 == 0 else -1, f"status {status}")


@pytest.mark.parametrize("text", [sums(15000), chain(8000)], ids=["sums", "chain"])
@pytest.mark.parametrize("named", [{"threads": 1}, {"threads": 4}, {"check": "full"}], ids=["one", "threads", "full"])
def test_no_memory_is_an_error(text, named):
    x = numpy.arange(64, dtype="int32")

    def work():
        tilevm.loads(text)["k"](x, **named)

    ends = [under(extra, work) for extra in (4, 8, 16, 32, 64, 2048)]
    assert set(ends) <= {"ran", "MemoryError"}, ends
    assert ends[0] == "MemoryError" and ends[-1] == "ran", ends


def test_the_error_has_a_reason():
    def work():
        try:
            tilevm.loads(sums(30000))
        except tilevm.OutOfMemoryError as e:
            assert e.code and "memory" in str(e)
            raise

    assert under(8, work) == "MemoryError"
