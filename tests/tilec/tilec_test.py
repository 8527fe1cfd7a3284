"""tilec: what it writes, and what wrong use gives. Needs no GPU; machine code only where ptxas is.    tilec_test.py TILEC"""

import os
import subprocess
import sys
import tempfile
import unittest

TILEC = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""
EXAMPLES = os.path.abspath("examples")
SMS = ("75", "80", "90", "100", "120")

NO_MATH = ("vector_add", "histogram", "transpose", "matmul_bf16", "scatter_add", "prefix_sum", "float_max", "lock", "row_sum")


class Tilec(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def call(self, *arguments, **environment):
        return subprocess.run([TILEC, *arguments], cwd=self.folder.name, capture_output=True, text=True,
                              env={**os.environ, "NO_COLOR": "1", **environment}, timeout=100)

    def example(self, name):
        return os.path.join(EXAMPLES, name + ".tile")

    def fails(self, done, code, begins):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertTrue(done.stderr.startswith(begins), done.stderr)
        self.assertEqual(done.stderr.count("error["), 1, done.stderr)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_ptx_of_examples_for_every_target(self):
        for name in NO_MATH:
            for sm in SMS:
                done = self.call(self.example(name), "--sm=" + sm, "--emit=ptx", "-o", "-")
                self.assertEqual(done.returncode, 0, f"{name} sm_{sm}: {done.stderr}")
                self.assertIn(f".target sm_{sm}", done.stdout)
                self.assertIn(".entry", done.stdout)

    def test_same_input_same_output(self):
        outputs = {self.call(self.example("matmul_bf16"), "--sm=90", "--emit=ptx", "-o", "-").stdout for _ in range(2)}
        self.assertEqual(len(outputs), 1)

    def test_matrix_products_use_the_targets_instructions(self):
        ptx = self.call(self.example("matmul_bf16"), "--sm=80", "--emit=ptx", "-o", "-").stdout
        self.assertIn("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", ptx)
        self.assertIn("ldmatrix.sync", ptx)

    def test_contended_additions_meet_in_shared_memory(self):
        ptx = self.call(self.example("histogram"), "--sm=90", "--emit=ptx", "-o", "-").stdout
        self.assertIn("red.relaxed.cta.shared.add.u32", ptx)
        self.assertIn("red.relaxed.gpu.global.add", ptx)

    def test_stages(self):
        layouts = self.call(self.example("vector_add"), "--sm=90", "--emit=layouts").stdout
        self.assertIn("registers (1) (2)", layouts)
        self.assertIn("define ptx_kernel void @vector_add", self.call(self.example("vector_add"), "--sm=90", "--emit=llvm").stdout)

    def test_wrong_use(self):
        add = self.example("vector_add")
        self.fails(self.call(add), 2, "error[usage]: no --sm")
        self.fails(self.call(add, "--sm=91"), 2, "error[usage]: --sm=91: no such target")
        self.fails(self.call("--sm=90"), 2, "error[usage]: no input file")
        self.fails(self.call(add, "--sm=90", "--emit=cuda"), 2, "error[usage]: --emit=cuda")
        self.fails(self.call(add, "--sm=80,90", "--emit=ptx"), 2, "error[usage]: one --sm at a time")
        self.fails(self.call(add, "--sm=90", "--kernel", "nobody"), 1, add + ": error[")
        self.fails(self.call("missing.tile", "--sm=90"), 1, "missing.tile: error[")

    def test_without_ptxas(self):
        self.fails(self.call(self.example("vector_add"), "--sm=90", TILEC_PTXAS="/nonexistent"), 5, "error[codegen.ptxas]: no ptxas")

    def test_what_a_target_has_not(self):
        path = os.path.join(self.folder.name, "k.tile")
        with open(path, "w", encoding="utf-8") as file:
            file.write("entry @k() {\n  %a = alloc_shared alignment = 16 : tensor_view<60000xf32, strides=[1], shared>\n  return\n}\n")
        done = self.call("k.tile", "--sm=90", "--emit=ptx", "-o", "k.ptx")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("error[codegen.shared]: kernel @k needs 240000 bytes of shared memory; sm_90a offers 232448", done.stderr)
        self.assertEqual(os.listdir(self.folder.name), ["k.tile"])

    def test_machine_code(self):
        if "not found" in [l for l in self.call("doctor").stdout.splitlines() if l.startswith("ptxas")][0]:
            self.skipTest("no ptxas on this machine")
        done = self.call(self.example("vector_add"), "--sm=80,90", "-v", "-o", "k.tbc")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("@vector_add for sm_90a: 128 threads", done.stderr)
        with open(os.path.join(self.folder.name, "k.tbc"), "rb") as file:
            self.assertEqual(file.read().count(b"\x7fELF"), 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
