"""Threads, signals, fork, the end of the interpreter."""
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy
import pytest
import tilevm
from conftest import COUNTS

FOREVER = 1 << 62


def python(code, **named):
    """A process of its own."""
    code = f"import numpy, os, signal, sys, threading, time, tilevm\nCOUNTS = {COUNTS!r}\n" + textwrap.dedent(code)
    return subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-X", "faulthandler", "-c", code],
                          capture_output=True, text=True, timeout=120, **named)


def test_eight_threads(add, example):
    matmul = example("matmul").kernel
    failures = []

    def work(seed):
        rng = numpy.random.default_rng(seed)
        try:
            for i in range(30):
                a = rng.random(1000 + i, "float32")
                numpy.testing.assert_array_equal(add(a, a), a + a)
                m = rng.random((33, 17), "float32")
                numpy.testing.assert_allclose(matmul(m, m.T.copy()), m @ m.T, rtol=1e-4)
        except BaseException as error:  # pytest does not see those of threads
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failures == []


def test_eight_threads_share_one_launch(add):
    a = numpy.arange(10_000, dtype="float32")
    launch = add.prepare(a, a)
    threads = [threading.Thread(target=lambda: [launch() for _ in range(100)]) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    numpy.testing.assert_array_equal(launch.outputs, a + a)


def test_other_threads_run_during_a_launch(counts):
    done = threading.Event()
    seen = []

    def other():
        while not done.is_set():
            seen.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=other)
    thread.start()
    tilevm.set_print(lambda text: None)
    try:
        begin = time.perf_counter()
        counts(3_000_000)
        end = time.perf_counter()
    finally:
        tilevm.set_print(None)
        done.set()
        thread.join()
    assert sum(begin < t < end for t in seen) >= 3


@pytest.mark.parametrize("check", ["bounds", "full"])
def test_keyboard_interrupt_stops_a_kernel(counts, check):
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        counts(FOREVER, check=check)
    assert time.perf_counter() - begin < 10
    tilevm.set_print(lambda text: None)
    try:
        counts(1)  # it works again
    finally:
        tilevm.set_print(None)


def test_keyboard_interrupt_while_waiting_for_another_thread():
    said = python("""
        k = tilevm.loads(COUNTS).kernel
        threading.Thread(target=k, args=(1 << 62,), daemon=True).start()
        time.sleep(0.2)
        threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
        try:
            k(1)
        except KeyboardInterrupt:
            print("stopped")
    """)
    assert (said.returncode, said.stdout, said.stderr) == (0, "stopped\n", "")


def test_handlers_of_signals_run_during_a_kernel(counts):
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    tilevm.set_print(lambda text: None)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        while not seen:
            counts(300_000)
    finally:
        tilevm.set_print(None)
        signal.signal(signal.SIGALRM, before)


def test_fork(add):
    a = numpy.ones(100_000, "float32")
    launch = add.prepare(a, a)
    launch()
    child = os.fork()
    if child == 0:
        ok = False
        try:
            ok = add(a, a).sum() == launch().sum() == 200_000
        finally:
            os._exit(0 if ok else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert add(a, a).sum() == 200_000


def test_fork_during_a_launch():
    said = python("""
        k = tilevm.loads(COUNTS).kernel
        tilevm.set_print(lambda text: None)
        threading.Thread(target=k, args=(1 << 62,), daemon=True).start()
        time.sleep(0.2)
        child = os.fork()
        if child == 0:
            k(10)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert (said.returncode, said.stdout, said.stderr) == (0, "0\n", "")


def test_the_interpreter_ends_with_live_handles():
    said = python("""
        m = tilevm.loads(COUNTS)
        stream = tilevm.device("cpu").stream()
        launch = m.kernel.prepare(3)
        launch(stream)
        sys.modules["keep"] = (m, stream, launch)
        class Late:
            def __del__(self):
                launch()
        late = Late()
    """)
    assert (said.returncode, said.stderr) == (0, "")


def test_the_interpreter_ends_during_launches():
    said = python("""
        k = tilevm.loads(COUNTS).kernel
        for _ in range(4):
            threading.Thread(target=tilevm.loads(COUNTS).kernel, args=(1 << 62,), daemon=True).start()
        threading.Thread(target=k, args=(1 << 62,), daemon=True).start()
        time.sleep(0.3)
        print("end")
    """)
    assert (said.returncode, said.stdout, said.stderr) == (0, "end\n", "")


def test_no_leak(add, outside):
    import gc
    import resource

    a = numpy.ones(1000, "float32")
    three = numpy.ones(3, "float32")

    def work(rounds):
        for _ in range(rounds):
            add(a, a)
            add.prepare(a, a)()
            tilevm.loads("entry @k() {\n  return\n}\n").kernel(grid=1)
            try:
                outside(three)
            except tilevm.TrapError:
                pass

    work(200)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work(1500)
    gc.collect()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 4000, f"{grown} kB more after 1500 rounds"


def test_import_is_light():
    code = f"""import sys
before = set(sys.modules)
sys.path[:0] = {sys.path!r}
import tilevm
print(sorted({{"numpy", "re", "json", "typing", "dataclasses", "subprocess"}} & (set(sys.modules) - before)))
"""
    said = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True)
    assert said.stdout == "[]\n", said
