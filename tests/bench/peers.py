#!/usr/bin/env python3
"""The VM beside its peers on the same work, in one run.

    python3 tests/bench/peers.py [--tilevm ./tilevm] [--threads N] [--rounds R] [--seconds S] [--json] [WORKLOAD…]

Peers are NumPy (its own BLAS), torch's CPU kernels, Numba, and Triton's interpreter; one that cannot be imported is
named and left out. All get N threads (Triton's interpreter runs one block after the other). Every result, the VM's too,
is checked against NumPy before it is timed.

The VM and a peer take turns, R times; in each turn a side repeats for S seconds and its median counts, first calls
do not. Prints the medians of the turns in milliseconds, the median of the turns' ratios (peer's time over the VM's:
above 1 the VM is faster), and whether that reaches the target. Then what the VM promises by itself: start, memory, the
price of --check=full (budgets.py). Exit 1 if a result is wrong; a missed target is not an error: machines differ.
"""

import argparse
import ctypes
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = [os.path.join(HERE, "..", "..", "examples"), os.path.join(HERE, "kernels")]


class Workload:
    """A kernel, its inputs, and what NumPy says it gives.

    `inputs` are arrays; one of uint16 stands for bf16. `peers` maps a name to a Peer. A kernel with several results has their names
    as `outputs`; then `expected` and what peers give are tuples.
    """

    def __init__(self, kernel, inputs, expected, tolerance=0.0, outputs=()):
        self.kernel = kernel
        self.inputs = inputs
        self.expected = expected
        self.tolerance = tolerance
        self.outputs = outputs
        self.peers = {}


class Peer:
    """`function`, without arguments, does the work or a part of it and gives the result, as NumPy can read it."""

    def __init__(self, function, target, expected, share=1):
        self.function = function
        self.target = target
        self.expected = expected  # Of the part of the work that the function does.
        self.share = share  # The whole work over that part.


def make_workloads(numpy):
    rng = numpy.random.default_rng(0)

    def f32(*shape):
        return rng.standard_normal(shape, dtype=numpy.float32)

    def product(x, y):
        return x.astype(numpy.float64) @ y.astype(numpy.float64)

    a, b = f32(1024, 1024), f32(1024, 1024)
    a16, b16 = a.astype(numpy.float16), b.astype(numpy.float16)
    abf, bbf = ((x.view(numpy.uint32) >> 16).astype(numpy.uint16) for x in (a, b))
    rows, weight, bias = f32(4096, 4096), f32(4096), f32(4096)
    x, y = f32(1 << 26), f32(1 << 26)
    square = f32(8192, 8192)
    data = rng.integers(0, 256, 1 << 26, dtype=numpy.uint8)
    q, k, v = f32(1, 2048, 64), f32(1, 2048, 64), f32(1, 2048, 64)
    table, image = f32(2000, 1000), f32(2000, 2000)
    return {
        "matmul_f32": Workload("matmul", (a, b), product(a, b), 1e-5),
        "matmul_f16": Workload("matmul_f16", (a16, b16), product(a16, b16), 1e-5),
        "matmul_bf16": Workload("matmul_bf16", (abf, bbf), product(widen(numpy, abf), widen(numpy, bbf)), 1e-5),
        "vector_add": Workload("vector_add", (x, y), x + y),
        "softmax": Workload("softmax", (rows,), softmax(numpy, rows), 1e-5),
        "layer_norm": Workload("layer_norm", (rows, weight, bias), layer_norm(rows, weight, bias), 1e-5),
        "transpose": Workload("transpose", (square,), square.T),
        "attention": Workload("attention", (q, k, v), softmax(numpy, q @ k.swapaxes(1, 2) * 0.125) @ v, 1e-5),
        "histogram": Workload("histogram_shared", (data,), numpy.bincount(data, minlength=256)),
        "cummax": Workload("cummax", (table,), cummax(numpy, table), outputs=("values", "indices")),
        "avg_pool": Workload("avg_pool", (image,), avg_pool(numpy, image), 1e-6),
    }


def widen(numpy, bits):
    return (bits.astype(numpy.uint32) << 16).view(numpy.float32)


def softmax(numpy, x):
    e = numpy.exp(x - x.max(axis=-1, keepdims=True))
    e /= e.sum(axis=-1, keepdims=True)
    return e


def layer_norm(x, weight, bias):
    centred = x - x.mean(axis=1, keepdims=True)
    variance = (centred * centred).mean(axis=1, keepdims=True)
    return centred / (variance + 1e-5) ** 0.5 * weight + bias


