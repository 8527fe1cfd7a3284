"""third_party/zig/build.py keeps objects for every checkout, and compiles one again when its command or a file that it includes is another.

zig is a script that calls the machine's g++.
"""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parents[2] / "third_party/zig"))

import build  # noqa: E402

ZIG = """#!/bin/sh
echo "$*" >>"$(dirname "$0")/calls"
[ "$2" = -target ] && shift 3
exec g++ "$@"
"""


class Target:
    target, compile_options = "any", ["-fPIC"]


class Objects(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.addCleanup(setattr, build, "ROOT", build.ROOT)
        self.addCleanup(setattr, build, "bazel", build.bazel)
        self.work = pathlib.Path(work.name)
        self.tools = self.work / "tools"
        self.write("tools/zig", ZIG).chmod(0o755)
        for checkout in ("one", "two"):
            self.write(f"{checkout}/a.cc", '#include "a.h"\n#include "made.h"\nint a() { return A + MADE; }\nconst char* f = __FILE__;\n')
            self.write(f"{checkout}/a.h", "#define A 1\n")
            self.write(f"{checkout}/out/made.h", "#define MADE 1\n")

    def write(self, name, text):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def compiled(self, checkout, *options):
        """(The object, whether it was compiled.)"""
        build.digest_of.cache_clear()
        build.ROOT = self.work / checkout
        build.bazel = lambda command, *words: f"{self.work}/{checkout}/out\n" if command == "info" else ""
        calls = self.tools / "calls"
        calls.unlink(missing_ok=True)
        made = build.Build(Target, self.tools, self.work / "objects", 1)
        out = made.compile(build.ROOT / "a.cc", [*made.headers, "-O1", *options])
        made.make()
        return out, calls.exists()

    def test_another_checkout_takes_what_is_there(self):
        first, was_compiled = self.compiled("one")
        self.assertTrue(was_compiled)
        self.assertEqual((first, False), self.compiled("one"))
        self.assertEqual((first, False), self.compiled("two"))
        self.assertNotIn(str(self.work / "one").encode(), first.read_bytes())

    def test_what_differs_is_compiled(self):
        first, _ = self.compiled("one")
        for name in ("a.h", "out/made.h"):
            path = self.work / "two" / name
            text = path.read_text()
            path.write_text(text.replace("1", "2"))
            self.assertEqual((first, True), self.compiled("two"))
            path.write_text(text)
            self.assertEqual((first, True), self.compiled("two"))
        other, was_compiled = self.compiled("one", "-DB")
        self.assertTrue(was_compiled and other != first)
        first.unlink()
        self.assertEqual((first, True), self.compiled("one"))


if __name__ == "__main__":
    unittest.main()
