"""Wrong use: one error that says where, a stable code, the documented exit code, and no file changed.

    wrong_use_test.py TILEVM
"""

import json
import os
import re
import shutil

import cli

REJECTED, USAGE, ENVIRONMENT = 1, 2, 5
ONES = "ones:f32[8]"
ADD = ["run", "vector_add.tile", ONES, ONES]

# Arguments, exit code, how stderr begins.
KERNEL_FILES = [
    ("missing", REJECTED, "missing: error[file.read]: cannot be opened: No such file"),
    ("folder", REJECTED, "folder: error[file.read]: is a directory"),
    ("empty.tile", REJECTED, "empty.tile: error[file.form]: the file is empty"),
    ("words.txt", REJECTED, "words.txt:1:1: error[text.syntax]"),
    ("zeros.bin", REJECTED, "zeros.bin: error[file.form]: not a kernel: neither .tbc, nor Tile IR bytecode, nor TTIR, nor tile text"),
    ("broken.tile", REJECTED, "broken.tile:1:11: error[text.syntax]"),
    ("wrong.tile", REJECTED, "wrong.tile:2:8: error[addf.c"),
    ("cut.tbc", REJECTED, "cut.tbc: error[tbc.format]: the file is damaged or cut short"),
    ("cut.tilebc", REJECTED, "cut.tilebc: error[tileir.read]"),
]

