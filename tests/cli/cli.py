"""What the tests of the command line share: a folder with kernels and data, and calls of tilevm in it."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

TILEVM = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""
EXAMPLES = os.path.abspath("examples")
COMPAT = os.path.abspath("tests/compat/0.1")

# Long enough for a progress bar on any machine, and easily stopped: the test ends it.
SLOW = """entry @slow(%out: tile<ptr<i32>>) interface {
  out o: i32[1] at %out init zero
  grid 1000000
} {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %n = constant <i32: 2000> : tile<i32>
  %x = constant <f32: 1.0> : tile<4096xf32>
  %s = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%a = %x) -> (tile<4096xf32>) {
    %b = addf %a, %x : tile<4096xf32>
    continue %b : tile<4096xf32>
  }
  return
}
"""

TRAP = """entry @trap(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) interface {
  in x: f32[4] at %x
  out o: f32[4] at %out init zero
  grid 1
} {
  %far = constant <i32: 1000> : tile<i32>
  %p = offset %x, %far : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %v, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
  %t1 = store_ptr_tko weak %out, %v : tile<ptr<f32>>, tile<f32> -> token
  return
}
"""

PRINTS = """entry @prints(%out: tile<ptr<i32>>) interface {
  out o: i32[1] at %out init 7
  grid 1
} {
  %t = print_tko "hello\\n" : token
  return
}
"""


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("vector_add", "matmul", "float_max"):
            shutil.copy(os.path.join(EXAMPLES, name + ".tile"), self.folder)
        for name, text in (("slow", SLOW), ("trap", TRAP), ("prints", PRINTS)):
            self.write(name + ".tile", text)

    def write(self, name, contents):
        mode = "wb" if isinstance(contents, bytes) else "w"
        with open(os.path.join(self.folder, name), mode) as f:
            f.write(contents)

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as f:
            return f.read()

    def call(self, *arguments, **options):
        """The finished process, its output as text."""
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run([TILEVM, *arguments], cwd=self.folder, stderr=subprocess.PIPE, universal_newlines=True,
                              timeout=120, **options)

    def good(self, *arguments, **options):
        done = self.call(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def files(self):
        """Every file below the folder with its contents."""
        found = {}
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    with open(path, "rb") as f:
                        found[path] = f.read()
        return found


class CountedResult(unittest.TextTestResult):
    """Writes what became of each test where Bazel asks for it, so that the report counts tests and names what was skipped."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.cases = ElementTree.Element("testsuite")

    def add(self, test, kind=None, text=""):
        case = ElementTree.SubElement(self.cases, "testcase", classname=type(test).__name__, name=test.id().split(".")[-1])
        if kind:
            # XML holds no control characters.
            ElementTree.SubElement(case, kind, message="".join(c for c in text if c.isprintable() or c in "\n\t"))

    def addSuccess(self, test):
        super().addSuccess(test)
        self.add(test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.add(test, "failure", str(err[1]))

    def addError(self, test, err):
        super().addError(test, err)
        self.add(test, "error", str(err[1]))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.add(test, "skipped", reason)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.add(subtest, "failure", str(err[1]))

    def stopTestRun(self):
        super().stopTestRun()
        if path := os.environ.get("XML_OUTPUT_FILE"):
            ElementTree.ElementTree(self.cases).write(path)


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], testRunner=unittest.TextTestRunner(resultclass=CountedResult))