def cummax(numpy, x):
    values = numpy.maximum.accumulate(x, axis=1)
    is_new = numpy.ones(x.shape, bool)
    is_new[:, 1:] = x[:, 1:] > values[:, :-1]
    return values, numpy.maximum.accumulate(numpy.where(is_new, numpy.arange(x.shape[1]), 0), axis=1)


def avg_pool(numpy, x):
    """3x3, in steps of 2; the mean of those that are inside."""
    rows, columns = (x.shape[0] + 1) // 2, (x.shape[1] + 1) // 2

    def sums(array):
        padded = numpy.pad(array, 1)
        parts = (padded[i:i + 2 * rows:2, j:j + 2 * columns:2][:rows, :columns] for i in range(3) for j in range(3))
        return sum(parts)

    return sums(x) / sums(numpy.ones_like(x))


def add_numpy(work, numpy):
    def peer(name, target, function):
        work[name].peers["numpy"] = Peer(function, target, work[name].expected)

    a, b = work["matmul_f32"].inputs
    a16, b16 = work["matmul_f16"].inputs
    c, a32, b32 = numpy.empty_like(a), numpy.empty_like(a), numpy.empty_like(b)
    x, y = work["vector_add"].inputs
    z = numpy.empty_like(x)
    square = work["transpose"].inputs[0]
    turned = numpy.empty_like(square)

    def cast_and_multiply():
        numpy.copyto(a32, a16)
        numpy.copyto(b32, b16)
        return numpy.matmul(a32, b32, out=c)

    def transpose():
        numpy.copyto(turned, square.T)
        return turned

    peer("matmul_f32", 0.7, lambda: numpy.matmul(a, b, out=c))
    peer("matmul_f16", 0.6, cast_and_multiply)
    peer("vector_add", None, lambda: numpy.add(x, y, out=z))
    peer("softmax", None, lambda: softmax(numpy, work["softmax"].inputs[0]))
    peer("layer_norm", None, lambda: layer_norm(*work["layer_norm"].inputs))
    peer("transpose", None, transpose)
    peer("histogram", 1.0, lambda: numpy.bincount(work["histogram"].inputs[0], minlength=256))
    peer("cummax", None, lambda: cummax(numpy, work["cummax"].inputs[0]))
    peer("avg_pool", None, lambda: avg_pool(numpy, work["avg_pool"].inputs[0]))


def add_torch(work, torch):
    def peer(name, label, target, function):
        work[name].peers[label] = Peer(function, target, work[name].expected)

    def inputs(name):
        return [torch.from_numpy(array) for array in work[name].inputs]

    a, b = inputs("matmul_f32")
    a16, b16 = inputs("matmul_f16")
    abf, bbf = (torch.from_numpy(i.view("int16")).view(torch.bfloat16) for i in work["matmul_bf16"].inputs)
    c = torch.empty_like(a)
    x, y = inputs("vector_add")
    z = torch.empty_like(x)
    rows, weight, bias = inputs("layer_norm")
    square = inputs("transpose")[0]
    turned = torch.empty_like(square)
    q, k, v = (i.unsqueeze(0) for i in inputs("attention"))
    functional = torch.nn.functional
    peer("matmul_f32", "torch", 0.7, lambda: torch.mm(a, b, out=c))
    peer("matmul_f16", "torch, cast", 0.6, lambda: torch.mm(a16.float(), b16.float(), out=c))
    peer("matmul_bf16", "torch, cast", 0.6, lambda: torch.mm(abf.float(), bbf.float(), out=c))
    peer("vector_add", "torch", 0.9, lambda: torch.add(x, y, out=z))
    peer("softmax", "torch", 0.7, lambda: torch.softmax(rows, 1))
    peer("layer_norm", "torch", 0.7, lambda: functional.layer_norm(rows, (rows.shape[1],), weight, bias))
    peer("transpose", "torch", 1.0, lambda: turned.copy_(square.T))
    peer("attention", "torch", 0.6, lambda: functional.scaled_dot_product_attention(q, k, v)[0])
    table, image = inputs("cummax")[0], inputs("avg_pool")[0][None]
    peer("cummax", "torch", 0.33, lambda: torch.cummax(table, 1))
    peer("avg_pool", "torch", 0.33, lambda: functional.avg_pool2d(image, 3, 2, 1, count_include_pad=False)[0])