CALLS = [
    (["nonsense"], USAGE, "error[usage]: no command `nonsense`"),
    (["run", "--nonsense", "x"], USAGE, "error[usage]: unknown option --nonsense"),
    # Kernels and grids
    (["run", "two.tile"], USAGE, "two.tile: error[run.which_kernel]: the file has 2 kernels"),
    (["bench", "two.tile"], USAGE, "two.tile: error[run.which_kernel]: the file has 2 kernels"),
    (["run", "two.tile", "--kernel", "c"], REJECTED, "two.tile: error[run.no_kernel]: no kernel `c`"),
    (["bench", "two.tile", "--kernel", "c"], REJECTED, "two.tile: error[run.no_kernel]: no kernel `c`"),
    (["run", "none.tile"], REJECTED, "none.tile: error[run.no_kernel]: the file has no kernels"),
    (["run", "no_grid.tile", ONES], REJECTED, "no_grid.tile: error[run.arguments]: kernel `k` has neither a launch rule nor"),
    (["bench", "no_grid.tile", ONES], REJECTED, "no_grid.tile: error[run.arguments]: kernel `k` has neither a launch rule"),
    (["run", "no_rule.tile", ONES], REJECTED, "no_rule.tile: error[run.arguments]: kernel `k` has no launch rule"),
    (ADD + ["--grid", "0"], USAGE, "error[usage]: --grid 0: expected"),
    (ADD + ["--grid", ""], USAGE, "error[usage]: --grid"),
    (ADD + ["--grid", "1,,2"], USAGE, "error[usage]: --grid 1,,2: expected"),
    (ADD + ["--grid", "1,2,3,4"], USAGE, "error[usage]: --grid 1,2,3,4: expected"),
    (ADD + ["--grid", "99999999"], REJECTED, "vector_add.tile: error[run.launch]: a grid of 99999999 x 1 x 1"),
    (ADD + ["--check", "some"], USAGE, "error[usage]: --check some: expected none, bounds or full"),
    (ADD + ["--threads", "0"], USAGE, "error[usage]: --threads 0: expected a number"),
    (ADD + ["--device", "tpu"], USAGE, "error[usage]: --device tpu: expected cpu, cuda, cuda:N or auto"),
    (ADD + ["--device", "cuda:999"], ENVIRONMENT, "error[cuda."),  # no driver, or no such GPU
    (ADD + ["--rtol", "-1"], USAGE, "error[usage]: --rtol -1: expected a number"),
    (ADD + ["--unspecified", "nan"], USAGE, "error[usage]: --unspecified nan: expected zero, ones or random"),
    (ADD + ["--order", "backwards"], USAGE, "error[usage]: --order `backwards`: expected linear, reverse, random or random:SEED"),
    (ADD + ["--order=random:x"], USAGE, "error[usage]: --order `random:x`: expected linear, reverse"),
    (ADD + ["--order=linear", "--device=cuda"], USAGE, "error[usage]: --order is done by the VM, not on --device cuda"),
    (ADD + ["--check"], USAGE, "error[usage]: --check needs a value"),
    # Arguments
    (["run", "vector_add.tile"], REJECTED, "vector_add.tile: error[run.arguments]: argument `a` (in f32, rank 1) is missing\n"
     "  fix: add a file of NumPy, a.npy, or an array such as ones:f32[64]\n"),
    (["bench", "vector_add.tile"], REJECTED, "vector_add.tile: error[run.arguments]: argument `a` (in f32, rank 1) is missing"),
    (["run", "vector_add.tile", ONES], REJECTED, "vector_add.tile: error[run.arguments]: argument `b`"),
    (ADD + [ONES], REJECTED, "vector_add.tile: error[run.arguments]: too many inputs"),
    (ADD + ["--arg", "z=3"], REJECTED, "vector_add.tile: error[run.arguments]: kernel `vector_add` has no argument `z`"),
    (ADD + ["--arg", "a=3"], REJECTED, "vector_add.tile: error[run.arguments]: argument `a` is given twice"),
    (ADD + ["--arg", "a"], USAGE, "error[usage]: --arg a: expected NAME=VALUE"),
    (["run", "vector_add.tile", ONES, "f64.npy"], REJECTED, "f64.npy: error[run.value]: argument `b` takes f32, but the value is"),
    (["run", "vector_add.tile", ONES, "ones:f32[2,4]"], REJECTED, "vector_add.tile: error[run.arguments]: "),
    (["run", "vector_add.tile", ONES, "ones:f32[9]"], REJECTED, "vector_add.tile: error[run.arguments]: "),
    (["run", "vector_add.tile", ONES, "3"], REJECTED, "3: error[run.value]: argument `b` is an array of f32, but"),
    (["run", "vector_add.tile", ONES, "missing.npy"], REJECTED, "missing.npy: error[run.value]: cannot be opened"),
    (["run", "vector_add.tile", ONES, "cut.npy"], REJECTED, "cut.npy: error[run.value]: "),
    (["run", "vector_add.tile", ONES, "folder"], REJECTED, "folder: error[run.value]: is a directory"),
    (["run", "vector_add.tile", ONES, "zeros.bin:f32[9]"], REJECTED, "zeros.bin:f32[9]: error[run.value]: the file has 64 bytes"),
    (["run", "vector_add.tile", ONES, "missing:f32[9]"], REJECTED, "missing: error[run.value]: cannot be opened"),
    (["run", "vector_add.tile", ONES, "zeros.bin"], REJECTED,
     "zeros.bin: error[run.value]: argument `b` takes f32, but the file holds no array that tilevm knows"),
    (["run", "vector_add.tile", ONES, "zeros.bin", "--cast"], REJECTED,
     "zeros.bin: error[run.value]: argument `b` takes f32, but the file holds no array that tilevm knows"),
    (["run", "vector_add.tile", ONES, "randn:f32[8]"], REJECTED, "randn:f32[8]: error[run.value]: nothing makes arrays by the name"),
    (["run", "vector_add.tile", ONES, "rand:f99[4]"], REJECTED, "rand:f99[4]: error[run.value]: expected a type"),
    (["run", "vector_add.tile", ONES, "rand:f32[99999999999999]"], REJECTED, "rand:f32[99999999999999]: error[run.value]: "),
    (["run", "scalar.tile", "--arg", "n=ones:f32[4]"], REJECTED, "ones:f32[4]: error[run.value]: argument `n` is a number"),
    (["run", "scalar.tile", "--arg", "n=3.5"], REJECTED, "3.5: error[run.value]: argument `n`: "),
    (["run", "scalar.tile", "3.5"], REJECTED, "3.5: error[run.value]: argument `n`: "),
    (["run", "scalar.tile", "3", "4"], REJECTED, "scalar.tile: error[run.arguments]: too many inputs: `4` has no argument left; kernel `k` takes 1 (n)"),
    (["run", "scalar.tile", "3", "--arg", "n=4"], REJECTED, "scalar.tile: error[run.arguments]: argument `n` is given twice"),
    # Outputs; old.npy and the files of the recording `old` are there already and must stay
    (ADD + ["-o", "z=c.npy"], REJECTED, "vector_add.tile: error[run.output]: there is no output `z`; outputs: c"),
    (ADD + ["-o", "a=c.npy"], REJECTED, "vector_add.tile: error[run.output]: there is no output `a`; outputs: c"),
    (ADD + ["-o", "old.xyz"], USAGE, "old.xyz: error[output.form]: the extension does not say the form"),
    (ADD + ["-o", "old.npy", "-o", "c=old.npy"], USAGE, "old.npy: error[output.form]: 2 arrays, but .npy holds one"),
    (ADD + ["-o", "missing/c.npy"], ENVIRONMENT, "missing/c.npy: error[output.write]: cannot be created: No such file"),
    (ADD + ["-o", "folder.npy"], ENVIRONMENT, "folder.npy: error[output.write]: cannot be written: Is a directory"),
    (ADD + ["-o", "/proc/c.npy"], ENVIRONMENT, "/proc/c.npy: error[output.write]: cannot be created: "),
    (ADD + ["-o", "full.npy"], ENVIRONMENT, "full.npy: error[output.write]: cannot be written: No space left on device"),
    (ADD + ["-o", "old.npy", "-o", "full.npy"], ENVIRONMENT, "full.npy: error[output.write]: cannot be written: No space left"),
    (ADD + ["-o", "old.npy", "-o", "c.png"], REJECTED, "c.png: error[output.write]: "),
    (ADD + ["-o", "-", "--json"], USAGE, "error[usage]: --json prints on stdout"),
    (ADD + ["-o", "old.npy", "--expect", "missing.npy"], REJECTED, "missing.npy: error[run.value]: cannot be opened"),
    (ADD + ["-o", "old.npy", "--expect", "ones:f32[9]"], REJECTED, "ones:f32[9]: error[run.expect]: output `c` is f32[8], expected f32[9]"),
    (ADD + ["-o", "old.npy", "--expect", "3"], REJECTED, "3: error[run.expect]: a number"),
    (ADD + ["-o", "old.npy", "--expect", "z=ones:f32[8]"], REJECTED, "vector_add.tile: error[run.expect]: there is no output `z`"),
    (ADD + ["--record", "missing/x"], ENVIRONMENT, "vector_add.tile: error[run.record]: missing/x.tbc: cannot be created"),
    (ADD + ["-o", "old.npy", "--record", "missing/x"], ENVIRONMENT, "vector_add.tile: error[run.record]: missing/x.tbc: cannot"),
    (ADD + ["--record", "half"], ENVIRONMENT, "vector_add.tile: error[run.record]: half.after: cannot be written: Is a directory"),
    # Programs
    (["as", "vector_add.tile", "-o", "missing/x.tbc"], ENVIRONMENT, "missing/x.tbc: error[output.write]: cannot be created"),
    (["as", "vector_add.tile", "-o", "folder"], ENVIRONMENT, "folder: error[output.write]: cannot be written: Is a directory"),
    (["as", "vector_add.tile", "-o", "full.npy"], ENVIRONMENT, "full.npy: error[output.write]: cannot be written: No space"),
    (["as", "vector_add.tile", "-o", "vector_add.tile"], USAGE, "vector_add.tile: error[output.same]: the output would replace"),
    (["as", "vector_add.tile", "--target-version", "9"], USAGE, "error[usage]: --target-version 9: expected MAJOR.MINOR"),
    (["as", "vector_add.tile", "--target-version", "0.0"], USAGE, "error[usage]: --target-version 0.0: expected"),
    (["as", "vector_add.tile", "--target-version", "9.9"], REJECTED, "vector_add.tile: error[tbc.write]: target version 9.9"),
    (["dis", "good.tbc", "-o", "missing/x"], ENVIRONMENT, "missing/x: error[output.write]: cannot be created"),
    (["dis", "good.tbc", "-o", "full.npy"], ENVIRONMENT, "full.npy: error[output.write]: cannot be written: No space left"),
    (["import", "vector_add.tile"], REJECTED, "vector_add.tile: error[import.form]: this is tile text, not Tile IR bytecode or TTIR"),
    (["import", "good.tilebc", "-o", "full.npy"], ENVIRONMENT, "full.npy: error[output.write]: cannot be written: No space"),
    (["import", "good.tilebc", "-o", "missing/x"], ENVIRONMENT, "missing/x: error[output.write]: cannot be created"),
    (["export", "good.tbc", "-o", "full.npy"], ENVIRONMENT, "full.npy: error[output.write]: cannot be written: No space left"),
    (["export", "good.tbc", "-o", "folder"], ENVIRONMENT, "folder: error[output.write]: cannot be written: Is a directory"),
    (["export", "good.tbc", "--version", "12.1"], USAGE, "error[usage]: --version 12.1: expected 13.1 to 13.5"),
    (["export", "shared.tbc"], REJECTED, "shared.tbc: error[tileir.write]: "),
    (["ops", "nonsense"], REJECTED, "error[ops.unknown]: there is no operation `nonsense`"),
    (["bench", "vector_add.tile", ONES, ONES, "--seconds", "x"], USAGE, "error[usage]: --seconds x: expected a number"),
    # Recorded launches
    (["replay", "missing"], REJECTED, "missing.json: error[replay.read]: cannot be opened: No such file"),
    (["replay", "folder"], REJECTED, "folder.json: error[replay.read]: cannot be opened: No such file"),
    (["replay", "bad_json.json"], REJECTED, "bad_json.json: error[replay.read]: offset 2: "),
    (["replay", "alone"], REJECTED, "alone.json: error[replay.read]: alone: no module in the folder of the record"),
    (["replay", "no_before"], REJECTED, "no_before.before: error[replay.read]: cannot be opened"),
    (["replay", "short"], REJECTED, "short.before: error[replay.read]: has 10 bytes, the record says 96"),
    (["replay", "short_after"], REJECTED, "short_after.after: error[replay.read]: has 10 bytes, the record says 96"),
    (["replay", "other_kernel"], REJECTED, "other_kernel.tbc: error[run.no_kernel]: no kernel `zz`"),
    (["replay", "bad_module"], REJECTED, "bad_module.tbc: error[tbc.format]"),
    (["replay", "bad_grid"], REJECTED, "bad_grid.json: error[replay.read]: a grid of "),
    (["replay", "few_params"], REJECTED, "few_params.json: error[replay.read]: kernel `vector_add` takes 4 parameters, not 1"),
    (["replay", "old", "--ulp", "x"], USAGE, "error[usage]: --ulp x: expected a number"),
]


