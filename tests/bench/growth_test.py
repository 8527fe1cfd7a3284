"""The programs of growth.py: small ones are right in every step, and large ones end in time.

    growth_test.py TILEC TILEVM
"""
import os
import sys
import tempfile
import unittest

import growth

SECONDS = 100  # many times what a step takes, and less than what the square of the size takes
# What LLVM's usual passes, or passes of ours, took minutes or all of the stack for.
LARGE = {"carried": 8000, "carried_by_loop": 8000, "counted_fors": 8000, "fors_with_stores": 8000, "fors_with_loads": 8000, "ifs": 8000,
         "reduces": 8000, "scans": 8000, "tile_loads": 32000, "globals": 16000,
         "adds": 100000, "tile_stores": 100000}
# The same of full checks.
LARGE_CHECKS = {"allocas": 250000}
OPTIONS = None


class Growth(unittest.TestCase):
    def check(self, kind, n, steps):
        with tempfile.TemporaryDirectory() as folder:
            module = os.path.join(folder, f"{kind}{n}.tile")
            with open(module, "w", encoding="utf-8") as file:
                file.write(growth.KINDS[kind](n))
            for step, words in growth.commands(OPTIONS, module, kind).items():
                if (kind, step) in growth.LEFT_OUT or (steps and step not in steps):
                    continue
                with self.subTest(kind=kind, n=n, step=step):
                    self.assertIsNotNone(growth.seconds_of(words, SECONDS))

    def test_every_kind(self):
        for kind in growth.KINDS:
            self.check(kind, 20, None)

    def test_large(self):
        for kind, n in LARGE.items():
            self.check(kind, n, ("run", "tilec"))

    def test_large_checks(self):
        for kind, n in LARGE_CHECKS.items():
            self.check(kind, n, ("full",))


if __name__ == "__main__":
    OPTIONS = growth.parser().parse_args([f"--tilec={sys.argv.pop(1)}", f"--tilevm={sys.argv.pop(1)}", f"--seconds={SECONDS}"])
    unittest.main()
