"""How time grows with the size of a program: for each kind of operation a module of N and one of 4 N, and for each step what it takes.

    growth.py --tilevm=bazel-bin/tools/tilevm/tilevm --tilec=bazel-bin/tools/tilec/tilec [--n=2000] [--kinds=fors,loads] [--steps=tilec]
    growth.py --print=fors --n=2000             # one of the modules

A line for each kind has seconds of N (of what one operation has, at most 16,000) and of 4 N, and the exponent by which they grow
(1: linear, 2: quadratic), for verify, run, run --check=full, and tilec to PTX. What an empty module
takes is subtracted; below 0.1 s there is no exponent. The exit code is 1 if one is above --limit, or a step fails or takes longer than --seconds.
"""
import argparse
import math
import os
import subprocess
import sys
import tempfile
import time

HEAD = """entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<i32>>) interface {
  inout x: f32[4096] at %p
  inout y: i32[131072] at %q
  grid 1
} {
"""
VIEW = """  %v = make_tensor_view %q, shape = [4096], strides = [1]
  %w = make_partition_view %v : partition_view<tile=(16)>
"""
SUM = "%a, %b) {\n    %r = addi %a, %b\n    yield %r\n  }\n"


def kernel(*parts):
    return HEAD + "".join(parts) + "  return\n}\n"


def lines(n, one):
    return "".join(one(i) for i in range(n))


