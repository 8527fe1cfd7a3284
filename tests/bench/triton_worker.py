"""Runs kernels in Triton with one compiler and stops where one is timed. Started by ./triton, which describes it.

What a row runs are the functions of the tutorials and of Liger-Kernel, as they are. Of a `torch.autograd.Function` both directions
are called directly, so that a graph can record them.

With BENCH_COMPILE=K/N it only runs every N-th row once, which leaves the kernels in Triton's cache. With LAUNCHES each launch of a row is
timed by itself.
"""
import json
import os
import pathlib
import runpy
import sys
import time
import traceback
import types

import torch
import triton
from duel_worker import Row, kernels_us, time_us
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

IS_PEER = os.environ["DUEL_SIDE"] == "triton"  # An installed tilevm is imported by triton itself, as one of its back ends.
CHOICES = pathlib.Path(os.environ["DUEL_CHOICES"])
WAIT = 120.0  # seconds for the choice of the other process
MOST = int(os.environ["DUEL_CONFIGS"])  # configurations that the peer measures; 0: all
ONLY = os.environ["DUEL_ONLY"].split(",")
SHARD, SHARDS = map(int, os.environ.get("BENCH_COMPILE", "0/0").split("/"))
number = 0
choice = None  # the file of this row


def key_of(config):
    return json.dumps([config.kwargs, config.num_warps, config.num_stages], sort_keys=True)


prune_all = Autotuner.prune_configs
run_tuned = Autotuner.run


