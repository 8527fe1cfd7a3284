"""Kernels of CUDA Tile C++ against scalar loops: what a case is, and how it runs.

A case is a Python function that does with Array objects, one element at a time, what the kernel of its name does with the same
parameters. NAME.cu holds kernels, NAME.py beside it the loops:

    @case(x=i32(range(8)), at=i32([3, 0]), out=i32(2))
    def gather(x, at, out):
        for i in range(2):
            out[i] = x[at[i]]

Both start from the same memory. The kernel runs by `tilevm run NAME.tilebc -k gather`, with full checks; every array that it
may write must then be equal to that of the loop, bit by bit. Several cases may stand over one function.
"""

import json
import os
import re
import struct
import subprocess

# How the command line calls a type, and how Python packs it; bf16 and smaller floats are their bits.
FORMATS = {"i8": "b", "u8": "B", "bool": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
           "f16": "e", "f32": "f", "f64": "d", "bf16": "H", "f8E4M3FN": "B", "f8E5M2": "B"}


class Array:
    """A list of numbers of one type. What is stored is rounded, integers wrap; `any` marks elements that may hold anything."""

    def __init__(self, kind, values):
        self.kind = kind
        self.values = [self.rounded(v) for v in values]
        self.free = set()

    def rounded(self, value):
        code = FORMATS[self.kind]
        if code in "efd":
            try:
                return struct.unpack(code, struct.pack(code, value))[0]
            except OverflowError:
                return float("inf") if value > 0 else float("-inf")
        bits = 8 * struct.calcsize(code)
        value = int(value) & ((1 << bits) - 1)
        return value - (1 << bits) if code.islower() and value >> (bits - 1) else value

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return self.values[i]

    def __setitem__(self, i, value):
        self.values[i] = self.rounded(value)

    def any(self, i):
        """The kernel may leave whatever it likes in element i."""
        self.free.add(i)

    def bytes(self):
        return struct.pack("<%d%s" % (len(self), FORMATS[self.kind]), *self.values)

    @property
    def type(self):
        return "u8" if self.kind == "bool" else self.kind

    def copy(self):
        return Array(self.kind, self.values)


def maker(kind):
    def make(values):
        """From values, or n elements that a kernel is to overwrite."""
        return Array(kind, [85] * values if isinstance(values, int) else values)

    return make


