"""The commands of the pages, and those at the head of each example, run as they stand; output that is shown there is compared. Programs on
the pages are verified. pages.py says which blocks are this test's.

    readme_test.py TILEVM TILEC
"""

import glob
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.getcwd(), "tests/readme"))  # of the runfiles, not of the folder that they lead to
import pages  # noqa: E402

TILEVM, TILEC = (os.path.abspath(a) for a in (sys.argv[1:3] if len(sys.argv) > 2 else ("", "")))
ROOT = os.getcwd()
pages.ROOT = pathlib.Path(ROOT)

SIZES = (9, 100, 50, 20)  # of the dimensions without a fixed size, in the order in which an example names them


def mine(language):
    """The blocks of a language that this test runs."""
    return [b for page, text in pages.pages().items() for b in pages.blocks(page, text)
            if b.language == language and pages.runner(b) == "tests/readme"]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name in ("examples", "tests/checks", "docs/figures"):
            shutil.copytree(os.path.join(ROOT, name), os.path.join(self.folder, name))
        for name in ("README.md", "LICENSE"):
            shutil.copy(os.path.join(ROOT, name), self.folder)
        for name, tool in (("tilevm", TILEVM), ("tilec", TILEC)):
            os.symlink(tool, os.path.join(self.folder, name))
        self.env = {**os.environ, "PATH": self.folder + ":" + os.environ["PATH"]}

    def call(self, command, where=None):
        return subprocess.run(command, shell=True, cwd=where or self.folder, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200, check=False)

    def good(self, command):
        done = self.call(command)
        self.assertEqual(done.returncode, 0, command + "\n" + done.stdout)
        return done.stdout


class Readme(Case):
    def test_commands(self):
        for name, shape in (("a", [100, 60]), ("b", [60, 80])):
            self.write(name, "f32", shape)
        self.good("tilevm run examples/matmul.tile a.npy b.npy -o expected.npy")
        self.good("tilevm export examples/matmul.tile -o kernel.tilebc")
        self.assembler = not re.search(r"^ptxas +not found", self.good("tilec doctor"), re.MULTILINE)
        run = 0
        for block in mine("console"):
            if block.page in pages.NEED_NVCC and not os.environ.get("TILEVM_NVCC"):
                print(f"SKIPPED: {block.page}:{block.line}: no nvcc that makes tile code")
                continue
            for command, shown in pages.commands(block.text):
                with self.subTest(f"{block.page}: {command}"):
                    self.check(block.page, command, shown)
                    run += 1
        self.assertGreaterEqual(run, 9)

    def check(self, page, command, shown):
        makes_code = command.startswith("tilec") and "--emit" not in command and "doctor" not in command
        if makes_code and not self.assembler:
            return
        where = os.path.join(self.folder, os.path.dirname(page) if page.startswith("examples/") else "")
        done = self.call(command, where)
        self.assertEqual(done.returncode, 4 if "error[vm." in shown else 0, done.stdout)
        told = done.stdout.replace(where, "/home/me") if page.startswith("examples/") else done.stdout
        # ptxas' version decides how many registers it takes, and each change of the compiler moves the count of instructions.
        if makes_code:
            told, shown = (re.sub(r"\d+ (registers|LLVM instructions)", r"N \1", t) for t in (told, shown))
        if shown and not pages.is_as_shown(told, shown):
            self.assertEqual(told.rstrip("\n"), shown)

    def test_programs(self):
        """Programs in tile code and in MLIR's text are valid."""
        programs = [*mine("tile"), *mine("mlir")]
        self.assertGreaterEqual(len(programs), 2)
        for block in programs:
            with self.subTest(f"{block.page}:{block.line}"):
                name = "program." + block.language
                with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
                    f.write(block.text)
                self.good(f"tilevm verify {name}")

    def test_blocks_without_a_test_say_why(self):
        """tests/repo checks that no block lacks both; the log lists them."""
        blocks = [b for page, text in pages.pages().items() for b in pages.blocks(page, text)]
        left = [b for b in blocks if b.marked == "not run"]
        self.assertTrue(all(b.reason for b in left))
        self.assertGreater(len(blocks), 4 * len(left))
        print(f"{len(blocks)} blocks, {len(left)} of them not run:")
        for block in left:
            print(f"  {block.page}:{block.line}: {block.reason}")

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
                self.good(f"tilevm run examples/{name}.tile {found.group(1)}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
