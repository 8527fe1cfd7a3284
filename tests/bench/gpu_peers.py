#!/usr/bin/env python3
"""The examples on a GPU beside torch, in one run.

    tests/bench/gpu_peers.py --tilec PATH [--examples FOLDER] [--sm 90]

Needs a GPU, CuPy and torch. Each example is compiled by tilec as it is, without hints. Data is random; results are
checked against torch in float64 (norm error) before anything is timed. Times are medians of events around replays of a
CUDA graph of several launches; ours and the peer's alternate. A row: our microseconds, the peer's, peer/ours (above 1: we
are faster), and the share of the measured ceiling (a copy of 1 GiB, counting bytes read and written; or for products
the peer's best rate).
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

import cupy
import numpy as np
import torch


def median_us(fn, calls=10, rounds=9):
    """Median time of one call of fn, from events around replays of a graph of `calls` calls."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            fn()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(calls):
                fn()
        times = []
        for _ in range(rounds):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record(stream)
            graph.replay()
            end.record(stream)
            end.synchronize()
            times.append(start.elapsed_time(end) * 1000 / calls)
    return statistics.median(times)


class Kernel:
    """An example, compiled and loaded; called with a grid and its parameters (runtime/cuda/ABI.md)."""

    def __init__(self, options, name):
        folder = tempfile.mkdtemp()
        path = os.path.join(folder, name + ".cubin")
        source = os.path.join(options.examples, name + ".tile")
        done = subprocess.run([options.tilec, source, f"--sm={options.sm}", "-v", "-o", path], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        note = done.stderr.strip().split(": ", 1)[1]
        self.note = note
        self.threads = int(note.split(" threads")[0])
        self.shared = int(note.split(" bytes of shared")[0].split()[-1])
        self.function = cupy.RawModule(path=path).get_function(name)
        self.function.max_dynamic_shared_size_bytes = self.shared
        self.trap = torch.zeros(4096, dtype=torch.uint8, device="cuda")

    def __call__(self, grid, *params):
        grid = tuple(grid) + (1,) * (3 - len(grid))
        words = [np.uint64(p.data_ptr()) if isinstance(p, torch.Tensor) else p for p in params]
        words += [np.int32(g) for g in grid] + [np.uint64(self.trap.data_ptr()), np.uint64(0)]
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            self.function(grid, (self.threads, 1, 1), tuple(words), shared_mem=self.shared)


def norm_error(out, reference):
    reference = reference.double()
    return ((out.double() - reference).norm() / reference.norm()).item()


def cases(options):
    """(name, bytes or None, operations or None, ours, peer, tolerance, result, reference)"""
    i32, i64, ceildiv = np.int32, np.int64, lambda a, b: -(-a // b)
    rand = lambda *shape, dtype=torch.float32: torch.randn(*shape, device="cuda").to(dtype)
    def kernel(name):
        return Kernel(options, name)

    n = 1 << 26
    a, b, c = rand(n), rand(n), torch.full((n,), float("nan"), device="cuda")
    k = kernel("vector_add")
    yield "vector_add f32 2^26", 12 * n, None, k, lambda: k((ceildiv(n, 4096),), a, b, c, i64(n)), \
        lambda: torch.add(a, b, out=c), 1e-7, c, lambda: a.double() + b.double()
    del a, b, c

    x, y = rand(8192, 4096), torch.full((8192, 4096), float("nan"), device="cuda")
    rows, cols = x.shape
    k1 = kernel("softmax")
    yield f"softmax f32 {rows}x{cols}", 8 * x.numel(), None, k1, \
        lambda: k1((ceildiv(rows, 4),), x, y, i32(rows), i32(cols)), \
        lambda: torch.softmax(x, 1), 1e-5, y, lambda: torch.softmax(x.double(), 1)
    w, bias = rand(cols), rand(cols)
    k2 = kernel("layer_norm")
    yield f"layer_norm f32 {rows}x{cols}", 8 * x.numel(), None, k2, \
        lambda: k2((rows,), x, w, bias, y, i32(rows), i32(cols), np.float32(1e-5)), \
        lambda: torch.nn.functional.layer_norm(x, (cols,), w, bias), 1e-5, y, \
        lambda: torch.nn.functional.layer_norm(x.double(), (cols,), w.double(), bias.double())
    s = torch.full((rows,), float("nan"), device="cuda")
    k3 = kernel("row_sum")
    yield f"row_sum f32 {rows}x{cols}", 4 * x.numel(), None, k3, \
        lambda: k3((ceildiv(rows, 16),), x, s, i32(rows), i32(cols)), lambda: torch.sum(x, 1), 1e-5, s, \
        lambda: x.double().sum(1)
    del x, y
    x = rand(8192, 8192)
    t = torch.full((8192, 8192), float("nan"), device="cuda")
    k4 = kernel("transpose")
    yield "transpose f32 8192^2", 8 * x.numel(), None, k4, \
        lambda: k4((64, 64), x, t, i32(8192), i32(8192)), lambda: t.copy_(x.t()), 0, t, lambda: x.t()
    del x, t

    for name, dtype in (("matmul_bf16", torch.bfloat16), ("matmul_f16", torch.float16), ("matmul", torch.float32)):
        n = 4096
        p, q = rand(n, n, dtype=dtype) * 0.5, rand(n, n, dtype=dtype) * 0.5
        r = torch.full((n, n), float("nan"), device="cuda")
        k5 = kernel(name)
        yield f"{name} {n}^3", None, 2 * n**3, k5, lambda: k5((n // 128, n // 128), p, q, r, i32(n), i32(n), i32(n)), \
            lambda: torch.mm(p, q), 1e-5, r, lambda: p.double() @ q.double()
    heads, length = 64, 4096
    q, k_, v = (rand(heads, length, 64) for _ in range(3))
    o = torch.full_like(q, float("nan"))
    k6 = kernel("attention")
    yield f"attention f32 {heads}x{length}x64", None, 4 * heads * length * length * 64, k6, \
        lambda: k6((ceildiv(length, 128), heads), q, k_, v, o, i32(heads), i32(length), i32(length), np.float32(0.125)), \
        lambda: torch.nn.functional.scaled_dot_product_attention(q[None], k_[None], v[None]), 1e-4, o, \
        lambda: torch.nn.functional.scaled_dot_product_attention(q[None], k_[None], v[None], scale=0.125)[0]

    n = 1 << 26
    data = torch.randint(0, 256, (n,), device="cuda").to(torch.uint8)
    bins = torch.zeros(256, dtype=torch.int32, device="cuda")
    k7 = kernel("histogram")
    def histogram():
        bins.zero_()
        k7((ceildiv(n, 4096),), data, i64(n), bins)
    yield "histogram u8 2^26", n, None, k7, histogram, lambda: torch.histc(data.float(), 256, 0, 255), 0, bins, \
        lambda: torch.bincount(data.int(), minlength=256)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tilec", default="bazel-bin/tools/tilec")
    parser.add_argument("--examples", default="examples")
    parser.add_argument("--sm", default="90")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    big = torch.empty(1 << 28, device="cuda")
    other = torch.empty_like(big)
    copy = 2 * 4 * big.numel() / median_us(lambda: other.copy_(big)) / 1e3
    del big, other
    print(f"{torch.cuda.get_device_name()}; copy of 1 GiB: {copy:.0f} GB/s")
    print(f"{'':30} {'ours us':>10} {'torch us':>10} {'torch/ours':>10} {'rate':>16}  error")
    bad = 0
    for name, size, operations, kernel, ours, peer, tolerance, out, reference in cases(options):
        ours()
        torch.cuda.synchronize()
        error = norm_error(out, reference())
        if not error <= tolerance:
            bad += 1
        x, y = median_us(ours), median_us(peer)
        rate = f"{size / x / 1e3:.0f} GB/s {size / x / 1e3 / copy:.2f}" if size else f"{operations / x / 1e6:.0f} TFLOP/s"
        print(f"{name:30} {x:10.1f} {y:10.1f} {y / x:10.2f} {rate:>16}  {error:.1e}{'' if error <= tolerance else ' WRONG'}")
        print(f"    {kernel.note}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
