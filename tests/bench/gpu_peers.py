#!/usr/bin/env python3
"""The examples on a GPU beside torch and Triton, in one run.

    tests/bench/gpu_peers.py --tilec PATH [--library PATH] [--examples FOLDER] [--sm 90] [PART OF A NAME…]

Needs a GPU, CuPy and torch; Triton if it is there. Each example (or kernel of tests/bench/kernels) is compiled by tilec as it
is, without hints, and launched as an application does (--library), or only its general image. Data is random; results are
checked against torch in float64 (norm error) before anything is timed. Times are medians of events around replays of a CUDA
graph of several launches after a rest; ours and the peers' take turns. A row: our microseconds, torch's, Triton's where
gpu_triton.py has the kernel (the best of its configurations, checked like ours), peer/ours (above 1: we are faster), and the
share of the measured ceiling (a copy of 1 GiB, counting bytes read and written; for products the rate).
"""
import argparse
import functools
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import cupy
import numpy as np
import torch

import tilevm_c

try:
    import gpu_triton
except ImportError:
    gpu_triton = None

warnings.filterwarnings("ignore", category=DeprecationWarning)


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
            time.sleep(0.008)  # bursts, not what is left when the chip is hot
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record(stream)
            graph.replay()
            end.record(stream)
            end.synchronize()
            times.append(start.elapsed_time(end) * 1000 / calls)
    return statistics.median(times)


