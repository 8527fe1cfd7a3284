"""The commands of README and docs/cli.md, and those at the head of each example, run as they stand; output that is shown there is compared.

    readme_test.py TILEVM TILEC
"""

import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

TILEVM, TILEC = (os.path.abspath(a) for a in (sys.argv[1:3] if len(sys.argv) > 2 else ("", "")))
ROOT = os.getcwd()

# What a test cannot do: build and install everything.
NOT_RUN = {"./release --out=dist", "python3 -m venv .venv && . .venv/bin/activate && pip install dist/tilevm-*.whl",
           "python -m tilevm.cutile examples/cutile/neighbours.py --wrong", "pytest --tilevm --tilevm-check=full",
           "bazel build //tools/tilec", "./install --prefix=$HOME/tilevm"}
PAGES = ("README.md", "docs/cli.md")

# Inputs that only the reader has.
OF_THE_READER = {"sobel": "photo.png"}
SIZES = (9, 100, 50, 20)  # of the dimensions without a fixed size, in the order in which an example names them


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        shutil.copytree(os.path.join(ROOT, "examples"), os.path.join(self.folder, "examples"))
        shutil.copy(os.path.join(ROOT, "README.md"), self.folder)
        for name, tool in (("tilevm", TILEVM), ("tilec", TILEC)):
            os.symlink(tool, os.path.join(self.folder, name))
        self.env = {**os.environ, "PATH": self.folder + ":" + os.environ["PATH"]}

    def call(self, command):
        return subprocess.run(command, shell=True, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200, check=False)

    def good(self, command):
        done = self.call(command)
        self.assertEqual(done.returncode, 0, command + "\n" + done.stdout)
        return done.stdout


def commands(text):
    """(command, output shown below it) of each block of code."""
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        if language:
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            yield re.sub(r"\s+#.*", "", line), shown.strip("\n")


class Readme(Case):
    def test_commands(self):
        for name, shape in (("a", [100, 60]), ("b", [60, 80])):
            self.write(name, "f32", shape)
        self.good("tilevm run examples/matmul.tile a.npy b.npy -o expected.npy")
        self.good("tilevm export examples/matmul.tile -o kernel.tilebc")
        assembler = not re.search(r"^ptxas +not found", self.good("tilec doctor"), re.MULTILINE)
        text = ""
        for page in PAGES:
            with open(os.path.join(ROOT, page), encoding="utf-8") as f:
                text += f.read()
        run, left = 0, set()
        for command, shown in commands(text):
            if command in NOT_RUN:
                left.add(command)
                continue
            makes_code = command.startswith("tilec") and "--emit" not in command and "doctor" not in command
            if makes_code and not assembler:
                continue
            with self.subTest(command):
                done = self.call(command)
                run += 1
                self.assertEqual(done.returncode, 4 if "error[vm." in shown else 0, done.stdout)
                # How many registers ptxas takes depends on its version.
                if shown and makes_code:
                    told, shown = (re.sub(r"\d+ registers", "N registers", t) for t in (done.stdout, shown))
                    self.assertEqual(told.rstrip("\n"), shown)
                elif shown:
                    self.assertEqual(done.stdout.rstrip("\n"), shown)
        self.assertEqual(left, NOT_RUN)
        self.assertGreaterEqual(run, 9)

    def write(self, name, element, shape):
        """A .npy of numbers from 0 to 1."""
        count = 1
        for n in shape:
            count *= n
        kind, code = {"f32": ("<f4", "f"), "i32": ("<i4", "i")}[element]
        header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (kind, ", ".join(map(str, shape)))
        header = header.ljust(117) + "\n"
        with open(os.path.join(self.folder, name + ".npy"), "wb") as f:
            f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
            f.write(struct.pack(f"<{count}{code}", *(i % 2 if code == "i" else i * 37 % 101 / 101 for i in range(count))))

    def test_commands_of_the_examples(self):
        left = {}
        for path in sorted(glob.glob(os.path.join(self.folder, "examples", "*.tile"))):
            name = os.path.basename(path)[:-5]
            with open(path, encoding="utf-8") as f:
                text = f.read()
            head = re.match(r"(//.*\n)+", text).group(0)
            found = re.search(rf"tilevm run examples/{name}\.tile (\S.*)$", head, re.MULTILINE)
            self.assertIsNotNone(found, name + ": its first lines show no command")
            with self.subTest(name):
                arguments = found.group(1).split()
                inputs = arguments[:next((i for i, a in enumerate(arguments) if a.startswith("-")), len(arguments))]
                arrays = re.findall(r"^  (?:in|inout) \w+: (\w+)\[(.*?)\]", text, re.MULTILINE)
                self.assertEqual(len(inputs), len(arrays))
                sizes = {}
                for file, (element, dims) in zip(inputs, arrays):
                    shape = [int(d) if d.isdigit() else sizes.setdefault(d, SIZES[len(sizes)]) for d in dims.split(", ")]
                    if file.endswith(".npy"):
                        # Where --cast is said, files of f32 will do.
                        self.write(file[:-4], "f32" if "--cast" in arguments else element, shape)
                    elif not (":" in file or os.path.exists(os.path.join(self.folder, file))):
                        left[name] = file
                if name not in left:
                    self.good(f"tilevm run examples/{name}.tile {found.group(1)}")
        self.assertEqual(left, OF_THE_READER)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
