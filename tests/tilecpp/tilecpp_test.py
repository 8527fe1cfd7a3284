"""CUDA Tile C++ on the VM: each kernel of the .cu files against the scalar loop in the .py file of the same name.

    tilecpp_test.py TILEVM

Compiled by the nvcc of third_party/nvcc/nvcc.py; without it the test is skipped. harness.py says what a case is. Two variables
are for GPUs, whose machines may have no nvcc:
    TILECPP_MODULES=FOLDER   compiled modules are kept there, and taken from there without nvcc
    TILECPP_DEVICE=cuda      where kernels run, by machine code that libtilec makes; only what every order of blocks allows
"""

import importlib
import os
import re
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path[:0] = [HERE, os.path.join(ROOT, "third_party", "nvcc"), os.path.join(ROOT, "tests", "cli")]
import cli  # noqa: E402
import harness  # noqa: E402
import nvcc  # noqa: E402

MODULES = ("load", "store", "orders", "compare_exchange", "atomic_and", "atomic_or", "atomic_xor", "atomic_max", "atomic_min",
           "atomic_add", "atomic_sub", "atomic_xchg", "views")
for name in MODULES:
    importlib.import_module(name)


class TileCpp(unittest.TestCase):
    """Modules are compiled when the first case of each asks."""

    @classmethod
    def setUpClass(cls):
        cls.kept = os.environ.get("TILECPP_MODULES")
        try:
            cls.nvcc = nvcc.find()
        except nvcc.Missing as e:
            cls.nvcc = None
            if not cls.kept or not os.listdir(cls.kept):
                raise unittest.SkipTest("CUDA Tile C++: %s" % e) from e
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.modules = {}

    def module(self, name):
        if name not in self.modules:
            out = os.path.join(os.path.abspath(self.kept or self.folder), name + ".tilebc")
            if self.nvcc is not None:
                self.assertEqual(self.nvcc.tilebc(os.path.join(HERE, name + ".cu"), out), "", "nvcc warns")
            self.modules[name] = harness.Module(cli.TILEVM, out, self.folder)
        return self.modules[name]


    def check_rejected(self, name, what="--tilebc"):
        """nvcc finds a mistake in each line of NAME.cu that is marked so, and in no other."""
        if self.nvcc is None:
            self.skipTest("what nvcc rejects: there is none")
        source = os.path.join(HERE, name + ".cu")
        with self.assertRaises(nvcc.Failed) as failed:
            self.nvcc.compile(source, os.path.join(self.folder, "rejected"), what)
        with open(source, encoding="utf-8") as f:
            wrong = {n for n, line in enumerate(f, 1) if "// error:" in line}
        found = {int(n) for n in re.findall(re.escape(name) + r"\.cu\((\d+)\): error", str(failed.exception))}
        self.assertTrue(wrong)
        self.assertEqual(found, wrong)

    def test_rejected(self):
        self.check_rejected("rejected")

    def test_rejected_in_host_code(self):
        self.check_rejected("rejected_host", "-c")

    def test_rejected_in_simt_code(self):
        self.check_rejected("rejected_simt", "-c")

    def test_orders_and_scopes_are_written_in_two_ways(self):
        orders = self.module("orders")
        self.assertEqual(orders.listing("by_template").partition("{")[2], orders.listing("by_constant").partition("{")[2])


def add(case, number):
    def test(self):
        device = os.environ.get("TILECPP_DEVICE", "cpu")
        if device != "cpu" and (case.traps or case.full):
            self.skipTest("a mistake, or a race, that only the VM finds")
        harness.check(case, self.module(case.module), device)

    setattr(TileCpp, "test_%s_%s_%d" % (case.module, case.kernel, number), test)


for number, case in enumerate(harness.CASES):
    add(case, number)


if __name__ == "__main__":
    cli.main()
