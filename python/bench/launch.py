"""What Python adds to a launch on the CPU:  launch.py   (needs a C compiler, and the package installed)

Prints, each the best of several turns: a prepared launch in C of one small kernel, the same in Python, whole calls (binding,
checking, allocating the output, launching), with one block and with none, where nothing but the launch itself is left; the time that
`import tilevm` takes beside NumPy, and a first launch in a new process.
"""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import tilevm

# Copies one element: what the VM itself takes is small beside what is measured.
KERNEL = """entry @copy(%a: tile<ptr<f32>>, %c: tile<ptr<f32>>) interface {
  in a: f32[1] at %a
  out c: f32[1] at %c
  grid 1
} {
  %v, %t = load_ptr_tko weak %a : tile<ptr<f32>> -> tile<f32>, token
  %u = store_ptr_tko weak %c, %v : tile<ptr<f32>>, tile<f32> -> token
  return
}
"""
TURNS, ROUNDS = 300, 40  # short turns: some are not disturbed

C = r"""
#include <stdlib.h>
#include <time.h>
#include <tilevm.h>
static tilevm_launch* launch;
int begin(const void* bytes, size_t size, float* a, float* c, int64_t n) {
  tilevm_device* device; tilevm_module* module; tilevm_kernel* kernel;
  tilevm_array array = {NULL, TILEVM_F32, 1, &n, NULL};
  if (tilevm_device_open("cpu", &device) || tilevm_module_from_bytes(bytes, size, "k", &module) ||
      tilevm_kernel_create(device, module, NULL, &kernel) || tilevm_launch_create(kernel, &launch)) return 1;
  array.data = a; if (tilevm_launch_set_array(launch, "a", &array)) return 1;
  array.data = c; if (tilevm_launch_set_array(launch, "c", &array)) return 1;
  return tilevm_launch_prepare(launch);
}
int grid(int64_t n) { return tilevm_launch_set_grid(launch, n, 1, 1) || tilevm_launch_prepare(launch); }
double turn(int rounds) {
  struct timespec t, u;
  clock_gettime(CLOCK_MONOTONIC, &t);
  for (int i = 0; i < rounds; ++i) if (tilevm_launch_run(launch, NULL)) abort();
  clock_gettime(CLOCK_MONOTONIC, &u);
  return ((u.tv_sec - t.tv_sec) * 1e6 + (u.tv_nsec - t.tv_nsec) * 1e-3) / rounds;
}
"""


def in_c(folder):
    """The same through C: a library, made here."""
    native = pathlib.Path(tilevm.get_include()).parent
    (folder / "bench.c").write_text(C)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", str(folder / "bench.c"), f"-I{native}/include", f"-L{native}/lib",
                    "-l:libtilevm.so.1", f"-Wl,-rpath,{native}/lib", "-o", str(folder / "bench.so")], check=True)
    library = ctypes.CDLL(str(folder / "bench.so"))
    library.turn.restype = ctypes.c_double
    return library


def turn(function, rounds):
    begin = time.perf_counter()
    for _ in range(rounds):
        function()
    return (time.perf_counter() - begin) / rounds * 1e6


IMPORT = "import time, numpy; t = time.perf_counter(); import tilevm; print((time.perf_counter() - t) * 1e3)"
FIRST = """import sys, time, numpy, tilevm
a = numpy.ones(1, "float32")
t = time.perf_counter()
tilevm.load(sys.argv[1]).kernel(a)
print((time.perf_counter() - t) * 1e3)"""


def process_ms(code, *arguments):
    """What new processes measure."""
    return [float(subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True).stdout)
            for _ in range(15)]


def measure(rows, library):
    """Fills lists of microseconds. In turns, so that all see the same machine."""
    for _ in range(TURNS):
        for blocks in (1, 0):
            library.grid(ctypes.c_int64(blocks))
            rows.setdefault(("C, prepared", blocks), []).append(library.turn(ROUNDS))
        for name, call in CALLS.items():
            for blocks in (1, 0):
                rows.setdefault((name, blocks), []).append(turn(call[blocks], ROUNDS))


CALLS = {}  # name: (without blocks, with one)


def prepare_calls(kernel):
    a, b, c = numpy.ones((3, 1), "float32")
    launches = [kernel.prepare(a, out=c, grid=blocks) for blocks in (0, 1)]
    ends = [a, b]

    def other_addresses(blocks):
        ends.reverse()  # what was prepared is of no use
        return kernel(ends[0], out=c, grid=blocks)

    def both(call):
        return (lambda: call(0)), (lambda: call(1))

    CALLS["Python, prepared"] = (launches[0], launches[1])
    CALLS["Python, whole call"] = both(lambda blocks: kernel(a, out=c, grid=blocks))
    CALLS["  its output made by the call"] = both(lambda blocks: kernel(a, grid=blocks))
    CALLS["  each on other arrays"] = both(other_addresses)
    try:
        import torch
    except ImportError:
        return a, c
    t, u = torch.ones(2, 1)
    CALLS["  on tensors of torch"] = both(lambda blocks: kernel(t, out=u, grid=blocks))
    CALLS["  its output, of torch, made"] = both(lambda blocks: kernel(t, grid=blocks))
    return a, c


def on_gpu(module):
    """Microseconds that the caller is busy with a launch that it does not wait for."""
    device = tilevm.device("cuda")
    major, minor = device.compute_capability
    kernel = module.compile(10 * major + minor).kernel
    try:
        import torch
    except ImportError:
        print("on the GPU: nothing without torch")
        return
    a, c = torch.ones(2, 1, device="cuda")
    stream, of_torch = device.stream(), torch.cuda.current_stream().cuda_stream
    launch = kernel.prepare(a, out=c)
    rows = {"Python, prepared": lambda: launch(stream), "Python, prepared, on torch's stream": lambda: launch(of_torch),
            "Python, whole call": lambda: kernel(a, out=c, stream=of_torch),
            "  its output made by the call": lambda: kernel(a, stream=of_torch)}
    print(f"on {device.description}, without waiting")
    for name, call in rows.items():
        call()
        best = []
        for _ in range(TURNS):
            best.append(turn(call, ROUNDS))
            torch.cuda.synchronize()
            stream.synchronize()
        print(f"{name:36s} {min(best):12.2f} us")


def main():
    module = tilevm.loads(KERNEL)
    data = module.to_bytes()
    kernel = module.kernel
    rows = {}
    a, c = prepare_calls(kernel)
    with tempfile.TemporaryDirectory() as folder:
        library = in_c(pathlib.Path(folder))
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (a, c)]
        if library.begin(data, ctypes.c_size_t(len(data)), *pointers, ctypes.c_int64(1)) != 0:
            sys.exit("the launch in C failed")
        measure(rows, library)
    us = {name: min(values) for name, values in rows.items()}  # others on the machine only add
    print(f"us a launch of {kernel.name}, {os.cpu_count()} cores        one block     no block     over C")
    for name in ["C, prepared", *CALLS]:
        over = us[name, 0] - us["C, prepared", 0]
        print(f"{name:36s} {us[name, 1]:12.2f} {us[name, 0]:12.2f}" + (f" {over:10.2f}" if name in CALLS else ""))
    if tilevm.has_gpu():
        on_gpu(module)
    print(f"import tilevm   {min(process_ms(IMPORT)):8.2f} ms beside NumPy")
    with tempfile.TemporaryDirectory() as folder:
        module.save(f"{folder}/k.tbc")
        print(f"first launch    {min(process_ms(FIRST, folder + '/k.tbc')):8.2f} ms in a new process, from a file, beyond imports")


if __name__ == "__main__":
    main()
