"""Every program compiles for one warp and for eight warps a block: other layouts, and slices of smaller tiles, than those that the
compiler chooses by itself. What does not fit in registers is refused with the error that says so; nothing else may go wrong.
One warp makes PTX only, which tests/gpu_sim runs: an assembler takes minutes for what spills.

warps_test.py TILEC FILE…"""

import os
import subprocess
import sys
import tempfile
import unittest

TILEC = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""
FILES = [f for f in sys.argv[2:] if not f.endswith("_reject.tile")]


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
        for name in FILES:
            done = {}
            for warps, kind in (("1", "ptx"), ("8", "tbc")):
                with self.subTest(name, warps=warps):
                    done[warps] = compile(name, "--warps=" + warps, kind=kind)
                    self.assertIn(done[warps].returncode, (0, 1), done[warps].stderr)
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
