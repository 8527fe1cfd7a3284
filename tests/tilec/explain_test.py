"""tilec --explain says of each file of tests/tilec/explain what the file says:

    // options: --sm=90 --arg a=4096x4096       what tilec is given besides --explain; the lines behind it are about its output
    // check: limited by L2                     a line of it has this
    // check-not: could change                  no line has

explain_test.py TILEC FILE…"""

import os
import subprocess
import sys
import unittest

TILEC = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""
FILES = [f for f in sys.argv[2:] if f.endswith(".tile")]


def explain(name, *options):
    return subprocess.run([TILEC, name, "--explain", *options], capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"},
                          timeout=300)


def cases(name):
    """(options, [(whether it must be there, text)]) of a file."""
    found = []
    with open(name) as file:
        for line in file:
            key, _, text = line.strip().removeprefix("// ").partition(": ")
            if line.startswith("// options: "):
                found.append((text.split(), []))
            elif line.startswith(("// check: ", "// check-not: ")):
                found[-1][1].append((key == "check", text))
    return found


class Explain(unittest.TestCase):
    def test_files(self):
        self.assertGreater(len(FILES), 4)
        for name in FILES:
            self.assertTrue(cases(name), name)
            for options, checks in cases(name):
                with self.subTest(name, options=options):
                    self.assertTrue(checks)
                    done = explain(name, *options)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    for present, text in checks:
                        self.assertEqual(any(text in line for line in done.stdout.splitlines()), present, f"{text}\n{done.stdout}")

    def test_wrong_use(self):
        product = next(f for f in FILES if f.endswith("product.tile"))
        without = next(f for f in FILES if f.endswith("without_interface.tile"))
        for name, options, message in ((product, ["--sm=90", "--arg", "a=4x"], "--arg a=4x: expected NAME=INTEGER"),
                                       (product, ["--sm=90", "--arg", "q=4"], "--arg q: the kernel's interface has no such array or scalar"),
                                       (product, ["--sm=90", "--arg", "a=64x64"], "b"),
                                       (product, ["--sm=90", "--arg", "a=64x64", "--arg", "b=64x64", "--grid=0"], "each at least 1"),
                                       (product, ["--sm=90", "--chip=H1000"], "nothing was measured on such a sm_90a"),
                                       (without, ["--sm=90", "--arg", "2=7"], "--grid is needed"),
                                       (without, ["--sm=90", "--grid=4", "--arg", "9=7"], "a parameter from 0 to 2")):
            with self.subTest(options=options):
                done = explain(name, *options)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