class WrongUse(cli.Case):
    def setUp(self):
        super().setUp()
        os.mkdir(os.path.join(self.folder, "folder"))
        os.mkdir(os.path.join(self.folder, "folder.npy"))
        os.mkdir(os.path.join(self.folder, "half.after"))
        os.symlink("/dev/full", os.path.join(self.folder, "full.npy"))
        self.good("as", "vector_add.tile", "-o", "good.tbc")
        self.good("export", "vector_add.tile", "-o", "good.tilebc")
        shutil.copy(os.path.join(cli.COMPAT, "views.tbc"), os.path.join(self.folder, "shared.tbc"))
        self.write("empty.tile", "")
        self.write("words.txt", "hello world\n")
        self.write("zeros.bin", bytes(64))
        self.write("broken.tile", "entry @k( {\n")
        self.write("wrong.tile", "entry @k(%a: tile<i32>) {\n  %b = addf %a, %a : tile<i32>\n  return\n}\n")
        self.write("cut.tbc", self.read("good.tbc")[:300])
        self.write("cut.tilebc", self.read("good.tilebc")[:100])
        self.write("two.tile", "entry @a() { return }\nentry @b() { return }\n")
        self.write("none.tile", "global @g <i32: 1> : tile<1xi32>\n")
        self.write("no_grid.tile", "entry @k(%x: tile<ptr<f32>>) { return }\n")
        self.write("no_rule.tile", "entry @k(%x: tile<ptr<f32>>) interface {\n  in x: f32[8] at %x\n} { return }\n")
        self.write("scalar.tile", "entry @k(%n: tile<i32>) interface {\n  scalar n = %n\n  grid 1\n} { return }\n")
        self.good("run", "vector_add.tile", ONES, ONES, "-o", "old.npy")
        data = self.read("old.npy")
        self.write("cut.npy", data[:90])
        self.write("f64.npy", data.replace(b"<f4", b"<f8").replace(b"(8,)", b"(4,)"))
        self.good("run", "vector_add.tile", ONES, ONES, "--record", "old")
        record = self.read("old.json").decode()
        self.write("bad_json.json", "{ x")
        self.write("alone.json", record)
        for name in ("no_before", "short", "short_after", "other_kernel", "bad_module", "bad_grid", "few_params"):
            for extension in ("json", "tbc", "before", "after"):
                self.write(name + "." + extension, self.read("old." + extension))
        os.remove(os.path.join(self.folder, "no_before.before"))
        self.write("short.before", bytes(10))
        self.write("short_after.after", bytes(10))
        self.write("other_kernel.json", record.replace("vector_add", "zz"))
        self.write("bad_module.tbc", self.read("cut.tbc"))
        self.write("bad_grid.json", record.replace("[1, 1, 1]", "[-1, 1, 1]"))
        self.write("few_params.json", re.sub(r'"params": \[(\[[^\]]*\]), .*\], "sizes"', r'"params": [\1], "sizes"', record))

    def check(self, arguments, code, begins):
        before = self.files()
        done = self.call(*arguments)
        with self.subTest(" ".join(arguments)):
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertTrue(done.stderr.startswith(begins), done.stderr)
            self.assertEqual(done.stderr.count("error["), 1, done.stderr)
            if "--json" in arguments:
                self.assertEqual(len(json.loads(done.stdout)["diagnostics"]), 1)
            else:
                self.assertEqual(done.stdout, "")
            self.assertEqual(sorted(self.files()), sorted(before))
            self.assertEqual(self.files(), before)

    def test_calls(self):
        for call in CALLS:
            self.check(*call)

    def test_no_file(self):
        for command in ("run", "bench", "replay", "as", "dis", "import", "export", "info", "verify"):
            self.check([command], USAGE, "error[usage]: ")
        for command in ("as", "dis", "import", "export", "info"):
            self.check([command, "good.tbc", "good.tbc"], USAGE, "error[usage]: ")

    def test_files_that_are_no_kernels(self):
        for command in ("run", "bench", "as", "dis", "import", "export", "info", "verify"):
            for name, code, begins in KERNEL_FILES:
                if (command, name) != ("dis", "wrong.tile"):  # prints what it can read
                    self.check([command, name], code, begins)

    def test_unreadable(self):
        self.write("secret.tile", "entry @k() { return }\n")
        os.chmod(os.path.join(self.folder, "secret.tile"), 0)
        if os.access(os.path.join(self.folder, "secret.tile"), os.R_OK):
            return  # the superuser reads everything
        for command in ("run", "bench", "as", "dis", "import", "export", "info", "verify"):
            done = self.call(command, "secret.tile")
            self.assertEqual(done.returncode, REJECTED)
            self.assertTrue(done.stderr.startswith("secret.tile: error[file.read]: cannot be opened: Permission denied"))

    def test_lost_stdout(self):
        calls = (["info", "good.tbc"], ["ops"], ["verify", "good.tbc"], ["dis", "good.tbc"], ["run", "--help"], ["--help"],
                 ["replay", "old"], ADD, ADD + ["--json"], ADD + ["-o", "-"], ["as", "vector_add.tile", "-o", "-"])
        for arguments in calls:
            with self.subTest(" ".join(arguments)), open("/dev/full", "w") as full:
                done = self.call(*arguments, stdout=full)
                self.assertEqual(done.returncode, ENVIRONMENT)
                where = "-" if arguments == ADD + ["-o", "-"] else "stdout"
                self.assertTrue(re.match(where + r": error\[output.write\]: .*cannot be written: No space", done.stderr), done.stderr)

    def test_trap_wins_and_keeps_files(self):
        for arguments in (["run", "trap.tile", "ones:f32[4]", "-o", "old.npy"],
                          ["run", "trap.tile", "ones:f32[4]", "-o", "old.npy", "--expect", "ones:f32[4]"],
                          ["bench", "trap.tile", "ones:f32[4]"]):
            self.check(arguments, 4, "trap.tile:8:")

    def test_recorded_trap(self):
        done = self.call("run", "trap.tile", "ones:f32[4]", "--record", "old")
        self.assertEqual(done.returncode, 4)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "old.after")))  # it was another launch's
        self.assertEqual(self.call("replay", "old").returncode, 4)

    def test_several_recordings_go_on(self):
        done = self.call("replay", "short", "old")
        self.assertEqual(done.returncode, REJECTED)
        self.assertIn("2 launches: 0 differ, 0 trapped, 1 could not run", done.stdout)


if __name__ == "__main__":
    cli.main()
