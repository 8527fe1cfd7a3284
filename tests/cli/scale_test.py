"""Large modules: time and memory grow with the number of operations, not with its square.    scale_test.py TILEVM

Each kind of module is made with N operations and with 8 N. Were a step quadratic, it would take 64 times as long. What a test
allows is 24 times as long, and half a second more for what the machine does beside it.
"""

import os

import cli

N = 2000
FACTOR = 8


def kernel(lines, before=""):
    return before + "\n".join(
        ["entry @k(%x: tile<ptr<i32>>) interface {", "  inout x: i32[1024] at %x", "  grid 1", "} {", *lines, "  return", "}", ""])


def chain_of_stores(n):
    lines = ["  %t0 = make_token"]
    for i in range(n):
        lines += [f"  %p{i} = offset %x, {i % 1024}", f"  %t{i + 1} = store_ptr_tko weak %p{i}, {i} token = %t{i}"]
    return kernel(lines)


def chain_of_updates(n):
    lines = ["  %t0 = make_token"]
    for i in range(n):
        lines += [f"  %p{i} = offset %x, {i % 1024}", f"  %o{i}, %t{i + 1} = atomic_rmw_tko acq_rel device %p{i}, add, 1 token = %t{i}"]
    return kernel(lines)


def join_of_tokens(n):
    lines = []
    for i in range(n):
        lines += [f"  %p{i} = offset %x, {i % 1024}", f"  %v{i}, %t{i} = load_ptr_tko weak %p{i}"]
    return kernel(lines + ["  %all = join_tokens " + ", ".join(f"%t{i}" for i in range(n)), "  store_ptr_tko weak %x, 1 token = %all"])


def joins_of_two(n):
    lines = ["  %a0 = make_token"]
    for i in range(n):
        lines += [f"  %p{i} = offset %x, {i % 1024}", f"  %v{i}, %t{i} = load_ptr_tko weak %p{i}",
                  f"  %a{i + 1} = join_tokens %a{i}, %t{i}"]
    return kernel(lines + [f"  store_ptr_tko weak %x, 1 token = %a{n}"])


def sum_of_loads(n):
    lines = ["  %s0, %t = load_ptr_tko weak %x"]
    for i in range(n):
        lines += [f"  %p{i} = offset %x, {i % 1024}", f"  %v{i}, %t{i} = load_ptr_tko weak %p{i}", f"  %s{i + 1} = addi %s{i}, %v{i}"]
    return kernel(lines)


def carried_values(n):
    names = lambda p: ", ".join(f"%{p}{i}" for i in range(n))  # noqa: E731
    return kernel(["  %v, %t = load_ptr_tko weak %x",
                   f"  {names('r')} = for %i in (0 to 3, step 1) : tile<i32> iter_values(" + ", ".join(f"%k{i} = %v" for i in range(n)) + ") {",
                   *(f"    %a{i} = addi %k{i}, %k{(i + 1) % n}" for i in range(n)), f"    continue {names('a')}", "  }",
                   "  %p = offset %x, %r0", "  store_ptr_tko weak %x, %r1 token = %t"])


def carried_round(n):
    """Each takes the place of the next: a parallel assignment."""
    return kernel(["  %v, %t = load_ptr_tko weak %x",
                   "  " + ", ".join(f"%r{i}" for i in range(n)) + " = for %i in (0 to 3, step 1) : tile<i32> iter_values("
                   + ", ".join(f"%k{i} = %v" for i in range(n)) + ") {",
                   "    continue " + ", ".join(f"%k{(i + 1) % n}" for i in range(n)), "  }", "  store_ptr_tko weak %x, %r1 token = %t"])


def carried_by_loop(n):
    names = lambda p: ", ".join(f"%{p}{i}" for i in range(n))  # noqa: E731
    types = ", ".join(["tile<i32>"] * n)
    return kernel(["  %v, %t = load_ptr_tko weak %x",
                   f"  {names('r')} = loop iter_values(" + ", ".join(f"%k{i} = %v" for i in range(n)) + f") : {types} -> {types} {{",
                   *(f"    %a{i} = addi %k{i}, 1" for i in range(n)), "    %end = cmpi greater_than %a0, 3, signed",
                   "    if %end {", f"      break {names('a')}", "    }", f"    continue {names('a')}", "  }",
                   "  store_ptr_tko weak %x, %r1 token = %t"])


def chosen_values(n):
    names = lambda p: ", ".join(f"%{p}{i}" for i in range(n))  # noqa: E731
    types = ", ".join(["tile<i32>"] * n)
    return kernel(["  %v, %t = load_ptr_tko weak %x", "  %c = cmpi equal %v, 0, signed",
                   f"  {names('r')} = if %c -> {types} {{", *(f"    %a{i} = addi %v, {i}" for i in range(n)),
                   f"    yield {names('a')}", "  } else {", *(f"    %b{i} = subi %v, {i}" for i in range(n)), f"    yield {names('b')}", "  }",
                   "  %p = offset %x, %r1", "  store_ptr_tko weak %x, %r0 token = %t"])


def globals_read(n):
    before = "".join(f"global @g{i} <i32: [{i}]> : tile<1xi32>\n" for i in range(n))
    return kernel([line for i in range(n) for line in (f"  %g{i} = get_global @g{i} : tile<ptr<i32>>", f"  %v{i}, %t{i} = load_ptr_tko weak %g{i}")],
                  before)


