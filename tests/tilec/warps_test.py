"""Every program compiles for one warp and for eight warps a block: other layouts, and slices of smaller tiles, than those that the
compiler chooses by itself. What does not fit in registers is refused with the error that says so; nothing else may go wrong.
Most make PTX only, which tests/gpu_sim runs for one warp: an assembler takes minutes for what spills. Every third is assembled for eight.

warps_test.py TILEC FILE…"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

TILEC = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""
FILES = [f for f in sys.argv[2:] if not f.endswith("_reject.tile")]


def kernels(name):
    """The options that name each kernel of a file: PTX is made of one."""
    with open(name, encoding="utf-8") as file:
        return ["--kernel=" + kernel for kernel in re.findall(r"^\s*entry @(\w+)", file.read(), re.MULTILINE)]


def compile(name, *options, kind="tbc"):
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([TILEC, name, "--sm=90", *options, "-o", os.path.join(folder, "k." + kind)], capture_output=True,
                              text=True, env={**os.environ, "NO_COLOR": "1"}, timeout=300)


class Warps(unittest.TestCase):
    def setUp(self):
        doctor = subprocess.run([TILEC, "doctor"], capture_output=True, text=True, check=False).stdout
        for line in doctor.splitlines():
            if line.startswith(("ptxas", "libdevice")) and "not found" in line:
                self.skipTest(line.split()[0] + " was not found")

    def test_files(self):
        made = 0
        for number, name in enumerate(FILES):
            done = {}
            ptx = ("ptx", kernels(name))
            for warps, (kind, which) in (("1", ptx), ("8", ptx if number % 3 else ("tbc", [""]))):
                with self.subTest(name, warps=warps):
                    for kernel in which:
                        found = compile(name, "--warps=" + warps, *filter(None, [kernel]), kind=kind)
                        self.assertIn(found.returncode, (0, 1), found.stderr)
                        if warps not in done or found.returncode != 0:
                            done[warps] = found
                    made += done[warps].returncode == 0
            if all(d.returncode == 0 for d in done.values()):
                continue
            plain = compile(name)  # a program that breaks rules breaks them with any number of warps
            for warps, d in done.items():
                if d.returncode != 0:
                    with self.subTest(name, warps=warps):
                        self.assertIn("error[codegen.registers]" if plain.returncode == 0 else plain.stderr.splitlines()[0], d.stderr)
        self.assertGreater(made, len(FILES))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
