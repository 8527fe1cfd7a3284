"""Text of MLIR's cuda_tile dialect through the command line.    mlir_test.py TILEVM

Each .mlir file of this folder says in a line `// expect:` what `tilevm verify` makes of it: `read`, or the codes of all messages.
"""

import glob
import os
import re
import subprocess
import sys

import cli

HERE = os.path.dirname(os.path.abspath(__file__))


class Files(cli.Case):
    def test_each_file_is_read_or_refused_as_it_says(self):
        paths = sorted(glob.glob(os.path.join(HERE, "*.mlir")))
        self.assertGreaterEqual(len(paths), 5)
        for path in paths:
            with self.subTest(os.path.basename(path)):
                with open(path) as f:
                    expected = re.search(r"^// expect: (.*)$", f.read(), re.M).group(1).replace(",", " ").split()
                done = self.call("verify", path)
                codes = re.findall(r"(?:error|warning)\[([^\]]+)\]", done.stderr)
                self.assertEqual(codes or ["read"], expected, done.stderr)
                self.assertEqual(done.returncode == 0, "error[" not in done.stderr)

    def test_an_entry_runs_by_its_parameters(self):
        for name in ("twice.mlir", "renamed.anything"):
            self.write(name, open(os.path.join(HERE, "twice.mlir")).read())
            done = self.good("run", name, "--grid=1", "arange:i32[100]", "100")
            self.assertIn("0 2 4 6", re.sub(r"[\[\],]", " ", done.stdout).replace("  ", " "))

    def test_the_generic_form_runs(self):
        done = self.good("run", os.path.join(HERE, "generic.mlir"), "--grid=1", "zeros:i32[1]")
        self.assertIn("8", done.stdout)

    def test_other_commands_read_it(self):
        path = os.path.join(HERE, "twice.mlir")
        text = self.good("dis", path).stdout
        self.assertTrue(text.startswith('module @kernels producer "hand"\n'), text)
        self.good("as", path, "-o", "k.tbc")
        self.assertEqual(self.good("dis", "k.tbc").stdout.splitlines()[2:], text.splitlines()[2:])
        self.good("export", "k.tbc", "-o", "k.tilebc")

    def test_a_folder_is_counted(self):
        script = os.path.join(HERE, "read_folder.py")
        done = subprocess.run([sys.executable, script, cli.TILEVM, HERE], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[0], "5 files: 3 read, 1 refused, 1 without a program")


if __name__ == "__main__":
    cli.main()