def prune_configs(self, kwargs):
    """In a row the peer measures all, or some; a program that is only being loaded takes the first; tilevm takes the peer's choice."""
    configs = prune_all(self, kwargs)
    if choice is None:
        return configs[:1]
    if IS_PEER:
        return configs if MOST == 0 else configs[::-(-len(configs) // MOST)]
    until = time.time() + WAIT
    while not choice.exists() and time.time() < until:
        time.sleep(0.05)
    best = json.loads(choice.read_text()).get(self.base_fn.__name__) if choice.exists() else None
    return [c for c in configs if key_of(c) == best] or configs[:1]


def run(self, *args, **kwargs):
    result = run_tuned(self, *args, **kwargs)
    if choice is not None and IS_PEER:
        tuned[self.base_fn.__name__] = key_of(self.best_config)
    return result


Autotuner.prune_configs, Autotuner.run = prune_configs, run
tuned = {}


def likeness(x):
    """Equal for arguments that a kernel cannot tell apart by what it takes time for."""
    if isinstance(x, torch.Tensor):
        return tuple(x.shape), str(x.dtype)
    return tuple(map(likeness, x)) if isinstance(x, (tuple, list)) else "" if callable(x) else repr(x)[:60]


def launches_of(fn):
    """[(kernel, how often, what launches it again)] of a call, equal launches once. A tuner's trials are not among them: it has chosen."""
    launch, found = JITFunction.run, {}

    def record(self, *args, **kwargs):
        result = launch(self, *args, **kwargs)
        key = self.__name__, likeness(args), likeness(sorted((name, likeness(value)) for name, value in kwargs.items()))
        found.setdefault(key, []).append(lambda: launch(self, *args, **kwargs))
        return result

    JITFunction.run = record
    try:
        fn()
    finally:
        JITFunction.run = launch
    return [(key[0], len(again), again[0]) for key, again in found.items()]


def is_wanted(text):
    return any(only in text for only in ONLY)


def row(file, series, size, make, timer=time_us):
    """Makes a function and stops at it. What cannot be made is a row that failed."""
    global number, choice
    number += 1
    if not is_wanted(f"{file} {series} {size}") or (SHARDS and number % SHARDS != SHARD):
        return
    tuned.clear()
    choice = CHOICES / f"{number}.json"
    what = Row({"file": file, "series": series, "size": str(size)}, number, timer, launches_of if "LAUNCHES" in os.environ else None)
    torch.manual_seed(0)
    try:
        fn = make()
        fn()
        if IS_PEER and not SHARDS:
            (CHOICES / "part").write_text(json.dumps(tuned))
            (CHOICES / "part").rename(choice)
        if not SHARDS:
            what.bench(fn)
    except Exception as error:
        traceback.print_exc()
        if not SHARDS:
            what.failed(error)
    choice = None
    torch.cuda.empty_cache()


class Context:
    """What forward hands to backward."""
    needs_input_grad = (True,) * 16

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *_):
        pass


def both_ways(file, series, size, function, make_args, back_timer=time_us):
    """A row for each direction of a torch.autograd.Function, or of what a function without parameters gives."""
    def found():
        return function() if isinstance(function, types.FunctionType) else function

    def forward():
        forward, args = found().forward, make_args()
        return lambda: forward(Context(), *args)

    def backward():
        function, context = found(), Context()
        result = function.forward(context, *make_args())
        gradients = [torch.randn_like(r) if r.is_floating_point() else None for r in (result if isinstance(result, tuple) else (result,)) if r is not None]
        return lambda: function.backward(context, *gradients)

    row(file, f"{series} forward", size, forward)
    row(file, f"{series} backward", size, backward, back_timer)


def random(*shape, dtype=torch.float16):
    return torch.randn(*shape, device="cuda", dtype=dtype)


class Later(dict):
    """The names of a tutorial, which runs, but for what it measures, when the first of them is asked for."""

    def __init__(self, name):
        self.name = name

    def __getitem__(self, key):
        if not self:
            self.update(load(self.name))
        return super().__getitem__(key)


def load(name):
    global choice
    folder = pathlib.Path(os.environ["TUTORIALS"])
    sys.argv = [name]
    os.chdir(folder)
    of_row, choice = choice, None
    names = runpy.run_path(str(folder / f"{name}.py"), run_name="tutorial")
    choice = of_row
    return names


def tutorials():
    add = Later("01-vector-add")
    for n in (1 << 12, 1 << 26):
        row("01", "vector add", n, lambda n=n: (lambda x, y: lambda: add["add"](x, y))(random(n, dtype=torch.float32), random(n, dtype=torch.float32)))
    softmax = Later("02-fused-softmax")
    for n in (1024, 4096, 12288):
        row("02", "softmax", f"4096x{n}", lambda n=n: (lambda x: lambda: softmax["softmax"](x))(random(4096, n, dtype=torch.float32)))
    matmul = Later("03-matrix-multiplication")
    for n in (512, 1024, 2048, 4096):
        row("03", "matmul f16", n, lambda n=n: (lambda a, b: lambda: matmul["matmul"](a, b))(random(n, n), random(n, n)))
    for n in (2048, 4096):
        row("03", "matmul f16, B by columns", n, lambda n=n: (lambda a, b: lambda: matmul["matmul"](a, b.T))(random(n, n), random(n, n)))
        row("03", "matmul e5m2, B by columns", n,
            lambda n=n: (lambda a, b: lambda: matmul["matmul"](a, b.T))(random(n, n).to(torch.float8_e5m2), random(n, n).to(torch.float8_e5m2)))
    dropout = Later("04-low-memory-dropout")
    row("04", "dropout", 1 << 24, lambda: (lambda x: lambda: dropout["seeded_dropout"](x, p=0.5, seed=7))(random(1 << 24, dtype=torch.float32)))
    layer_norm = Later("05-layer-norm")
    for n in (1024, 4096, 8192):
        both_ways("05", "layer norm", f"4096x{n}", lambda: layer_norm["LayerNorm"], lambda n=n: (random(4096, n), (n,), random(n), random(n), 1e-5))
    attention = Later("06-fused-attention")
    for d in (64, 128):
        for causal in (False, True):
            both_ways("06", f"attention d{d}{' causal' if causal else ''}", "4x16x4096", lambda: attention["_attention"],
                      lambda d=d, causal=causal: (random(4, 16, 4096, d), random(4, 16, 4096, d), random(4, 16, 4096, d), causal, 0.5, False, False))
    grouped = Later("08-grouped-gemm")
    for n in (1024, 2048):
        def make(n=n):
            a, b, c = ([random(n, n) for _ in range(4)] for _ in range(3))
            addresses = [torch.tensor([t.data_ptr() for t in ts], device="cuda") for ts in (a, b, c)]
            sizes, strides = (torch.tensor([n] * 12, dtype=torch.int32, device="cuda") for _ in range(2))

            def call(keep=(a, b)):
                grouped["triton_perf_fn"](*addresses, sizes, strides, 4)
                return c
            return call
        row("08", "grouped matmul f16", f"4x{n}", make)



def liger():
    import liger_kernel.ops as ops

    rows, bf16 = 4096, torch.bfloat16
    both_ways("liger", "poly norm", "4096x4096", ops.LigerPolyNormFunction,
              lambda: (random(rows, 4096, dtype=bf16), random(3, dtype=bf16), random(1, dtype=bf16), 1e-6, False))
    both_ways("liger", "sparsemax", "4096x2048", ops.LigerSparsemaxFunction, lambda: (random(rows, 2048, dtype=torch.float32), -1))
    both_ways("liger", "rope", "4x32x2048x128", ops.LigerRopeFunction,
              lambda: (random(4, 32, 2048, 128, dtype=bf16), random(4, 8, 2048, 128, dtype=bf16),
                       random(1, 2048, 128, dtype=bf16), random(1, 2048, 128, dtype=bf16)))
    both_ways("liger", "group norm", "64x32x4096", ops.LigerGroupNormFunction,
              lambda: (random(64, 32, 4096, dtype=torch.float32), random(32, dtype=torch.float32), random(32, dtype=torch.float32), 32, 8, 1e-6))
    for words in (32000, 128256):
        size = f"2048x{words}"

        def logits(words=words, dtype=bf16):
            return random(2048, words, dtype=dtype)

        row("liger", "cross entropy", size,
            lambda words=words: (lambda x, y: lambda: ops.LigerCrossEntropyFunction.forward(Context(), x.clone(), y, None))(
                logits(words), torch.randint(words, (2048,), device="cuda")), timer=kernels_us)  # It asks how many targets count.
        if words < 100000:
            # Backward compares with a number on the CPU.
            both_ways("liger", "kl div", size, ops.LigerKLDivLossFunction,
                      lambda words=words: (logits(words, torch.float32).log_softmax(-1), logits(words, torch.float32).softmax(-1)), kernels_us)
            both_ways("liger", "jsd", size, ops.LigerJSDFunction,
                      lambda words=words: (logits(words, torch.float32).log_softmax(-1), logits(words, torch.float32).log_softmax(-1)), kernels_us)
            both_ways("liger", "tvd", size, ops.LigerTVDLossFunction,
                      lambda words=words: (logits(words, torch.float32).softmax(-1), logits(words, torch.float32).softmax(-1)), kernels_us)
    for n in (2048, 8192):
        size = f"{rows}x{n}"
        both_ways("liger", "rms norm", size, ops.LigerRMSNormFunction,
                  lambda n=n: (random(rows, n, dtype=bf16), random(n, dtype=bf16), 1e-6, 0.0, "llama", False))
        both_ways("liger", "layer norm", size, ops.LigerLayerNormFunction,
                  lambda n=n: (random(rows, n, dtype=bf16), random(n, dtype=bf16), random(n, dtype=bf16), 1e-6))
        both_ways("liger", "fused add rms norm", size, ops.LigerFusedAddRMSNormFunction,
                  lambda n=n: (random(rows, n, dtype=bf16), random(rows, n, dtype=bf16), random(n, dtype=bf16), 1e-6, 0.0, "llama", False))
        both_ways("liger", "swiglu", size, ops.LigerSiLUMulFunction, lambda n=n: (random(rows, n, dtype=bf16), random(rows, n, dtype=bf16)))
        both_ways("liger", "geglu", size, ops.LigerGELUMulFunction, lambda n=n: (random(rows, n, dtype=bf16), random(rows, n, dtype=bf16)))
        both_ways("liger", "softmax", size, ops.LigerSoftmaxFunction, lambda n=n: (random(rows, n, dtype=bf16),))
        both_ways("liger", "relu squared", size, ops.LigerReLUSquaredFunction, lambda n=n: (random(rows, n, dtype=bf16),))


def cases():
    """Rows of others: each file of the folder CASES imports what it needs from `rows`, which is this module."""
    sys.modules["rows"] = sys.modules[__name__]
    sys.path.insert(0, os.environ["CASES"])
    for file in sorted(pathlib.Path(os.environ["CASES"]).glob("*.py")):
        try:
            runpy.run_path(str(file), run_name=file.stem)
        except Exception:  # of one file; the others have rows, too
            traceback.print_exc()


triton.testing.Mark.run = lambda self, **options: None
for name, part in (("TUTORIALS", tutorials), ("LIGER", liger), ("CASES", cases)):
    number += 1000  # Rows have the same numbers in both processes, whatever fails before them.
    if name in os.environ:
        try:
            part()
        except Exception:
            traceback.print_exc()
