"""What the VM promises without a peer: how fast a process starts, how much memory it takes, what threads that are not needed
and --check=full cost.

    measure(tilevm, threads) -> [{"what", "value", "unit", "budget", "ok"}]; line(check) is one as text.
"""

import glob
import json
import os
import statistics
import subprocess
import sys
import time

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")

# Inputs that take the default checks some milliseconds; every example must be here.
INPUTS = {
    "attention": ["normal:f32[2,512,64]"] * 3,
    "float_max": ["normal:f32[4194304]"],
    "gelu": ["normal:f32[4194304]"],
    "gelu_tanh": ["normal:f32[4194304]"],
    "histogram": ["rand:u8[1048576]=0..255"],
    "histogram_shared": ["rand:u8[4194304]=0..255"],
    "layer_norm": ["normal:f32[1024,4096]", "normal:f32[4096]", "normal:f32[4096]"],
    "lock": ["normal:f32[1048576]"],
    "matmul": ["normal:f32[512,512]"] * 2,
    "matmul_bf16": ["normal:bf16[512,512]"] * 2,
    "matmul_f16": ["normal:f16[512,512]"] * 2,
    "prefix_sum": ["rand:i32[4194304]=-9..9"],
    "row_sum": ["normal:f32[1024,4096]"],
    "scatter_add": ["rand:i32[16384]=0..999", "normal:f32[16384,64]", "zeros:f32[1000,64]"],
    "sobel": ["rand:u8[1024,1024]=0..255"],
    "softmax": ["normal:f32[1024,4096]"],
    "stencil": ["normal:f32[2048,2048]"],
    "swiglu": ["normal:bf16[1024,4096]"] * 2,
    "transpose": ["rand:f32[2048,2048]"],
    "vector_add": ["normal:f32[4194304]"] * 2,
}

# The peak of a process, seen from a small parent: the size of a large one would be counted too.
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def example(name):
    return os.path.join(EXAMPLES, name + ".tile")


def names():
    """All examples; ends the program if one has no inputs here."""
    found = sorted(os.path.splitext(os.path.basename(path))[0] for path in glob.glob(os.path.join(EXAMPLES, "*.tile")))
    missing = [name for name in found if name not in INPUTS]
    if missing:
        sys.exit("budgets.py has no inputs for " + ", ".join(missing))
    return found


def check(what, value, unit, budget):
    return {"what": what, "value": value, "unit": unit, "budget": budget, "ok": value <= budget}


def line(entry):
    verdict = "ok" if entry["ok"] else "above"
    return "%-50s %8.1f %-2s  budget %g  %s" % (entry["what"], entry["value"], entry["unit"], entry["budget"], verdict)


def start_up(tilevm):
    command = [tilevm, "run", example("vector_add"), "arange:f32[8]", "full:f32[8]=0.5"]
    times = []
    for _ in range(41):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def memory_beyond_buffers(tilevm, threads):
    """MiB of the process at its peak, less the three arrays, for vector addition of 2^26 elements."""
    array = "rand:f32[%d]" % (1 << 26)
    command = [tilevm, "run", example("vector_add"), array, array, "--threads", str(threads)]
    run = subprocess.run([sys.executable, "-c", PEAK, *command], stdout=subprocess.PIPE, text=True, check=True)
    return int(run.stdout) / 1024 - 3 * 256


def bench(tilevm, name, threads, level, inputs=None):
    command = [tilevm, "bench", example(name), *(inputs or INPUTS[name]), "--threads", str(threads), "--check=" + level, "--json",
               "--seconds", "0.1", "--order=linear"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)["median_ms"]


def full_over_bounds(tilevm, name, threads):
    """Of one order of blocks; without --order full checks try up to eight. The median of three turns, so that a machine that changes its speed
    changes both."""
    return statistics.median(bench(tilevm, name, threads, "full") / bench(tilevm, name, threads, "bounds")
                             for _ in range(3))


def few_blocks(tilevm):
    """A launch of four short blocks with four threads over one with one; the median of three turns."""
    inputs = ["arange:f32[16384]"] * 2
    return statistics.median(bench(tilevm, "vector_add", 4, "bounds", inputs) / bench(tilevm, "vector_add", 1, "bounds", inputs)
                             for _ in range(3))


def measure(tilevm, threads):
    tilevm = os.path.abspath(tilevm)
    checks = [
        check("tilevm run of a small kernel, whole process", start_up(tilevm), "ms", 20),
        check("vector_add 2^26: memory beyond the buffers", memory_beyond_buffers(tilevm, threads), "MB", 64),
        check("vector_add of 4 blocks: 4 threads over one", few_blocks(tilevm), "x", 1.5),
    ]
    for name in names():
        checks.append(check("%s: --check=full over bounds, one order" % name, full_over_bounds(tilevm, name, threads), "x", 30))
    return checks