def loops(n):
    lines = ["  %v0, %t = load_ptr_tko weak %x"]
    for i in range(n):
        lines += [f"  %v{i + 1} = for %i{i} in (0 to 2, step 1) : tile<i32> iter_values(%k{i} = %v{i}) {{", f"    %a{i} = addi %k{i}, %i{i}",
                  f"    continue %a{i}", "  }"]
    return kernel(lines)


def branches(n):
    lines = ["  %v, %t0 = load_ptr_tko weak %x", "  %c = cmpi equal %v, 0, signed"]
    for i in range(n):
        lines += [f"  %t{i + 1} = if %c -> token {{", f"    %s{i} = store_ptr_tko weak %x, {i} token = %t{i}", f"    yield %s{i}", "  } else {",
                  f"    yield %t{i}", "  }"]
    return kernel(lines)


def allocations(n):
    lines = []
    for i in range(n):
        lines += [f"  %m{i} = alloca num_elem = 4, alignment = 16 : tile<ptr<i32>>", f"  %s{i} = store_ptr_tko weak %m{i}, {i}",
                  f"  %v{i}, %t{i} = load_ptr_tko weak %m{i} token = %s{i}"]
    return kernel(lines)


def global_allocations(n):
    return allocations(n).replace("alignment = 16", "alignment = 16 global")


def views(n):
    lines = []
    for i in range(n):
        lines += [f"  %w{i} = make_tensor_view %x, shape = [1024], strides = [1] : tensor_view<1024xi32, strides=[1]>",
                  f"  %q{i} = make_partition_view %w{i} : partition_view<tile=(4), tensor_view<1024xi32, strides=[1]>>",
                  f"  %v{i}, %t{i} = load_view_tko weak %q{i}[{i % 256}] -> tile<4xi32>, token"]
    return kernel(lines)


def reductions(n):
    lines = ["  %v = iota : tile<8xi32>"]
    for i in range(n):
        lines += [f"  %r{i} = reduce %v dim=0 identities=[0 : i32] : tile<8xi32> -> tile<i32> (%e{i}: tile<i32>, %a{i}: tile<i32>) {{",
                  f"    %m{i} = muli %e{i}, %a{i}", f"    %s{i} = addi %m{i}, %a{i}", f"    %d{i} = subi %s{i}, %m{i}", f"    yield %d{i}", "  }"]
    return kernel(lines)


def asserts_and_prints(n):
    lines = ["  %v, %t = load_ptr_tko weak %x", "  %c = cmpi equal %v, 0, signed"]
    for i in range(n):
        lines += [f'  assert %c, "number {i}"'] + (['  print_tko "%i\\n", %v'] if i % 16 == 0 else [])
    return kernel(lines)


def kernels(n):
    return "".join(f"entry @k{i}(%x: tile<ptr<i32>>) interface {{\n  inout x: i32[1024] at %x\n  grid 1\n}} {{\n  return\n}}\n" for i in range(n))


KINDS = [chain_of_stores, chain_of_updates, join_of_tokens, joins_of_two, sum_of_loads, carried_values, carried_round, carried_by_loop,
         chosen_values, globals_read, loops, branches, allocations, global_allocations, views, reductions, asserts_and_prints, kernels]
COMMANDS = [["verify"], ["as", "-o", "{}.tbc"], ["dis"], ["run"], ["run", "--check=full"]]


def cost(arguments, folder):
    """CPU seconds and the most MiB of a process of its own."""
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        if not os.environ.get("SCALE_TEST_LOUD"):
            os.dup2(null, 2)
        os.execv(cli.TILEVM, [cli.TILEVM, *arguments])
    _, status, used = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


class ScaleTest(cli.Case):
    def measure(self, kind, n, command):
        name = f"{kind.__name__}{n}"
        path = os.path.join(self.folder, name + ".tile")
        if not os.path.exists(path):
            with open(path, "w") as f:
                f.write(kind(n))
        arguments = [a.format(name) for a in command] + [name + ".tile"]
        if command[0] == "run":
            arguments += ["zeros:i32[1024]"] + (["-k", "k0"] if kind is kernels else [])
        status, seconds, mib = cost(arguments, self.folder)
        self.assertEqual(status, 0, f"{' '.join(arguments)} ends with {status}")
        return seconds, mib

    def test_costs_grow_with_the_module(self):
        for kind in KINDS:
            for command in COMMANDS:
                with self.subTest(kind=kind.__name__, command=" ".join(command)):
                    small, small_mib = self.measure(kind, N, command)
                    large, large_mib = self.measure(kind, FACTOR * N, command)
                    if os.environ.get("SCALE_TEST_LOUD"):
                        print(f"{kind.__name__:20} {' '.join(command):20} {small:6.2f} s {large:6.2f} s {small_mib:6.0f} {large_mib:6.0f} MiB")
                    self.assertLessEqual(large, 3 * FACTOR * small + 0.5, "CPU seconds")
                    self.assertLessEqual(large_mib, 3 * FACTOR * small_mib / 2 + 100, "MiB")


if __name__ == "__main__":
    cli.main()
