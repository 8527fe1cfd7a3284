"""What tilevm tells other programs: --json of verify and info, and of every command that fails.    machine_test.py TILEVM"""

import json
import os

import cli

WRONG = "entry @k(%a: tile<i32>) {\n  %b = addf %a, %a : tile<i32>\n  return\n}\n"


class Verify(cli.Case):
    def test_files(self):
        self.write("wrong.tile", WRONG)
        self.write("broken.tile", "entry @k( {\n")
        done = self.call("verify", "--json", "vector_add.tile", "wrong.tile", "broken.tile", "missing")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.count("\n"), 1)
        report = json.loads(done.stdout)
        self.assertEqual(report["result"], "rejected")
        good, wrong, broken, missing = report["files"]
        self.assertEqual(good, {"file": "vector_add.tile", "ok": True, "diagnostics": []})
        self.assertEqual([f["ok"] for f in (wrong, broken, missing)], [False] * 3)
        for f, line in ((wrong, 2), (broken, 1)):
            d = f["diagnostics"][0]
            self.assertEqual((d["severity"], d["file"], d["line"]), ("error", f["file"], line))
            # What stands on stderr for people.
            self.assertIn(f"{d['file']}:{d['line']}:{d['col']}: error[{d['code']}]: {d['message']}\n", done.stderr)
        self.assertRegex(wrong["diagnostics"][0]["code"], r"^addf\.c\d")
        d = missing["diagnostics"][0]
        self.assertEqual((d["code"], d["file"], d["line"], d["col"], d["fix"]), ("file.read", "missing", None, None, None))
        done = self.good("verify", "--json", "vector_add.tile")
        self.assertEqual(json.loads(done.stdout)["result"], "ok")

    def test_excerpt_and_fix(self):
        self.write("typo.tile", "entry @k(%a: tile<f32>) {\n  %b = adf %a, %a\n  return\n}\n")
        d = json.loads(self.call("verify", "--json", "typo.tile").stdout)["files"][0]["diagnostics"][0]
        self.assertEqual((d["line"], d["col"], d["fix"]), (2, 8, "did you mean addf?"))
        self.assertIn("^", d["details"])

    def test_help_describes_it(self):
        text = self.good("verify", "--help").stdout
        for word in ("result", "files", "diagnostics", "severity", "code", "line", "col", "message", "fix"):
            self.assertIn(word, text)


class Info(cli.Case):
    def test_numbers_are_numbers(self):
        self.good("as", "vector_add.tile", "-o", "k.tbc")
        info = json.loads(self.good("info", "--json", "k.tbc").stdout)
        self.assertEqual(info["form"], "tbc")
        self.assertEqual(info["bytes"], len(self.read("k.tbc")))
        self.assertIsInstance(info["code_bytes"], int)
        self.assertIs(info["debug"], False)
        self.assertEqual(info["images"], [])
        kernel = info["kernels"][0]
        self.assertEqual((kernel["name"], kernel["launch_rule"]), ("vector_add", True))
        self.assertEqual(kernel["arguments"][0], {"name": "a", "direction": "in", "type": "f32", "rank": 1})

    def test_text_and_stdin(self):
        with open(os.path.join(self.folder, "vector_add.tile"), encoding="utf-8") as f:
            done = self.good("info", "-", stdin=f)
        self.assertTrue(done.stdout.startswith("<stdin>: module "), done.stdout)
        self.assertIn("\n  kernel vector_add: 4 parameters, ", done.stdout)
        with open(os.path.join(self.folder, "vector_add.tile"), encoding="utf-8") as f:
            self.assertEqual(json.loads(self.good("info", "--json", "-", stdin=f).stdout)["form"], "text")


class Failures(cli.Case):
    def test_every_command_with_json(self):
        self.write("wrong.tile", WRONG)
        ones = "ones:f32[8]"
        for arguments, code, result, error in (
                (["run", "wrong.tile", "--json"], 1, "rejected", None),
                (["run", "--json"], 2, "usage", "usage"),
                (["run", "vector_add.tile", ones, "--json"], 1, "rejected", "run.arguments"),
                (["run", "vector_add.tile", ones, ones, "--json", "--nonsense"], 2, "usage", "usage"),
                (["run", "vector_add.tile", ones, ones, "--json", "-o", "missing/c.npy"], 5, "environment", "output.write"),
                (["bench", "missing", "--json"], 1, "rejected", "file.read"),
                (["diff", "vector_add.tile", ones, ones, "--json"], 2, "usage", "usage"),
                (["info", "wrong.tile", "--json"], 1, "rejected", None),
                (["ops", "--json", "--nonsense"], 2, "usage", "usage"),
                (["verify", "--json"], 2, "usage", "usage")):
            done = self.call(*arguments)
            with self.subTest(" ".join(arguments)):
                self.assertEqual(done.returncode, code, done.stderr)
                report = json.loads(done.stdout)
                self.assertEqual(report["result"], result)
                self.assertEqual(report["diagnostics"][0]["severity"], "error")
                if error:
                    self.assertEqual([d["code"] for d in report["diagnostics"]], [error])
                self.assertIn(report["diagnostics"][0]["message"], done.stderr)

    def test_recordings_each_have_a_line(self):
        self.good("run", "vector_add.tile", "ones:f32[8]", "ones:f32[8]", "--record", "good")
        done = self.call("replay", "missing", "good", "--json")
        self.assertEqual(done.returncode, 1)
        missing, good = (json.loads(line) for line in done.stdout.splitlines())
        self.assertEqual((missing["name"], missing["result"], missing["diagnostics"][0]["code"]), ("missing", "rejected", "replay.read"))
        self.assertEqual((good["name"], good["result"]), ("good", "equal"))

    def test_names_that_are_not_utf8(self):
        name = os.fsdecode(b"\xff.tile")
        self.write(name, WRONG)
        done = self.call("verify", "--json", name)
        self.assertEqual(json.loads(done.stdout)["files"][0]["diagnostics"][0]["file"], "\\xff.tile")


if __name__ == "__main__":
    cli.main()