i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64, bf16 = map(
    maker, ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64", "bf16"))
bools, e4m3, e5m2 = maker("bool"), maker("f8E4M3FN"), maker("f8E5M2")

CASES = []


class Case:
    """kernel: as C++ calls it; loop: the function; parameters by name, in order; grid; traps: code of the error that the kernel
    must end with; full: code that full checks end it with, though it runs by default; says: texts that stand in its
    listing; outcome: a predicate on the arrays by name, where several results are right; left_open: the arrays of which full checks warn
    that the order of blocks decides what is in them."""

    def __init__(self, loop, parameters, kernel=None, grid=1, traps=None, full=None, says=(), outcome=None, left_open=()):
        self.loop = loop
        self.module = loop.__module__
        self.kernel = kernel or loop.__name__
        self.parameters = parameters
        self.grid = grid
        self.traps = traps
        self.full = full
        self.says = says
        self.outcome = outcome
        self.left_open = left_open


def case(kernel=None, grid=1, traps=None, full=None, says=(), outcome=None, left_open=(), **parameters):
    def add(loop):
        CASES.append(Case(loop, parameters, kernel, grid, traps, full, says, outcome, left_open))
        return loop

    return add


class Module:
    """A compiled .cu: its file, and what tilevm knows of its kernels."""

    def __init__(self, tilevm, file, folder):
        self.tilevm = tilevm
        self.file = file
        self.folder = folder
        self.kernels = json.loads(self.call("info", file, "--json").stdout)["kernels"]
        self.text = self.call("dis", file).stdout

    def call(self, *arguments):
        return subprocess.run([self.tilevm, *arguments], capture_output=True, text=True, cwd=self.folder, timeout=120)

    def kernel(self, name):
        """The kernel that C++ calls so."""
        found = [k for k in self.kernels if k["cpp_name"].startswith(name + "(")]
        assert len(found) == 1, "%s has %d kernels %s" % (self.file, len(found), name)
        return found[0]

    def listing(self, name):
        """The text of one kernel."""
        return self.text.partition("entry @%s(" % self.kernel(name)["name"])[2].partition("\n}")[0]

    def launch(self, case, arrays, *options):
        """Runs a kernel on arrays by name, which get what it wrote. Returns the process."""
        types = self.kernel(case.kernel)["cpp_name"].rpartition("(")[2].rstrip(")").split(", ")
        arguments = ["run", self.file, "-k", case.kernel, "--grid", str(case.grid), *options]
        outputs = []
        for i, (name, value) in enumerate(case.parameters.items()):
            if not isinstance(value, Array):
                arguments.append(str(value).lower())
                continue
            with open(os.path.join(self.folder, name + ".bin"), "wb") as f:
                f.write(arrays[name].bytes())
            arguments.append("%s.bin:%s[%d]" % (name, arrays[name].type, len(value)))
            if not types[i].endswith(" const*"):
                outputs.append(name)
                arguments += ["-o", "%d=%s.out.bin" % (i, name)]
        run = self.call(*arguments)
        if run.returncode == 0:
            for name in outputs:
                with open(os.path.join(self.folder, name + ".out.bin"), "rb") as f:
                    code = FORMATS[arrays[name].kind]
                    arrays[name].values = list(struct.unpack("<%d%s" % (len(arrays[name]), code), f.read()))
        return run


def check_warnings(case, text, left_open):
    """Only of these arrays, and of all of them, the order of blocks may decide what they hold; of floats how they are rounded."""
    names = list(case.parameters)  # messages have their numbers
    found = set()
    for warning in re.findall(r": warning\[(.*)", text):
        order = re.match(r"vm\.order\]: (?:the order of blocks decides where values are in )?`(\d+)`", warning)
        assert order, text
        name = names[int(order[1])]
        if not ("is rounded by the order of blocks" in warning and FORMATS[case.parameters[name].kind] in "efd"):
            found.add(name)
    assert found == set(left_open), "the order of blocks decides about %s, not %s\n%s" % (sorted(found), sorted(left_open), text)


def check(case, module, device="cpu"):
    """Raises AssertionError if the kernel does not do what the loop does. On a GPU: without checks."""
    for text in case.says:
        assert text in module.listing(case.kernel), "the kernel has no `%s`:\n%s" % (text, module.listing(case.kernel))
    for level in ("full", "bounds") if device == "cpu" else ("none",):
        given = {n: v.copy() for n, v in case.parameters.items() if isinstance(v, Array)}
        wanted = {n: v.copy() if isinstance(v, Array) else v for n, v in case.parameters.items()}
        where = ["--check=" + level] if device == "cpu" else ["--device=" + device, "--compile"]
        run = module.launch(case, given, *where)
        trap = case.traps or (case.full if level == "full" else None)
        if trap:
            assert run.returncode == 4 and "error[%s]" % trap in run.stderr, "no %s: exit code %d, %s" % (trap, run.returncode, run.stderr)
            continue
        assert run.returncode == 0, run.stderr
        check_warnings(case, run.stderr, case.left_open if level == "full" else ())
        case.loop(**wanted)
        if case.outcome:
            assert case.outcome(**{**wanted, **given}), "not a right result: %s" % {n: a.values for n, a in given.items()}
            continue
        for name, array in given.items():
            want = wanted[name]
            for i in want.free:
                want.values[i] = array.values[i]
            assert array.bytes() == want.bytes(), "`%s` is %s, not %s" % (name, array.values, want.values)
