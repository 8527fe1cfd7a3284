"""Lines of a text in a .tbc (as -g), and how messages speak of a file without them.    lines_test.py TILEVM"""

import json

import cli

# The second of two loads of one kind traps.
TWO_LOADS = """entry @two(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) interface {
  in x: f32[4] at %x
  out o: f32[4] at %out init zero
  grid 1
} {
  %v = load_ptr_tko weak %x
  %p = offset %x, 1000
  %w = load_ptr_tko weak %p
  store_ptr_tko weak %out, %w
  return
}
"""


class Lines(cli.Case):
    def setUp(self):
        super().setUp()
        with open(self.folder + "/two.tile", "w") as f:
            f.write(TWO_LOADS)

    def trap(self, *arguments):
        done = self.call("run", *arguments, "ones:f32[4]")
        self.assertEqual(done.returncode, 4, done.stderr)
        return done.stderr

    def test_a_file_with_lines_names_them(self):
        self.good("as", "-g", "two.tile", "-o", "g.tbc")
        self.assertTrue(self.trap("g.tbc").startswith("two.tile:8:8: error[vm.out_of_bounds]: "))
        done = self.call("run", "g.tbc", "ones:f32[4]", "--json")
        self.assertEqual(json.loads(done.stdout)["reports"][0]["where"], "two.tile:8:8")
        # The text says the same, and nothing else of the program changes.
        self.assertTrue(self.trap("two.tile").startswith("two.tile:8:8: "))
        self.good("as", "two.tile", "-o", "plain.tbc")
        self.assertEqual(self.good("dis", "g.tbc").stdout, self.good("dis", "plain.tbc").stdout)
        self.good("dis", "-g", "g.tbc", "-o", "again.tile")
        self.good("as", "again.tile", "-o", "again.tbc")
        self.assertEqual(self.read("again.tbc"), self.read("g.tbc"))

    def test_a_file_without_lines_names_the_operation(self):
        self.good("as", "two.tile", "-o", "plain.tbc")
        error = self.trap("plain.tbc")
        self.assertTrue(error.startswith("plain.tbc: operation 4: error[vm.out_of_bounds]: "), error)
        self.assertIn("note: the file keeps no lines, `tilevm as -g` does; `tilevm dis -n` numbers the operations", error)
        numbered = [line for line in self.good("dis", "-n", "plain.tbc").stdout.splitlines() if line.endswith("// 4")]
        self.assertEqual(len(numbered), 1)
        self.assertIn("load_ptr_tko", numbered[0])
        self.assertNotIn("note:", self.trap("two.tile"))

    def test_lines_of_the_frontend_stay(self):
        with open(self.folder + "/py.tile", "w") as f:
            f.write(TWO_LOADS.replace("weak %p\n", "weak %p loc(#1)\n") + '#1 = loc("kernel.py":12:5)\n')
        self.good("as", "py.tile", "-o", "py.tbc")
        self.assertTrue(self.trap("py.tbc").startswith("kernel.py:12:5: error"))
        self.good("export", "py.tile", "-o", "py.tilebc")
        self.good("import", "py.tilebc", "-o", "back.tbc")
        self.assertTrue(self.trap("back.tbc", "zeros:f32[4]", "-g", "1").startswith("kernel.py:12:5: error"))

    def test_strip_and_lines_exclude_each_other(self):
        done = self.call("as", "-g", "--strip", "two.tile")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--strip leaves them out", done.stderr)

    def test_one_round_reports_syntax_and_rules(self):
        with open(self.folder + "/wrong.tile", "w") as f:
            f.write(TWO_LOADS.replace("  return\n", "  %a = adf %v\n  %b = addi %v, %v\n  return %v\n"))
        done = self.call("verify", "wrong.tile")
        self.assertEqual(done.returncode, 1)
        errors = [line.split(": ")[:2] for line in done.stderr.splitlines() if line.startswith("wrong.tile")]
        self.assertEqual(errors, [["wrong.tile:10:8", "error[text.unknown_op]"], ["wrong.tile:11:8", "error[addi.c5]"],
                                  ["wrong.tile:12:3", "error[return.c10]"]])
        self.assertEqual(done.stderr.count("^\n"), 3)
        self.assertEqual(done.stderr.count("fix: "), 3)


if __name__ == "__main__":
    cli.main()