def add_numba(work, numba):
    """Where Numba is the fastest of all peers, plain loops as its users write them."""
    import numpy

    @numba.njit(parallel=True, fastmath=True)
    def normalise(x, weight, bias, y):
        n = x.shape[1]
        for i in numba.prange(x.shape[0]):
            total = numba.float32(0)
            for j in range(n):
                total += x[i, j]
            mean = total / numba.float32(n)
            squares = numba.float32(0)
            for j in range(n):
                squares += (x[i, j] - mean) * (x[i, j] - mean)
            factor = numba.float32(1) / numpy.sqrt(squares / numba.float32(n) + numba.float32(1e-5))
            for j in range(n):
                y[i, j] = (x[i, j] - mean) * factor * weight[j] + bias[j]
        return y

    @numba.njit(parallel=True)
    def add(x, y, z):
        for i in numba.prange(x.shape[0]):
            z[i] = x[i] + y[i]
        return z

    out = numpy.empty_like(work["layer_norm"].inputs[0])
    z = numpy.empty_like(work["vector_add"].inputs[0])
    for name, function in (("layer_norm", lambda: normalise(*work["layer_norm"].inputs, out)),
                           ("vector_add", lambda: add(*work["vector_add"].inputs, z))):
        work[name].peers["numba"] = Peer(function, None, work[name].expected)


