"""cuTile on the VM in processes that fork, and in those that end while kernels run."""
from test_cutile import START

LONG = START + '''
import os, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # fork with threads, which is what is tested

@ct.kernel
def forever(z, n):
    t = ct.zeros((8,), ct.int32)
    for i in range(ct.load(n, (0,), (1,)).item()):
        t = t + 1
    ct.store(z, (0,), t)

@ct.kernel
def other(z):
    ct.store(z, (0,), ct.full((8,), 7, ct.int32))

def count(n):
    z = np.zeros(8, "int32")
    ct.launch(0, (1,), forever, (z, np.array([n])))  # the same code, whatever n is
    return z[0]

def in_child(work):
    child = os.fork()
    if child == 0:
        ok = False
        try:
            ok = work()
        finally:
            os._exit(0 if ok else 1)
    return child

def status(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

assert count(3) == 3
'''


def test_fork(run_cutile):
    assert run_cutile(LONG + '''
def work():
    z = np.zeros(8, "int32")
    ct.launch(0, (1,), other, (z,))  # compiled there
    tilevm.cutile.install("cpu")     # it is
    return z[0] == 7 and count(5) == 5 and count(3) == 3

def grandchild():
    return work() and status(in_child(work)) == 0

import tilevm.cutile
children = [in_child(grandchild) for _ in range(3)]
assert work()
print([status(c) for c in children])
''') == "[0, 0, 0]\n"


def test_fork_during_launches(run_cutile):
    assert run_cutile(LONG + '''
for _ in range(3):
    threading.Thread(target=count, args=(1 << 60,), daemon=True).start()
time.sleep(0.3)

def work():
    z = np.zeros(8, "int32")
    ct.launch(0, (1,), other, (z,))
    return count(4) == 4 and z[0] == 7  # the kernel that threads of the parent run

children = []
for _ in range(4):
    time.sleep(0.01)
    children.append(in_child(work))
print([status(c) for c in children], flush=True)
''') == "[0, 0, 0, 0]\n"


def test_multiprocessing_by_fork(run_cutile):
    assert run_cutile(LONG + '''
import multiprocessing
with multiprocessing.get_context("fork").Pool(3) as pool:
    print([int(n) for n in pool.map(count, range(1, 10))])
''') == "[1, 2, 3, 4, 5, 6, 7, 8, 9]\n"


def test_a_kernel_that_fails_in_the_child(run_cutile):
    assert run_cutile(LONG + '''
@ct.kernel
def wild(z):
    ct.scatter(z, ct.arange(8, dtype=ct.int32) + 1, ct.zeros((8,), ct.int32), check_bounds=False)

def work():
    for _ in range(2):
        try:
            ct.launch(0, (1,), wild, (np.zeros(8, "int32"),))
        except tilevm.TrapError as error:
            assert error.array == "z" and error.index == 8, error
    return count(2) == 2

print(status(in_child(work)), work())
''') == "0 True\n"


def test_the_interpreter_ends_during_launches(run_cutile):
    assert run_cutile(LONG + '''
for _ in range(4):
    threading.Thread(target=count, args=(1 << 60,), daemon=True).start()
time.sleep(0.3)
print("end")
''') == "end\n"


def test_the_interpreter_waits_for_threads_that_are_no_daemons(run_cutile):
    assert run_cutile(LONG + '''
def work():
    time.sleep(0.2)
    print(count(1000))

threading.Thread(target=work).start()
''') == "1000\n"


def test_tensors_of_torch_after_fork(run_cutile):
    assert run_cutile("import torch\n" + LONG + '''
x = torch.arange(8, dtype=torch.int32, device="cuda")

def work():
    z = torch.zeros(8, dtype=torch.int32, device="cuda")
    ct.launch(torch.cuda.current_stream(), (1,), add, (x, x, z, 8))
    torch.cuda.synchronize()
    return z.cpu().tolist() == [2 * i for i in range(8)]

assert work()
print(status(in_child(work)))
''') == "0\n"