def compiled(options, name, change, extension):
    """Where the kernel's code is, its name, and what tilec says of its images."""
    folder = tempfile.mkdtemp()
    folders = (options.examples, os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels"))
    source = next(p for p in (os.path.join(f, name + ".tile") for f in folders) if os.path.exists(p))
    if change:  # the same with some words for others, its name too
        with open(source) as old:
            text = old.read()
        for words in change:
            name, text = name.replace(*words), text.replace(*words)
        source = os.path.join(folder, name + ".tile")
        with open(source, "w") as new:
            new.write(text)
    path = os.path.join(folder, name + extension)
    done = subprocess.run([options.tilec, source, f"--sm={options.sm}", "-v", "-o", path, *options.tilec_options], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return path, name, [line.split(": ", 1)[1] for line in done.stderr.strip().splitlines() if line.startswith("@")]


class Cubin:
    """A kernel's general image, loaded by CuPy; called with a grid and its parameters (runtime/cuda/ABI.md)."""

    def __init__(self, options, name, change=()):
        path, self.name, notes = compiled(options, name, change, ".cubin")
        self.note = notes[0]
        self.threads = int(self.note.split(" threads")[0])
        self.shared = int(self.note.split(" bytes of shared")[0].split()[-1])
        self.function = cupy.RawModule(path=path).get_function(self.name)
        self.function.max_dynamic_shared_size_bytes = self.shared
        self.trap = torch.zeros(4096, dtype=torch.uint8, device="cuda")

    def __call__(self, grid, *params):
        grid = tuple(grid) + (1,) * (3 - len(grid))
        words = [np.uint64(p.data_ptr()) if isinstance(p, torch.Tensor) else p for p in params]
        words += [np.int32(g) for g in grid] + [np.uint64(self.trap.data_ptr()), np.uint64(0)]
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            self.function(grid, (self.threads, 1, 1), tuple(words), shared_mem=self.shared)


class Portable:
    """A .tbc with all its images, launched by libtilevm.so, which chooses one; called like a Cubin. Arrays come first among
    the parameters, scalars of the interface last; grid, sizes and working memory follow from the launch rule."""

    device = None

    def __init__(self, options, name, change=()):
        if Portable.device is None:
            Portable.device = tilevm_c.Library(options.library).device("cuda")
        path, self.name, notes = compiled(options, name, change, ".tbc")
        self.note = "\n    ".join(notes)
        self.kernel = Portable.device.kernel(path)

    def __call__(self, grid, *params):
        tensors = [p for p in params if isinstance(p, torch.Tensor)][:len(self.kernel.arrays)]
        numbers = [p.item() for p in params if not isinstance(p, torch.Tensor)]
        self.kernel(torch.cuda.current_stream(), tensors, numbers[len(numbers) - len(self.kernel.scalars):])


class Lazy:
    """A kernel that is compiled when it is first called: rows that were not asked for cost nothing."""

    def __init__(self, make, name, change):
        self.make, self.name = make, name
        for words in change:
            self.name = self.name.replace(*words)

    @functools.cached_property
    def kernel(self):
        return self.make()

    @property
    def note(self):
        return self.kernel.note

    def __call__(self, *args):
        self.kernel(*args)


def norm_error(out, reference):
    reference = reference.double()
    return ((out.double() - reference).norm() / reference.norm()).item()


class Case:
    """One row: `bytes` moved or `operations` done by a call; `reference()` is what `out` should hold after ours(), and after
    any of `triton()`, the calls to choose from."""

    def __init__(self, name, kernel, ours, peer, out, reference, tolerance, bytes=None, operations=None, triton=None):
        self.name, self.kernel, self.ours, self.peer = name, kernel, ours, peer
        self.out, self.reference, self.tolerance = out, reference, tolerance
        self.bytes, self.operations, self.triton = bytes, operations, triton


def ceildiv(a, b):
    return -(-a // b)


def rand(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda").to(dtype)


def unset(*shape, dtype=torch.float32):
    return torch.full(shape, float("nan"), device="cuda", dtype=dtype)


I32, I64, F32 = np.int32, np.int64, np.float32


def elementwise(kernel):
    n = 1 << 26
    for name, dtype, block, tolerance in (("vector_add", torch.float32, 4096, 1e-7), ("vector_add_bf16", torch.bfloat16, 8192, 3e-3)):
        a, b, c = rand(n, dtype=dtype), rand(n, dtype=dtype), unset(n, dtype=dtype)
        k = kernel(name)
        yield Case(f"{name} 2^26", k, lambda: k((ceildiv(n, block),), a, b, c, I64(n)), lambda: torch.add(a, b, out=c), c,
                   lambda: a.double() + b.double(), tolerance, bytes=3 * n * a.element_size())


def rows(kernel):
    for suffix, sums, m, n, dtype, softmax_rows, sum_rows, tolerance in (
            ("", "row_sum", 8192, 4096, torch.float32, 4, 16, 1e-5), ("_wide", "row_sum", 8192, 8192, torch.float32, 1, 16, 1e-5),
            ("_bf16", "row_sum_bf16", 8192, 8192, torch.bfloat16, 1, 8, 4e-3)):
        x, y, w, bias, s = rand(m, n, dtype=dtype), unset(m, n, dtype=dtype), rand(n, dtype=dtype), rand(n, dtype=dtype), unset(m)
        size = x.numel() * x.element_size()
        k1, k2, k3 = kernel("softmax" + suffix), kernel("layer_norm" + suffix), kernel(sums)
        yield Case(f"softmax{suffix} {m}x{n}", k1, lambda: k1((ceildiv(m, softmax_rows),), x, y, I32(m), I32(n)),
                   lambda: torch.softmax(x, 1), y, lambda: torch.softmax(x.double(), 1), tolerance, bytes=2 * size,
                   triton=lambda: gpu_triton.softmax(x, y))
        yield Case(f"layer_norm{suffix} {m}x{n}", k2, lambda: k2((m,), x, w, bias, y, I32(m), I32(n), F32(1e-5)),
                   lambda: torch.nn.functional.layer_norm(x, (n,), w, bias), y,
                   lambda: torch.nn.functional.layer_norm(x.double(), (n,), w.double(), bias.double()), tolerance, bytes=2 * size,
                   triton=lambda: gpu_triton.layer_norm(x, w, bias, y, 1e-5))
        yield Case(f"{sums} {m}x{n}", k3, lambda: k3((ceildiv(m, sum_rows),), x, s, I32(m), I32(n)),
                   lambda: torch.sum(x, 1, dtype=torch.float32), s, lambda: x.double().sum(1), 1e-5, bytes=size)


def moves(kernel):
    n = 8192
    x, t = rand(n, n), unset(n, n)
    k = kernel("transpose")
    yield Case("transpose f32 8192^2", k, lambda: k((n // 128, n // 128), x, t, I32(n), I32(n)), lambda: t.copy_(x.t()), t,
               lambda: x.t(), 0, bytes=8 * x.numel())
    k1 = kernel("row_scan")
    yield Case("row prefix sum f32 8192^2", k1, lambda: k1((n,), x, t, I32(n), I32(n)), lambda: torch.cumsum(x, 1, out=t), t,
               lambda: torch.cumsum(x.double(), 1), 1e-5, bytes=8 * x.numel())


def scans(kernel):
    n = 1 << 27
    data = torch.randint(-100, 100, (n,), device="cuda", dtype=torch.int32)
    sums, places = torch.zeros_like(data), ceildiv(n, 4096) + 1
    ticket, ready, total = (torch.zeros(k, dtype=torch.int32, device="cuda") for k in (1, places, places))
    words = torch.zeros(places + 63, dtype=torch.int64, device="cuda")
    k1, k2 = kernel("prefix_sum_lookback"), kernel("prefix_sum")

    def look_back():
        ticket.zero_(), words.zero_()
        k1((ceildiv(n, 4096),), data, sums, I64(n), ticket, words)

    def chain():
        ticket.zero_(), ready.zero_()
        k2((ceildiv(n, 4096),), data, sums, I64(n), ticket, ready, total)

    # torch's is CUB's.
    for name, k, ours in (("prefix sum i32 2^27", k1, look_back), ("prefix sum, chained", k2, chain)):
        yield Case(name, k, ours, lambda: torch.cumsum(data, 0, dtype=torch.int32, out=sums), sums,
                   lambda: torch.cumsum(data.long(), 0), 0, bytes=8 * n)


def updates(kernel):
    n = 1 << 26
    data = torch.randint(0, 256, (n,), device="cuda").to(torch.uint8)
    bins = torch.zeros(256, dtype=torch.int32, device="cuda")
    k = kernel("histogram")

    def histogram():
        bins.zero_()
        k((ceildiv(n, 4096),), data, I64(n), bins)

    yield Case("histogram u8 2^26", k, histogram, lambda: torch.histc(data.float(), 256, 0, 255), bins,
               lambda: torch.bincount(data.int(), minlength=256), 0, bytes=n)
    m, size = 1 << 24, 1 << 20
    index = torch.randint(0, size, (m,), device="cuda", dtype=torch.int32)
    # Small integers add up exactly, in any order.
    values = torch.randint(-8, 9, (m,), device="cuda").float()
    table, long_index = torch.zeros(size, device="cuda"), index.long()
    k1 = kernel("scatter_add_flat")

    def scatter():
        table.zero_()
        k1((ceildiv(m, 1024),), index, values, table, I32(m), I32(size))

    yield Case("scatter add f32 2^24 to 2^20", k1, scatter, lambda: table.zero_().index_add_(0, index, values), table,
               lambda: torch.zeros(size, device="cuda", dtype=torch.float64).index_add_(0, long_index, values.double()), 0, bytes=8 * m,
                   triton=lambda: gpu_triton.scatter_add(index, values, table))
    counter = torch.zeros(1, dtype=torch.int32, device="cuda")
    ones = torch.ones(m, dtype=torch.int32, device="cuda")
    nowhere = torch.zeros(m, dtype=torch.int64, device="cuda")
    k2 = kernel("count")

    def count():
        counter.zero_()
        k2((ceildiv(m, 4096),), counter, I32(m))

    yield Case("2^24 adds to one place", k2, count, lambda: counter.zero_().index_add_(0, nowhere, ones), counter,
               lambda: torch.tensor([m], device="cuda"), 0, bytes=4)


def multiply(a, b, result, in_tf32):
    torch.backends.cuda.matmul.allow_tf32 = in_tf32
    torch.mm(a, b, out_dtype=result)
    torch.backends.cuda.matmul.allow_tf32 = False


def products(kernel):
    forms = [(name, torch.bfloat16, n) for n in (4096, 8192)
             for name in ("matmul_bf16", "matmul_bf16_wide", "matmul_bf16_narrow", "matmul_bf16_wide_narrow")]
    for name, dtype, n in forms + [("matmul_f16", torch.float16, 4096), ("matmul_tf32", torch.float32, 4096),
                                       ("matmul", torch.float32, 4096)]:
        narrow, in_tf32 = name.endswith("narrow"), name.endswith("tf32")
        p, q = rand(n, n, dtype=dtype) * 0.5, rand(n, n, dtype=dtype) * 0.5
        r = unset(n, n, dtype=dtype if narrow else torch.float32)
        k = kernel(name)
        yield Case(f"{name} {n}^3", k, lambda: k((n // (256 if "wide" in name else 128), n // 128), p, q, r, I32(n), I32(n), I32(n)),
                   lambda: multiply(p, q, r.dtype, in_tf32), r, lambda: p.double() @ q.double(),
                   3e-3 if narrow else 1e-3 if in_tf32 else 1e-5, operations=2 * n**3)
    yield from other_products(kernel)
    attention = torch.nn.functional.scaled_dot_product_attention
    bf16, wide = ("f16", "bf16"), ("64", "128")  # heads of 128, and 128 keys an iteration
    for name, change, dtype, tolerance, heads, length, size in (
            ("attention", (), torch.float32, 1e-4, 64, 4096, 64), ("attention_heads64_f16", (), torch.float16, 3e-3, 64, 4096, 64),
            ("attention_heads64_f16", (bf16,), torch.bfloat16, 2e-2, 64, 4096, 64), ("attention_f16", (bf16,), torch.bfloat16, 2e-2, 64, 4096, 64),
            ("attention_f16", (bf16, wide), torch.bfloat16, 2e-2, 64, 4096, 128),
            ("attention_causal_bf16", (), torch.bfloat16, 2e-2, 16, 16384, 128), ("attention_causal_heads64_bf16", (), torch.bfloat16, 2e-2, 16, 16384, 64)):
        q, k_, v = (rand(heads, length, size, dtype=dtype) for _ in range(3))
        o = unset(heads, length, size, dtype=dtype)
        scale, causal = size**-0.5, "causal" in name
        k1 = kernel(name, change)
        yield Case(f"{k1.name} {heads}x{length}x{size}", k1,
                   lambda: k1((ceildiv(length, 64 if "64" in name else 128), heads), q, k_, v, o, I32(heads), I32(length), I32(length), F32(scale)),
                   lambda: attention(q[None], k_[None], v[None], is_causal=causal), o,
                   lambda: attention(q[None].float(), k_[None].float(), v[None].float(), scale=scale, is_causal=causal)[0], tolerance,
                   operations=(2 if causal else 4) * heads * length * length * size,
                   triton=None if dtype == torch.float32 else
                   lambda: (gpu_triton.attention_causal if causal else gpu_triton.attention)(q, k_, v, o, scale))


def lengths(kernel):
    """Attention over lengths: heads × length is the same in all rows. The peer is cuDNN."""
    def cudnn(q, k, v, causal):
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)

    bf16, wide = ("f16", "bf16"), ("64", "128")
    for name, change, size in (("attention_f16", (bf16, wide), 128), ("attention_causal_bf16", (), 128), ("attention_heads64_f16", (bf16,), 64),
                               ("attention_causal_heads64_bf16", (), 64)):
        causal, k1 = "causal" in name, kernel(name, change)
        for length in (1024, 2048, 4096, 8192, 16384, 32768):
            heads, scale = (1 << 18) // length, size**-0.5
            q, k_, v = (rand(heads, length, size, dtype=torch.bfloat16) for _ in range(3))
            o = unset(heads, length, size, dtype=torch.bfloat16)
            yield Case(f"{'causal' if causal else 'full'} heads of {size}, {length}", k1,
                       lambda: k1((ceildiv(length, 64 if size == 64 else 128), heads), q, k_, v, o, I32(heads), I32(length), I32(length), F32(scale)),
                       lambda: cudnn(q, k_, v, causal), o,
                       lambda: torch.nn.functional.scaled_dot_product_attention(q[None].float(), k_[None].float(), v[None].float(), is_causal=causal)[0],
                       2e-2, operations=(2 if causal else 4) * heads * length * length * size,
                       triton=lambda: (gpu_triton.attention_causal if causal else gpu_triton.attention)(q, k_, v, o, scale))


# The tiles of the 128x128 product in bf16, smaller: 64x64, and 16x64 for few rows.
SMALL = (("128x64", "64x64"), ("64x128", "64x64"), ("128x128", "64x64"), ("shape[1], 128", "shape[1], 64"), ("shape[0], 128", "shape[0], 64"))
FLAT = (("64x128", "64x64"), ("128x64", "16x64"), ("128x128", "16x64"), ("shape[1], 128", "shape[1], 64"), ("shape[0], 128", "shape[0], 16"))


def other_products(kernel):
    bf16, e4m3 = torch.bfloat16, torch.float8_e4m3fn
    for form, change, m, n in (("64x64x64", SMALL, 4096, 4096), ("16 rows", FLAT, 16, 8192)):
        p, q, r = rand(m, n, dtype=bf16), rand(n, n, dtype=bf16), unset(m, n, dtype=bf16)
        k = kernel("matmul_bf16_narrow", change)
        yield Case(f"matmul_bf16 {form} {m}x{n}x{n}", k, lambda: k((1, 1), p, q, r, I32(m), I32(n), I32(n)), lambda: torch.mm(p, q), r,
                   lambda: p.double() @ q.double(), 3e-3, bytes=2 * n * n if m == 16 else None, operations=2 * m * n * n)
    a, b, c = rand(8, 2048, 2048, dtype=bf16), rand(8, 2048, 2048, dtype=bf16), unset(8, 2048, 2048, dtype=bf16)
    k1 = kernel("matmul_batched")
    yield Case("matmul_bf16 batched 8x2048^3", k1, lambda: k1((1, 1, 1), a, b, c, I32(8), I32(2048), I32(2048), I32(2048)),
               lambda: torch.bmm(a, b), c, lambda: a.double() @ b.double(), 3e-3, operations=2 * 8 * 2048**3)
    k2, one = kernel("matmul_e4m3"), torch.ones((), device="cuda")
    for n in (4096, 8192):
        p, q, r = rand(n, n).to(e4m3), rand(n, n).to(e4m3), unset(n, n, dtype=bf16)
        yield Case(f"matmul_e4m3 {n}^3", k2, lambda: k2((1, 1), p, q, r, I32(n), I32(n), I32(n)),
                   lambda: torch._scaled_mm(p, q.t(), one, one, out_dtype=bf16), r, lambda: p.double() @ q.double().t(), 3e-3, operations=2 * n**3)


# The gradients' kernels for heads of 64: of keys and values with 64 queries an iteration.
KV64 = (("128", "64"), ("x32x", "x64x"), ("<32x", "<64x"), ("(1x32)", "(1x64)"), (": 32>", ": 64>"))
Q64 = (("[1, 0] -> tile<128x64xbf16>", "[1, 0] -> tile<64x64xbf16>"), ("x128xbf16", "x64xbf16"), ("1x128x128", "1x128x64"), ("1x64x128", "1x64x64"),
       ("128x128xf32", "128x64xf32"), (", 128]", ", 64]"), (", 128, 1]", ", 64, 1]"), ("%size = constant <i32: 128>", "%size = constant <i32: 64>"))


def backward(kernel):
    """Gradients of attention, three kernels; the peer is cuDNN's backward pass, and what it is checked with torch's of f32."""
    aten, bf16 = torch.ops.aten, torch.bfloat16
    for heads, length, size, causal in ((64, 4096, 128, False), (16, 16384, 128, True), (64, 4096, 64, False), (16, 16384, 64, True)):
        q, k_, v, dy = (rand(heads, length, size, dtype=bf16) for _ in range(4))
        found, scale = unset(3, heads, length, size, dtype=bf16), size**-0.5
        delta = unset(heads, length)
        y, lse, _, _, most_q, most_k, seed, offset, _ = aten._scaled_dot_product_cudnn_attention(q[None], k_[None], v[None], None, True, 0.0, causal, False)
        sums = lse.reshape(heads, length)
        small = size == 64
        k1 = kernel("attention_backward_delta", (("128", "64"),) if small else ())
        k2 = kernel("attention_backward_kv", KV64 if small else ())
        k3 = kernel("attention_backward_q", Q64 if small else ())
        numbers = (I32(heads), I32(length), I32(causal), F32(scale))

        def ours():
            k1((ceildiv(length, 64), heads), y[0], dy, delta, I32(heads), I32(length))
            k2((ceildiv(length, 64), heads), q, k_, v, dy, sums, delta, found[1], found[2], *numbers)
            k3((ceildiv(length, 128), heads), q, k_, v, dy, sums, delta, found[0], *numbers)

        def exact():
            inputs = [x.float()[None].requires_grad_() for x in (q, k_, v)]
            out = torch.nn.functional.scaled_dot_product_attention(*inputs, is_causal=causal)
            return torch.cat(torch.autograd.grad(out, inputs, dy.float()[None]))

        yield Case(f"attention backward {heads}x{length}x{size}{' causal' if causal else ''}", k2, ours,
                   lambda: aten._scaled_dot_product_cudnn_attention_backward(dy[None], q[None], k_[None], v[None], y, lse, seed, offset, None, None, None,
                                                                             most_q, most_k, 0.0, causal),
                   found, exact, 1e-2, operations=(5 if causal else 10) * heads * length * length * size)


def decoding(kernel):
    """One new token of 8 sequences, 8 heads of keys for 64 of queries: the peer is torch's attention of grouped queries."""
    sequences, heads, keys, parts = 8, 8, 16384, 8
    n, bf16 = sequences * heads, torch.bfloat16
    q, k_, v = rand(n, 8, 128, dtype=bf16), rand(n, keys, 128, dtype=bf16), rand(n, keys, 128, dtype=bf16)
    part, log, y = unset(parts, n, 8, 128), unset(parts, n, 8), unset(n, 8, 128, dtype=bf16)
    k1, k2 = kernel("decode_bf16"), kernel("decode_combine")

    def ours():
        k1((parts, n), q, k_, v, part, log, I32(n), I32(keys), F32(128**-0.5))
        k2((8, n), part, log, y, I32(n), I32(parts))

    def exact():
        weights = torch.softmax(q.double() @ k_.double().transpose(1, 2) * 128**-0.5, 2)
        return weights @ v.double()

    # The queries of a group as rows of one head.
    yield Case("decoding bf16, 8x16384 keys", k1, ours, lambda: torch.nn.functional.scaled_dot_product_attention(q[None], k_[None], v[None]), y,
               exact, 5e-3, bytes=2 * 2 * k_.numel())


def layers(kernel):
    """What stands between the products of a transformer; the peer is what torch.compile makes of the formula."""
    bf16, n = torch.bfloat16, 8192
    x, up, w, y = rand(n, n, dtype=bf16), rand(n, n, dtype=bf16), rand(n, dtype=bf16), unset(n, n, dtype=bf16)

    def rms(x, w, wide):
        x = x.to(wide)
        return x * torch.rsqrt(x.square().mean(1, keepdim=True) + 1e-6) * w.to(wide)

    def swiglu(x, up, wide):
        return torch.nn.functional.silu(x.to(wide)) * up.to(wide)

    def rope(x, cos, sin, wide):
        a, b = x.to(wide).chunk(2, 2)
        c, s = cos.to(wide)[:, None], sin.to(wide)[:, None]
        return torch.cat((a * c - b * s, b * c + a * s), 2)

    k1, k2, k3 = kernel("rms_norm_bf16"), kernel("swiglu"), kernel("rope_bf16")
    t1, t2, t3 = (torch.compile(lambda *args, f=f: f(*args, torch.float32).to(bf16)) for f in (rms, swiglu, rope))
    exact = torch.float64
    yield Case("rms norm bf16 8192^2", k1, lambda: k1((n,), x, w, y, I32(n), I32(n), F32(1e-6)), lambda: t1(x, w), y,
               lambda: rms(x, w, exact), 3e-3, bytes=4 * x.numel())
    yield Case("swiglu bf16 8192^2", k2, lambda: k2((1, 1), x, up, y, I32(n), I32(n)), lambda: t2(x, up), y, lambda: swiglu(x, up, exact), 4e-3,
               bytes=6 * x.numel())
    angles = rand(n, 64)
    x3, cos, sin, y3 = x.view(n, 64, 128), angles.cos().to(bf16), angles.sin().to(bf16), y.view(n, 64, 128)
    yield Case("rope bf16 8192x64x128", k3, lambda: k3((1, 1), x3, cos, sin, y3, I32(n), I32(64)), lambda: t3(x3, cos, sin), y3,
               lambda: rope(x3, cos, sin, exact), 4e-3, bytes=4 * x.numel())


def in_turns(*calls, turns=3):
    """Medians of the calls' times in microseconds. What is timed first finds the chip rested and its caches cold: so each has several turns."""
    times = [[median_us(call, rounds=3) for call in calls] for _ in range(turns)]
    return [statistics.median(one) for one in zip(*times)]


def best_of(case, calls):
    """The fastest of the calls that give the right result; None if none does."""
    best, found = float("inf"), None
    reference = case.reference()
    for call in calls:
        case.out.zero_()
        try:
            call()
            torch.cuda.synchronize()
        except gpu_triton.OutOfResources:
            continue
        if norm_error(case.out, reference) <= case.tolerance and (took := median_us(call, rounds=3)) < best:
            best, found = took, call
    return found


def copy_rate():
    """GB/s, of 1 GiB from memory to memory."""
    big = torch.empty(1 << 28, device="cuda")
    other = torch.empty_like(big)
    return 2 * 4 * big.numel() / median_us(lambda: other.copy_(big)) / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tilec", default="bazel-bin/tools/tilec/tilec")
    parser.add_argument("--examples", default="examples")
    parser.add_argument("--library", help="libtilevm.so.1, which launches all images of a .tbc; without it: the general one")
    parser.add_argument("--sm", default="90")
    parser.add_argument("--tilec-options", type=str.split, default=[], help='more options for tilec, as in "--warps=8"')
    parser.add_argument("--lengths", action="store_true", help="only attention, over lengths of 1024 to 32768")
    parser.add_argument("names", nargs="*", help="only rows whose names contain one of these")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    copy = copy_rate()
    print(f"{torch.cuda.get_device_name()}; copy of 1 GiB: {copy:.0f} GB/s")
    print(f"{'':30} {'ours us':>10} {'torch us':>10} {'torch/ours':>10} {'Triton us':>10} {'Triton/ours':>11} {'rate':>16}  error")
    bad = 0
    groups = (lengths,) if options.lengths else (elementwise, rows, moves, scans, updates, layers, backward, decoding, products)
    for group in groups:
        for case in group(lambda name, change=(): Lazy(lambda: (Portable if options.library else Cubin)(options, name, change), name, change)):
            if options.names and not any(part in case.name for part in options.names):
                continue
            case.ours()
            torch.cuda.synchronize()
            error = norm_error(case.out, case.reference())
            wrong = not error <= case.tolerance
            bad += wrong
            best = best_of(case, case.triton()) if case.triton and gpu_triton else None
            x, y, *z = in_turns(case.ours, case.peer, *([best] if best else []))
            rate = (f"{case.bytes / x / 1e3:.0f} GB/s {case.bytes / x / 1e3 / copy:.2f}" if case.bytes
                    else f"{case.operations / x / 1e6:.0f} TFLOP/s")
            triton = f"{z[0]:10.1f} {z[0] / x:11.2f}" if z else f"{'':22}"
            print(f"{case.name:30} {x:10.1f} {y:10.1f} {y / x:10.2f} {triton} {rate:>16}  {error:.1e}{' WRONG' if wrong else ''}", flush=True)
            print(f"    {case.kernel.note}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