def add_triton(work, triton_peers):
    """Part of the rows or elements, see triton_peers.py: what NumPy says of all of them holds for these too."""
    for name, (function, share) in triton_peers.PEERS.items():
        w = work[name]
        target = 50.0 if name == "matmul_f32" else 300.0
        expected = w.expected
        if name == "transpose":
            expected = expected[:, : expected.shape[1] // share]
        elif name == "histogram":
            data = w.inputs[0]
            expected = sys.modules["numpy"].bincount(data[: len(data) // share], minlength=256)
        else:
            expected = expected[: expected.shape[0] // share]
        label = "Triton interp." + (" 1/%d" % share if share > 1 else "")
        w.peers[label] = Peer(lambda f=function, i=w.inputs: f(*i), target, expected, share)


def wrong(numpy, got, expected, tolerance):
    """None, or how far off: relative to the largest value, since sums cancel."""
    if isinstance(expected, tuple):
        return next(filter(None, (wrong(numpy, g, e, tolerance) for g, e in zip(got, expected, strict=True))), None)
    got = numpy.asarray(got)
    if got.shape != expected.shape:
        return "shape %s, not %s" % (got.shape, expected.shape)
    if tolerance == 0.0:
        return None if numpy.array_equal(got, expected) else "differs"
    error = numpy.abs(got - expected).max() / numpy.abs(expected).max()
    return None if error <= tolerance else "off by %g" % error


class Vm:
    """Runs kernels with tilevm on the inputs of a workload, which lie in files."""

    def __init__(self, tilevm, threads, seconds, directory):
        self.tilevm = os.path.abspath(tilevm)
        self.threads = threads
        self.seconds = seconds
        self.directory = directory
        self.files = {}

    def command(self, verb, name, workload):
        if name not in self.files:
            self.files[name] = [self.save("%s%d" % (name, i), array) for i, array in enumerate(workload.inputs)]
        kernel = next(filter(os.path.exists, (os.path.join(f, workload.kernel + ".tile") for f in FOLDERS)))
        return [self.tilevm, verb, kernel, *self.files[name], "--threads", str(self.threads)]

    def save(self, name, array):
        path = os.path.join(self.directory, name)
        if array.dtype == "uint16":
            array.tofile(path + ".bin")
            return path + ".bin:bf16[%s]" % ",".join(map(str, array.shape))
        sys.modules["numpy"].save(path + ".npy", array)
        return path + ".npy"

    def result(self, name, workload):
        path = os.path.join(self.directory, "result.npy")
        results = []
        for output in workload.outputs or ("",):
            to = "%s=%s" % (output, path) if output else path
            subprocess.run(self.command("run", name, workload) + ["-o", to], check=True)
            results.append(sys.modules["numpy"].load(path))
        return tuple(results) if workload.outputs else results[0]

    def time(self, name, workload):
        command = self.command("bench", name, workload) + ["--json", "--seconds", str(self.seconds)]
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)["median_ms"]

    def forget(self, name):
        for path in self.files.pop(name, ()):
            os.remove(path.split(":")[0])


def time_peer(peer, seconds):
    times = []
    peer.function()
    while not times or (sum(times) < seconds * 1e3 and len(times) < 1000):
        start = time.perf_counter()
        peer.function()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times) * peer.share


def compare(vm, name, workload, peer, rounds):
    """A row of the table."""
    vm_ms, peer_ms = [], []
    for _ in range(rounds):
        vm_ms.append(vm.time(name, workload))
        peer_ms.append(time_peer(peer, vm.seconds))
        time.sleep(0.05)  # Until the peer's threads stop waiting actively.
    ratio = statistics.median(p / v for p, v in zip(peer_ms, vm_ms))
    return {"tilevm_ms": statistics.median(vm_ms), "peer_ms": statistics.median(peer_ms), "ratio": ratio,
            "target": peer.target, "ok": None if peer.target is None else ratio >= peer.target}


def keep_freed_memory():
    """Peers that allocate their results get the same memory again, as the VM does: no page faults in the medians."""
    try:
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(-4, 0)  # M_MMAP_MAX
        libc.mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD
    except (OSError, AttributeError):
        print("the C library has no mallopt: peers that allocate pay for page faults", file=sys.stderr)


def import_peers(args):
    """The modules that can be imported, by name."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = str(args.threads)
    sys.path.insert(0, HERE)
    found = {}
    for name in ("numpy", "torch", "numba", "triton_peers"):
        try:
            found[name] = importlib.import_module(name)
        except ImportError as error:
            print("skipped: %s (%s)" % (name, error), file=sys.stderr)
    if "numpy" not in found:
        sys.exit("NumPy checks every result: without it there is nothing to compare")
    if "torch" in found:
        found["torch"].set_num_threads(args.threads)
    return found


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilevm", default="./tilevm")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--json", action="store_true", help="one object, after all has run")
    parser.add_argument("workloads", nargs="*", help="default: all, and `budgets`")
    return parser.parse_args()


def show(columns):
    print("%-12s %10s  %-20s %10s %8s %7s  %s" % columns, flush=True)


def cell(value, form="%.2f"):
    return "-" if value is None else form % value


def main():
    args = parse_arguments()
    keep_freed_memory()
    modules = import_peers(args)
    numpy = modules["numpy"]
    import budgets
    budgets.names()
    work = make_workloads(numpy)
    unknown = set(args.workloads) - set(work) - {"budgets"}
    if unknown:
        sys.exit("no such workload: " + ", ".join(sorted(unknown)))
    for name, add in (("numpy", add_numpy), ("torch", add_torch), ("numba", add_numba), ("triton_peers", add_triton)):
        if name in modules:
            add(work, modules[name])
    rows, failed = [], False
    if not args.json:
        print("%d threads; load %.1f; ratio: peer's time over tilevm's; 1/N: a part of the work, its time scaled up" %
              (args.threads, os.getloadavg()[0]))
        show(("workload", "tilevm ms", "peer", "peer ms", "ratio", "target", ""))
    with tempfile.TemporaryDirectory() as directory:
        vm = Vm(args.tilevm, args.threads, args.seconds, directory)
        for name, workload in work.items():
            if args.workloads and name not in args.workloads:
                continue
            error = wrong(numpy, vm.result(name, workload), workload.expected, workload.tolerance)
            if error:
                print("%s: tilevm: %s" % (name, error), file=sys.stderr)
                failed = True
                continue
            for label, peer in workload.peers.items():
                error = wrong(numpy, peer.function(), peer.expected, workload.tolerance)
                if error:
                    print("%s: %s: %s" % (name, label, error), file=sys.stderr)
                    failed = True
                    continue
                row = compare(vm, name, workload, peer, min(args.rounds, 3) if "Triton" in label else args.rounds)
                rows.append({"workload": name, "peer": label, **row})
                if not args.json:
                    verdict = {None: "", True: "ok", False: "below"}[row["ok"]]
                    show((name, cell(row["tilevm_ms"]), label, cell(row["peer_ms"]), cell(row["ratio"]),
                          cell(row["target"], "%g"), verdict))
            vm.forget(name)
    wanted = not args.workloads or "budgets" in args.workloads
    checks = budgets.measure(args.tilevm, args.threads) if wanted else []
    if args.json:
        versions = {n: m.__version__ for n, m in modules.items() if hasattr(m, "__version__")}
        report = {"threads": args.threads, "load": os.getloadavg()[0], "versions": versions, "rows": rows, "budgets": checks}
        print(json.dumps(report, indent=1))
    else:
        for check in checks:
            print(budgets.line(check))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
