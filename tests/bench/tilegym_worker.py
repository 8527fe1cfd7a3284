"""Runs TileGym's benchmark files with one compiler and stops where they time a cuTile kernel. Started by ./tilegym, which describes it.

With BENCH_COMPILE=K/N it only has the kernels of every N-th row compiled, which leaves them in the compiler's cache, and stops nowhere.
"""
import fcntl
import os
import sys
import tempfile
import traceback

import bench_utils
import cuda.tile
import torch
import triton
import triton.testing
from duel_worker import Row, kernels_us, release_memory, time_us

SIZES = int(os.environ.get("BENCH_SIZES", "0"))
STRIDE = int(os.environ.get("BENCH_STRIDE", "1"))
TIMER = kernels_us if os.environ.get("BENCH_PROFILER") else time_us
LARGEST = int(os.environ.get("BENCH_LARGEST", "0")) or float("inf")
SHARD, SHARDS = map(int, os.environ.get("BENCH_COMPILE", "0/0").split("/"))


class Series:
    """What triton.testing.perf_report makes of a function, with the sizes and lines in a fixed order."""
    count = 0

    def __init__(self, fn, configs):
        self.fn = fn
        self.configs = [c for c in (configs if isinstance(configs, (list, tuple)) else [configs]) if c is not None]

    def run(self, *_, **__):
        for config in self.configs:
            for x in [x for x in config.x_vals if not isinstance(x, int) or x <= LARGEST][-SIZES:][::-STRIDE]:
                for line, name in zip(config.line_vals, config.line_names):
                    Series.count += 1
                    if "cutile" not in f"{line} {name}".lower() or (SHARDS and Series.count % SHARDS != SHARD):
                        continue
                    values = x if isinstance(x, (list, tuple)) else [x] * len(config.x_names)
                    self.row = {"file": current_file, "series": config.plot_name, "size": str(x), "line": f"{line} {name}"}
                    Row.now = Compiled(self.row, Series.count) if SHARDS else Row(self.row, Series.count, TIMER)
                    call = dict(zip(config.x_names, values)) | {config.line_arg: line} | config.args
                    try:
                        self.call(call)
                    except Exception as error:
                        Row.now.failed(error)
                    Row.now = None
                    kept.clear()
                    release_memory()


    def call(self, call):
        """Some references take more than half of a GPU's memory, which both processes of a duel ask for at once. Then one waits for the
        other, until that has come to what is timed."""
        try:
            torch.manual_seed(0)
            self.fn(**call)
            return
        except torch.cuda.OutOfMemoryError:
            pass  # The frames that hold its tensors go with the exception.
        with alone:
            release_memory()
            torch.manual_seed(0)
            self.fn(**call)


class Turn:
    """A lock between the processes; it is given up where a row begins to be timed, or ends."""

    def __init__(self):
        self.file = None

    def __enter__(self):
        self.file = open(os.path.join(tempfile.gettempdir(), "tilegym-memory.lock"), "w")
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        self.release()

    def release(self):
        if self.file:
            self.file.close()
            self.file = None


alone = Turn()


class Compiled:
    """A row that is not measured: its function runs once."""

    def __init__(self, what, number):
        del what, number

    def bench(self, fn):
        fn()

    def failed(self, error):
        print(error, file=sys.stderr)


def bench(fn, *_, quantiles=None, **__):
    """In place of triton.testing.do_bench and do_bench_cudagraph; what is returned only fills the benchmark's own table."""
    if Row.now is not None:
        release_memory()
        alone.release()
        Row.now.bench(fn)
    return (1.0,) * len(quantiles) if quantiles else 1.0


launch = cuda.tile.launch
kept = []


def launch_and_keep(stream, grid, kernel, *rest):
    """Some functions make a kernel for each launch. That one goes during a capture would end the process."""
    kept.append(kernel)
    return launch(stream, grid, kernel, *rest)


cuda.tile.launch = launch_and_keep
triton.testing.do_bench = triton.testing.do_bench_cudagraph = bench_utils.profile_with_l2flush = bench
triton.testing.perf_report = lambda configs: lambda fn: Series(fn, configs)
current_file = ""
for name in sys.argv[1:]:
    current_file = os.path.basename(name)
    Series.count = 100000 * (1 + sys.argv.index(name))
    sys.argv[0] = name
    try:
        with open(name) as file:
            exec(compile(file.read(), name, "exec"), {"__name__": "__main__", "__file__": name})
    except Exception:
        traceback.print_exc()
    release_memory()
