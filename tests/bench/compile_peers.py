#!/usr/bin/env python3
"""How long the whole process takes from a program to machine code: tilec, NVIDIA's tileiras on the same program (written as
Tile IR bytecode by `tilevm export`), and ptxas alone on the PTX that tilec made. No GPU is needed.

    compile_peers.py --tilec=PATH --tilevm=PATH [--tileiras=PATH] [--ptxas=PATH] [--sm=90] [--runs=5] [--json] FILE.tile…

Medians, in milliseconds, of runs taken in turns. tileiras comes with `pip install nvidia-cuda-tileiras`; left out if it is
not given. Exit status 1 if a tool fails.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def run(command):
    # tileiras and ptxas look for parts of CUDA there, and take those of another version.
    env = {k: v for k, v in os.environ.items() if k not in ("CUDA_HOME", "CUDA_PATH")}
    begin = time.perf_counter()
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr.decode(errors='replace')}")
    return seconds * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilec", required=True)
    parser.add_argument("--tilevm", required=True)
    parser.add_argument("--tileiras")
    parser.add_argument("--ptxas", default=shutil.which("ptxas") or "ptxas")
    parser.add_argument("--sm", default="90")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()

    rows = []
    for path in args.files:
        name = os.path.basename(path).removesuffix(".tile")
        with tempfile.TemporaryDirectory() as folder:
            ptx, bytecode, out = (os.path.join(folder, n) for n in ("k.ptx", "k.tilebc", "out"))
            run([args.tilec, path, f"--sm={args.sm}", "--emit=ptx", "-o", ptx])
            with open(ptx, encoding="utf-8") as f:
                arch = re.search(r"^\.target (\w+)", f.read(), re.M).group(1)
            commands = {
                "tilec": [args.tilec, path, f"--sm={args.sm}", "--emit=cubin", "-o", out],
                "ptxas": [args.ptxas, f"-arch={arch}", "-O3", ptx, "-o", out],
            }
            if args.tileiras:
                run([args.tilevm, "export", path, "-o", bytecode])
                commands["tileiras"] = [args.tileiras, f"--gpu-name=sm_{args.sm}", bytecode, "-o", out]
            times = {k: [] for k in commands}
            for _ in range(args.runs):
                for k, command in commands.items():
                    times[k].append(run(command))
            row = {"program": name} | {k: round(statistics.median(t), 1) for k, t in times.items()}
            row["without_ptxas"] = round(row["tilec"] - row["ptxas"], 1)
            if args.tileiras:
                row["ratio"] = round(row["tileiras"] / row["tilec"], 2)
            rows.append(row)
    if args.json:
        print(json.dumps(rows))
        return
    print(f"{'program':<16}{'tilec':>9}{'ptxas':>9}{'less it':>9}{'tileiras':>10}{'tileiras / tilec':>18}")
    for r in rows:
        print(f"{r['program']:<16}{r['tilec']:>9}{r['ptxas']:>9}{r['without_ptxas']:>9}{r.get('tileiras', '-'):>10}"
              f"{r.get('ratio', '-'):>18}")


if __name__ == "__main__":
    main()
