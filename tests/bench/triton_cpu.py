#!/usr/bin/env python3
"""Kernels of Triton's tutorials on this CPU: the VM behind the plug-in against Triton's interpreter, the same launch.

    python tests/bench/triton_cpu.py CHECKOUT [--check=LEVEL] [--repeat=N]

CHECKOUT is a clone of triton-lang/triton (tests/triton/PINNED). Needs tilevm, triton and torch. Each kernel runs in two processes, one with
TRITON_INTERPRET=1; a time is the shortest of N calls behind one that is not counted, and includes what Python takes for a launch. Results are
compared. Prints milliseconds and the ratio for each kernel, and its median.
"""
import argparse
import ast
import json
import os
import pathlib
import runpy
import statistics
import subprocess
import sys
import time


def tutorial(checkout, name):
    """The names of its kernels; the rest of the program, which measures and compares, is left out, and so is tuning."""
    tree = ast.parse((pathlib.Path(checkout) / "python/tutorials" / f"{name}.py").read_text())
    kernels = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any(ast.unparse(word) == "triton.jit" for word in node.decorator_list):
            node.decorator_list = [word for word in node.decorator_list if ast.unparse(word) == "triton.jit"]
            kernels.append(ast.unparse(node))
    path = pathlib.Path(os.environ["TRITON_CPU_FOLDER"]) / f"{name.replace('-', '_')}.py"
    path.write_text("import torch\nimport triton\nimport triton.language as tl\n\n" + "\n\n".join(kernels) + "\n")
    return runpy.run_path(str(path), run_name="tutorial")


def cases(checkout):
    """name -> (a call that gives a tensor)."""
    import torch
    from triton.tools.tensor_descriptor import TensorDescriptor

    device = "cuda" if os.environ.get("TRITON_INTERPRET") != "1" else "cpu"
    torch.manual_seed(0)

    def random(*shape, dtype=torch.float32):
        return torch.randn(shape).to(dtype).to(device)

    def zeros(*shape, dtype=torch.float32):
        return torch.zeros(shape, dtype=dtype).to(device)

    add = tutorial(checkout, "01-vector-add")["add_kernel"]
    x, y, out = random(1 << 16), random(1 << 16), zeros(1 << 16)
    yield "01 vector add, 64 Ki elements", lambda: (add[(64,)](x, y, out, 1 << 16, BLOCK_SIZE=1024), out)[1]

    softmax = tutorial(checkout, "02-fused-softmax")["softmax_kernel"]
    rows, result = random(128, 781), zeros(128, 781)
    yield "02 softmax, 128 × 781", lambda: (
        softmax[(16,)](result, rows, 781, 781, 128, 781, BLOCK_SIZE=1024, num_stages=2), result)[1]

    matmul = tutorial(checkout, "03-matrix-multiplication")["matmul_kernel"]
    a, b, c = random(256, 256, dtype=torch.float16), random(256, 256, dtype=torch.float16), zeros(256, 256, dtype=torch.float16)
    sizes = {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 32, "GROUP_SIZE_M": 8, "ACTIVATION": ""}
    yield "03 matmul f16, 256³", lambda: (matmul[(16,)](a, b, c, 256, 256, 256, 256, 1, 256, 1, 256, 1, **sizes), c)[1]

    dropout = tutorial(checkout, "04-low-memory-dropout")["_seeded_dropout"]
    kept = zeros(1 << 16)
    yield "04 dropout, 64 Ki elements", lambda: (dropout[(64,)](x, kept, 1 << 16, 0.5, 123, BLOCK_SIZE=1024), kept)[1]

    norm = tutorial(checkout, "05-layer-norm")["_layer_norm_fwd_fused"]
    data, weight, bias, normed = random(128, 1024), random(1024), random(1024), zeros(128, 1024)
    mean, rstd = zeros(128), zeros(128)
    yield "05 layer norm, 128 × 1024", lambda: (
        norm[(128,)](data, normed, weight, bias, mean, rstd, 1024, 1024, 1e-5, BLOCK_SIZE=1024), normed)[1]

    flash = tutorial(checkout, "06-fused-attention")["_attn_fwd"]
    q, k, v = (random(1, 2, 256, 64, dtype=torch.float16) for _ in range(3))
    o, sums = zeros(1, 2, 256, 64, dtype=torch.float16), zeros(1, 2, 256)
    blocks = {"BLOCK_M": 64, "BLOCK_N": 64}

    def described(tensor, rows):
        return TensorDescriptor(tensor, [512, 64], [64, 1], [rows, 64])

    def attention():
        flash[(4, 2, 1)](0.125, sums, 1, 2, described(q, 64), described(k, 64), described(v, 64), described(o, 64), 256, HEAD_DIM=64,
                         FP8_OUTPUT=False, STAGE=3, warp_specialize=False, IS_HOPPER=False, **blocks)
        return o

    yield "06 attention f16, causal, 2 × 256 × 64", attention


def measure(checkout, repeat):
    """In this process; one line of JSON for each kernel."""
    for name, call in cases(checkout):
        out = call()
        best = float("inf")
        for _ in range(repeat):
            start = time.perf_counter()
            out = call()
            best = min(best, time.perf_counter() - start)
        print(json.dumps({"name": name, "ms": best * 1e3, "values": out.float().cpu().reshape(-1)[:4096].tolist()}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout")
    parser.add_argument("--check", default="bounds")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        return measure(args.checkout, args.repeat)
    import tempfile

    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for who, extra in (("vm", {"TRITON_DEFAULT_BACKEND": "tilevm", "TILEVM_CHECK": args.check}), ("interpreter", {"TRITON_INTERPRET": "1"})):
            environment = {**os.environ, **extra, "TRITON_CPU_FOLDER": folder, "TRITON_CACHE_DIR": f"{folder}/cache"}
            command = [sys.executable, __file__, args.checkout, f"--repeat={args.repeat}", "--measure"]
            ran = subprocess.run(command, env=environment, capture_output=True, text=True)
            if ran.returncode != 0:
                sys.exit(ran.stdout + ran.stderr)
            found[who] = {entry["name"]: entry for entry in map(json.loads, (ln for ln in ran.stdout.splitlines() if ln.startswith("{")))}
    ratios = []
    print(f"{'kernel':42} {'interpreter ms':>15} {'VM ms':>9} {'ratio':>7}  greatest difference")
    for name, slow in found["interpreter"].items():
        fast = found["vm"][name]
        ratios.append(slow["ms"] / fast["ms"])
        assert any(fast["values"]), f"{name}: nothing was written"
        off = max(abs(p - q) for p, q in zip(slow["values"], fast["values"]))
        print(f"{name:42} {slow['ms']:15.1f} {fast['ms']:9.3f} {ratios[-1]:7.0f}  {off:.1e}")
    print(f"median {statistics.median(ratios):.0f}")


if __name__ == "__main__":
    main()
