#!/usr/bin/env python3
"""The VM beside its peers on the same work, in one run.

    python3 tests/bench/peers.py [--tilevm ./tilevm] [--threads N] [--seconds S] [WORKLOAD…]

Prints a line per workload and peer: median milliseconds of both and the peer's time over the VM's (above 1: the VM is faster).
Peers are NumPy (its BLAS is whatever the system links) and, if it can be imported, torch. VM and peer take turns, so that a
machine that changes its speed changes both.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")


def workloads(numpy, torch):
    """name -> (kernel, values, floating-point operations, {peer: function})"""
    rng = numpy.random.default_rng(0)

    def f32(*shape):
        return rng.standard_normal(shape, dtype=numpy.float32)

    def softmax(x):
        e = numpy.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    a, b = f32(1024, 1024), f32(1024, 1024)
    a16, b16 = a.astype(numpy.float16), b.astype(numpy.float16)
    rows = f32(4096, 4096)
    x, y = f32(1 << 26), f32(1 << 26)
    z = numpy.empty_like(x)
    data = rng.integers(0, 256, 1 << 26, dtype=numpy.uint8)
    square = f32(8192, 8192)
    square_t = numpy.empty_like(square)
    table = {
        "matmul_f32": ("matmul.tile", ["normal:f32[1024,1024]"] * 2, {"numpy": lambda: a @ b}),
        "matmul_f16": ("matmul_f16.tile", ["normal:f16[1024,1024]"] * 2,
                       {"numpy, cast": lambda: a16.astype(numpy.float32) @ b16.astype(numpy.float32)}),
        "matmul_bf16": ("matmul_bf16.tile", ["normal:bf16[1024,1024]"] * 2, {}),
        "softmax": ("softmax.tile", ["normal:f32[4096,4096]"], {"numpy": lambda: softmax(rows)}),
        "layer_norm": ("layer_norm.tile", ["normal:f32[4096,4096]", "normal:f32[4096]", "normal:f32[4096]"], {}),
        "vector_add": ("vector_add.tile", ["rand:f32[67108864]"] * 2, {"numpy": lambda: numpy.add(x, y, out=z)}),
        "transpose": ("transpose.tile", ["rand:f32[8192,8192]"], {"numpy": lambda: numpy.copyto(square_t, square.T)}),
        "histogram": ("histogram_shared.tile", ["rand:u8[67108864]=0..255"],
                      {"numpy bincount": lambda: numpy.bincount(data, minlength=256)}),
        "attention": ("attention.tile", ["normal:f32[1,2048,64]"] * 3, {}),
    }
    if torch is not None:
        ta, tb = torch.from_numpy(a), torch.from_numpy(b)
        trows, weight, bias = torch.from_numpy(rows), torch.ones(4096), torch.zeros(4096)
        tx, ty, tz = torch.from_numpy(x), torch.from_numpy(y), torch.from_numpy(z)
        tsquare, tsquare_t = torch.from_numpy(square), torch.from_numpy(square_t)
        qkv = [torch.from_numpy(f32(1, 1, 2048, 64)) for _ in range(3)]
        peers = {
            "matmul_f32": lambda: torch.mm(ta, tb),
            "matmul_f16": lambda: ta.half().float() @ tb.half().float(),
            "matmul_bf16": lambda: ta.bfloat16().float() @ tb.bfloat16().float(),
            "softmax": lambda: torch.softmax(trows, 1),
            "layer_norm": lambda: torch.nn.functional.layer_norm(trows, (4096,), weight, bias),
            "vector_add": lambda: torch.add(tx, ty, out=tz),
            "transpose": lambda: tsquare_t.copy_(tsquare.T),
            "attention": lambda: torch.nn.functional.scaled_dot_product_attention(*qkv),
        }
        for name, peer in peers.items():
            table[name][2]["torch"] = peer
    return table


def time_peer(function, seconds):
    function()
    times = []
    while len(times) < 3 or (sum(times) < seconds and len(times) < 1000):
        start = time.perf_counter()
        function()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def time_vm(args, kernel, values):
    command = [args.tilevm, "bench", os.path.join(EXAMPLES, kernel), *values, "--json", "--seconds", str(args.seconds)]
    if args.threads:
        command += ["--threads", str(args.threads)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)["median_ms"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilevm", default="./tilevm")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("workloads", nargs="*")
    args = parser.parse_args()
    if args.threads:
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ[name] = str(args.threads)
    import numpy
    try:
        import torch
        if args.threads:
            torch.set_num_threads(args.threads)
    except ImportError:
        torch = None
        print("torch is not installed: compared with NumPy only", file=sys.stderr)
    print("%-12s %10s  %-16s %10s %8s" % ("workload", "VM ms", "peer", "peer ms", "ratio"))
    for name, (kernel, values, peers) in workloads(numpy, torch).items():
        if (args.workloads and name not in args.workloads) or not os.path.exists(os.path.join(EXAMPLES, kernel)):
            continue
        vm = time_vm(args, kernel, values)
        if not peers:
            print("%-12s %10.2f  %-16s" % (name, vm, "-"))
        for peer, function in peers.items():
            other = time_peer(function, args.seconds)
            vm = statistics.median([vm, time_vm(args, kernel, values), time_vm(args, kernel, values)])
            print("%-12s %10.2f  %-16s %10.2f %8.2f" % (name, vm, peer, other, other / vm))


main()