KINDS = {
    # Straight lines.
    "adds": lambda n: kernel("  %v0, %t = load_ptr_tko weak %q\n", lines(n, lambda i: f"  %v{i + 1} = addi %v{i}, {i}\n"),
                             f"  store_ptr_tko weak %q, %v{n}\n"),
    "tile_adds": lambda n: kernel(VIEW, "  %v0 = load_view_tko weak %w[0]\n", lines(n, lambda i: f"  %v{i + 1} = addi %v{i}, {i % 7}\n"),
                                  f"  store_view_tko weak %v{n}, %w[0]\n"),
    "selects": lambda n: kernel("  %v0, %t = load_ptr_tko weak %q\n",
                                lines(n, lambda i: f"  %c{i} = cmpi less_than %v{i}, {i} signed\n  %s{i} = addi %v{i}, 3\n"
                                                   f"  %v{i + 1} = select %c{i}, %v{i}, %s{i}\n"), f"  store_ptr_tko weak %q, %v{n}\n"),
    "maths": lambda n: kernel("  %v0, %t = load_ptr_tko weak %p\n", lines(n, lambda i: f"  %v{i + 1} = sin %v{i}\n"),
                              f"  store_ptr_tko weak %p, %v{n}\n"),
    # Memory.
    "loads": lambda n: kernel(lines(n, lambda i: f"  %o{i} = offset %q, {i % 4096}\n  %x{i} = load_ptr_tko weak %o{i}\n")),
    "equal_loads": lambda n: kernel("  %o = offset %q, 1\n  %s0 = constant <i32: 0>\n",
                                    lines(n, lambda i: f"  %x{i} = load_ptr_tko weak %o\n  %s{i + 1} = addi %s{i}, %x{i}\n"),
                                    f"  store_ptr_tko weak %q, %s{n}\n"),
    "chained_loads": lambda n: kernel("  %t0 = make_token\n", lines(
        n, lambda i: f"  %o{i} = offset %q, {i % 4096}\n  %x{i}, %t{i + 1} = load_ptr_tko weak %o{i} token = %t{i}\n")),
    "tile_loads": lambda n: kernel(VIEW, "  %s0 = load_view_tko weak %w[0]\n", lines(
        n, lambda i: f"  %x{i} = load_view_tko weak %w[{i % 200}]\n  %s{i + 1} = addi %s{i}, %x{i}\n"), f"  store_view_tko weak %s{n}, %w[255]\n"),
    "stores": lambda n: kernel("  %t0 = make_token\n", lines(
        n, lambda i: f"  %o{i} = offset %q, {i % 4096}\n  %t{i + 1} = store_ptr_tko weak %o{i}, {i} token = %t{i}\n")),
    "loads_and_stores": lambda n: kernel("  %t0 = make_token\n", lines(
        n, lambda i: f"  %o{i} = offset %q, {i % 4096}\n  %x{i}, %l{i} = load_ptr_tko weak %o{i} token = %t{i}\n"
                     f"  %t{i + 1} = store_ptr_tko weak %o{i}, %x{i} token = %l{i}\n")),
    "tile_stores": lambda n: kernel(VIEW, "  %t0 = make_token\n  %s = load_view_tko weak %w[0]\n", lines(
        n, lambda i: f"  %t{i + 1} = store_view_tko weak %s, %w[{i % 256}] token = %t{i}\n")),
    "joins": lambda n: kernel(lines(n, lambda i: f"  %o{i} = offset %q, {i % 4096}\n  %x{i}, %t{i} = load_ptr_tko weak %o{i}\n"),
                              "  %j = join_tokens ", ", ".join(f"%t{i}" for i in range(n)), "\n  store_ptr_tko weak %q, 1 token = %j\n"),
    "atomics": lambda n: kernel(lines(n, lambda i: f"  %o{i} = offset %q, {i % 4096}\n  %x{i} = atomic_rmw_tko relaxed device %o{i}, add, {i}\n")),
    "views": lambda n: kernel(lines(n, lambda i: f"  %v{i} = make_tensor_view %q, shape = [{4096 - i % 64}], strides = [1]\n"
                                                 f"  %w{i} = make_partition_view %v{i} : partition_view<tile=(16)>\n"
                                                 f"  %x{i} = load_view_tko weak %w{i}[{i % 200}]\n")),
    "allocas": lambda n: kernel(lines(n, lambda i: f"  %a{i} = alloca num_elem = 4, alignment = 16 : tile<ptr<i32>>\n"
                                                   f"  %t{i} = store_ptr_tko weak %a{i}, {i}\n")),
    "globals": lambda n: lines(n, lambda i: f"global @g{i} <i32: [{i}]> : tile<1xi32>\n") + kernel(
        lines(n, lambda i: f"  %g{i} = get_global @g{i} : tile<ptr<i32>>\n  %x{i} = load_ptr_tko weak %g{i}\n")),
    # Control.
    "ifs": lambda n: kernel("  %v, %t = load_ptr_tko weak %q\n  %c = cmpi less_than %v, 3 signed\n", lines(
        n, lambda i: f"  if %c {{\n    %o{i} = offset %q, {i}\n    store_ptr_tko weak %o{i}, {i}\n  }}\n")),
    "ifs_with_values": lambda n: kernel("  %v0, %t = load_ptr_tko weak %q\n", lines(
        n, lambda i: f"  %c{i} = cmpi less_than %v{i}, {i} signed\n  %v{i + 1} = if %c{i} -> (tile<i32>) {{\n    %a{i} = addi %v{i}, 5\n    yield %a{i}\n"
                     f"  }} else {{\n    %b{i} = muli %v{i}, 3\n    yield %b{i}\n  }}\n"), f"  store_ptr_tko weak %q, %v{n}\n"),
    "tile_ifs": lambda n: kernel(VIEW, "  %x, %t = load_ptr_tko weak %q\n  %c = cmpi less_than %x, 3 signed\n  %s0 = load_view_tko weak %w[0]\n", lines(
        n, lambda i: f"  %s{i + 1} = if %c -> (tile<16xi32>) {{\n    %a{i} = addi %s{i}, 5\n    yield %a{i}\n"
                     f"  }} else {{\n    %b{i} = muli %s{i}, 3\n    yield %b{i}\n  }}\n"), f"  store_view_tko weak %s{n}, %w[255]\n"),
    "fors": lambda n: kernel("  %v0, %t = load_ptr_tko weak %q\n", lines(
        n, lambda i: f"  %v{i + 1} = for %i{i} in (0 to 3, step 1) : tile<i32> iter_values(%k{i} = %v{i}) {{\n    %a{i} = addi %k{i}, %i{i}\n"
                     f"    continue %a{i}\n  }}\n"), f"  store_ptr_tko weak %q, %v{n}\n"),
    "counted_fors": lambda n: kernel("  %v0, %t = load_ptr_tko weak %q\n", lines(
        n, lambda i: f"  %v{i + 1} = for %i{i} in (0 to %v0, step 1) : tile<i32> iter_values(%k{i} = %v{i}) {{\n    %a{i} = muli %k{i}, %i{i}\n"
                     f"    continue %a{i}\n  }}\n"), f"  store_ptr_tko weak %q, %v{n}\n"),
    "nested_fors": lambda n: kernel("  %v0, %t = load_ptr_tko weak %q\n", lines(
        n, lambda i: f"  %v{i + 1} = for %i{i} in (0 to 2, step 1) : tile<i32> iter_values(%k{i} = %v{i}) {{\n"
                     f"    %w{i} = for %j{i} in (0 to %i{i}, step 1) : tile<i32> iter_values(%m{i} = %k{i}) {{\n      %a{i} = addi %m{i}, %j{i}\n"
                     f"      continue %a{i}\n    }}\n    continue %w{i}\n  }}\n"), f"  store_ptr_tko weak %q, %v{n}\n"),
    "fors_with_loads": lambda n: kernel(VIEW, "  %v0 = load_view_tko weak %w[0]\n", lines(
        n, lambda i: f"  %v{i + 1} = for %i{i} in (0 to 3, step 1) : tile<i32> iter_values(%k{i} = %v{i}) {{\n    %j{i} = addi %i{i}, {i % 200}\n"
                     f"    %x{i} = load_view_tko weak %w[%j{i}]\n    %a{i} = addi %k{i}, %x{i}\n    continue %a{i}\n  }}\n"),
        f"  store_view_tko weak %v{n}, %w[255]\n"),
    "fors_with_equal_loads": lambda n: kernel(VIEW, "  %v0 = load_view_tko weak %w[0]\n", lines(
        n, lambda i: f"  %v{i + 1} = for %i{i} in (0 to 3, step 1) : tile<i32> iter_values(%k{i} = %v{i}) {{\n"
                     f"    %x{i} = load_view_tko weak %w[%i{i}]\n    %a{i} = addi %k{i}, %x{i}\n    continue %a{i}\n  }}\n"),
        f"  store_view_tko weak %v{n}, %w[255]\n"),
    "fors_with_stores": lambda n: kernel("  %t0 = make_token\n", lines(
        n, lambda i: f"  %t{i + 1} = for %i{i} in (0 to 3, step 1) : tile<i32> iter_values(%k{i} = %t{i}) {{\n    %o{i} = offset %q, %i{i}\n"
                     f"    %a{i} = store_ptr_tko weak %o{i}, {i} token = %k{i}\n    continue %a{i}\n  }}\n")),
    "loops": lambda n: kernel("  %v0, %t = load_ptr_tko weak %q\n", lines(
        n, lambda i: f"  %v{i + 1} = loop iter_values(%k{i} = %v{i}) : tile<i32> -> tile<i32> {{\n    %c{i} = cmpi less_than %k{i}, 100 signed\n"
                     f"    if %c{i} {{\n      %n{i} = addi %k{i}, 7\n      continue %n{i}\n    }}\n    break %k{i}\n  }}\n"),
        f"  store_ptr_tko weak %q, %v{n}\n"),
    "carried": lambda n: kernel("  %v, %t = load_ptr_tko weak %q\n  ", ", ".join(f"%r{i}" for i in range(n)),
                                " = for %i in (0 to 10, step 1) : tile<i32> iter_values(", ", ".join(f"%k{i} = %v" for i in range(n)), ") {\n",
                                lines(n, lambda i: f"    %a{i} = addi %k{i}, %k{(i + 1) % n}\n"),
                                "    continue ", ", ".join(f"%a{i}" for i in range(n)), "\n  }\n  store_ptr_tko weak %q, %r0\n"),
    "carried_by_loop": lambda n: kernel("  %v, %t = load_ptr_tko weak %q\n  ", ", ".join(f"%r{i}" for i in range(n)), " = loop iter_values(",
                                        ", ".join(f"%k{i} = %v" for i in range(n)), ") : ", ", ".join(["tile<i32>"] * n), " -> ",
                                        ", ".join(["tile<i32>"] * n), " {\n", lines(n, lambda i: f"    %a{i} = addi %k{(i + 1) % n}, 1\n"),
                                        "    %c = cmpi less_than %a0, 9 signed\n    if %c {\n      continue ",
                                        ", ".join(f"%a{i}" for i in range(n)), "\n    }\n    break ", ", ".join(f"%k{i}" for i in range(n)),
                                        "\n  }\n  store_ptr_tko weak %q, %r0\n"),
    "results_of_if": lambda n: kernel("  %v, %t = load_ptr_tko weak %q\n  %c = cmpi less_than %v, 3 signed\n  ", ", ".join(f"%r{i}" for i in range(n)),
                                      " = if %c -> (", ", ".join(["tile<i32>"] * n), ") {\n", lines(n, lambda i: f"    %a{i} = addi %v, {i}\n"),
                                      "    yield ", ", ".join(f"%a{i}" for i in range(n)), "\n  } else {\n    yield ", ", ".join(["%v"] * n),
                                      f"\n  }}\n  store_ptr_tko weak %q, %r{n - 1}\n"),
    # Tiles.
    "reduces": lambda n: kernel(VIEW, "  %s0 = load_view_tko weak %w[0]\n", lines(
        n, lambda i: f"  %m{i} = reduce %s{i} dim=0 identities=[0] ({SUM}  %s{i + 1} = addi %s{i}, %m{i}\n"), f"  store_view_tko weak %s{n}, %w[0]\n"),
    "scans": lambda n: kernel(VIEW, "  %s0 = load_view_tko weak %w[0]\n", lines(
        n, lambda i: f"  %s{i + 1} = scan %s{i} dim=0 reverse=false identities=[0] ({SUM}"), f"  store_view_tko weak %s{n}, %w[0]\n"),
    "products": lambda n: kernel(
        "  %v = make_tensor_view %p, shape = [64, 64], strides = [64, 1]\n  %w = make_partition_view %v : partition_view<tile=(16x16)>\n"
        "  %x = load_view_tko weak %w[0, 0]\n  %s0 = constant <f32: 0> : tile<16x16xf32>\n",
        lines(n, lambda i: f"  %s{i + 1} = mmaf %x, %x, %s{i}\n"), f"  store_view_tko weak %s{n}, %w[1, 1]\n"),
    "operands_of_reduce": lambda n: kernel(
        VIEW, "  %x = load_view_tko weak %w[0]\n  ", ", ".join(f"%r{i}" for i in range(n)), " = reduce ", ", ".join(["%x"] * n), " dim=0 identities=[",
        ", ".join(["0"] * n), "] (", ", ".join(f"%e{i}, %f{i}" for i in range(n)), ") {\n", lines(n, lambda i: f"    %s{i} = addi %e{i}, %f{i}\n"),
        "    yield ", ", ".join(f"%s{i}" for i in range(n)), "\n  }\n  store_ptr_tko weak %q, %r0\n"),
    "permutes": lambda n: kernel(
        "  %v = make_tensor_view %p, shape = [64, 64], strides = [64, 1]\n  %w = make_partition_view %v : partition_view<tile=(16x16)>\n"
        "  %s0 = load_view_tko weak %w[0, 0]\n",
        lines(n, lambda i: f"  %y{i} = permute %s{i} [1, 0]\n  %s{i + 1} = addf %y{i}, %s{i}\n"), f"  store_view_tko weak %s{n}, %w[1, 1]\n"),
    "asserts": lambda n: kernel("  %v, %t = load_ptr_tko weak %q\n", lines(
        n, lambda i: f"  %c{i} = cmpi less_than %v, {i + 5} signed\n  assert %c{i}, \"at {i}\"\n")),
    "prints": lambda n: kernel("  %v, %t = load_ptr_tko weak %q\n", lines(n, lambda i: "  print_tko \"%i\", %v\n")),
    # Modules.
    "kernels": lambda n: lines(n, lambda i: kernel("  store_ptr_tko weak %q, 1\n").replace("@k(", f"@k{i}(")),
}
# tilec makes PTX of one kernel; what is printed is told line by line.
LEFT_OUT = {("kernels", "tilec"), ("prints", "run"), ("prints", "full")}
# A module has at most 65,536 globals, an operation 65,535 operands and as many results, and a list of a file 4,096 identities.
MOST = {"globals": 16000, "joins": 16000, "carried": 16000, "carried_by_loop": 16000, "results_of_if": 16000, "operands_of_reduce": 1024}
DATA = ["zeros:f32[4096]", "zeros:i32[131072]"]


def commands(options, module, kind=""):
    choice = ["-k", "k0"] if kind == "kernels" and os.path.basename(module) != "kernels0.tile" else []
    ways = {}
    if options.tilevm:
        ways["verify"] = [options.tilevm, "verify", module]
        ways["run"] = [options.tilevm, "run", module, *choice, *DATA]
        ways["full"] = [options.tilevm, "run", "--check=full", module, *choice, *DATA]
    if options.tilec:
        ways["tilec"] = [options.tilec, module, "--sm=" + options.sm, "--emit=ptx", "-o", "/dev/null", f"--time-limit={max(1, int(options.seconds))}"]
    return {step: words for step, words in ways.items() if not options.steps or step in options.steps.split(",")}


def seconds_of(words, limit):
    """CPU seconds of the command, which others on the machine disturb least; None: it failed."""
    before = os.times()
    start = time.monotonic()
    try:
        done = subprocess.run(words, capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return None
    after = os.times()
    if done.returncode != 0:
        sys.stderr.write(f"{' '.join(words)}: {done.returncode}\n{done.stderr.decode(errors='replace')[:500]}\n")
        return None
    return min(time.monotonic() - start, after.children_user + after.children_system - before.children_user - before.children_system)


def measure(options, kind, folder):
    """By step: seconds of n and 4 n, and the exponent."""
    times = {}
    modules = {}
    most = min(options.n, MOST.get(kind, options.n))
    for n in (0, most, 4 * most):
        modules[n] = os.path.join(folder, f"{kind}{n}.tile")
        with open(modules[n], "w", encoding="utf-8") as file:
            file.write(KINDS[kind](n) if n > 0 else kernel())
    for step in commands(options, ""):
        if (kind, step) in LEFT_OUT:
            continue
        row = [seconds_of(commands(options, modules[n], kind)[step], options.seconds) for n in (0, most, 4 * most)]
        if None in row:
            times[step] = (None, None, math.inf)
            continue
        small, large = max(row[1] - row[0], 1e-3), max(row[2] - row[0], 1e-3)
        times[step] = (row[1], row[2], math.log(large / small, 4) if row[2] > 0.1 else None)
    return times


def parser():
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--tilevm")
    made.add_argument("--tilec")
    made.add_argument("--sm", default="90")
    made.add_argument("--n", type=int, default=2000)
    made.add_argument("--kinds")
    made.add_argument("--steps")
    made.add_argument("--limit", type=float, default=1.4)
    made.add_argument("--seconds", type=float, default=120)
    made.add_argument("--print", metavar="KIND")
    return made


def main():
    options = parser().parse_args()
    if options.print:
        sys.stdout.write(KINDS[options.print](options.n))
        return 0
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds.split(",") if options.kinds else KINDS:
            cells = []
            for step, (small, large, exponent) in measure(options, kind, folder).items():
                if exponent == math.inf:
                    cells.append(f"{step}: failed, or not done in {options.seconds:g} s")
                    bad += 1
                    continue
                cells.append(f"{step} {small:.2f} {large:.2f} s" + ("" if exponent is None else f" ^{exponent:.2f}"))
                bad += exponent is not None and exponent > options.limit
            print(f"{kind:24}" + " | ".join(cells), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
