"""tilevm diff: where two runs begin to differ.    diff_test.py TILEVM"""

import json

import cli

# In each round i: a += x, b += a * i. SCALE is what the two versions differ in.
LOOP = """entry @loop(%x: tile<ptr<f32>>, %o: tile<ptr<f32>>) interface {
  in x: f32[256] at %x
  out o: f32[256] at %o init zero
  grid 4
} {
  %i, %j, %k = get_tile_block_id
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %four = constant <i32: 4> : tile<i32>
  %xt = make_tensor_view %x, shape = [256], strides = [1] : tensor_view<256xf32, strides=[1]>
  %xv = make_partition_view %xt : partition_view<tile=(64), tensor_view<256xf32, strides=[1]>>
  %ot = make_tensor_view %o, shape = [256], strides = [1] : tensor_view<256xf32, strides=[1]>
  %ov = make_partition_view %ot : partition_view<tile=(64), tensor_view<256xf32, strides=[1]>>
  %v, %t = load_view_tko weak %xv[%i] : partition_view<tile=(64), tensor_view<256xf32, strides=[1]>>, tile<i32> -> tile<64xf32>, token
  %s = for %n in (%zero to %four, step %one) : tile<i32> iter_values(%a = %v) -> (tile<64xf32>) {
    %f = itof %n signed : tile<i32> -> tile<f32>
    %r = reshape %f : tile<f32> -> tile<1xf32>
    %w = broadcast %r : tile<1xf32> -> tile<64xf32>
    SCALE
    %b = addf %a, %m : tile<64xf32>
    continue %b : tile<64xf32>
  }
  %u = store_view_tko weak %s, %ov[%i] : tile<64xf32>, partition_view<tile=(64), tensor_view<256xf32, strides=[1]>>, tile<i32> -> token
  return
}
"""


class Diff(cli.Case):
    def setUp(self):
        super().setUp()
        scale = "%m = mulf %a, %w : tile<64xf32>"
        for name, text in (("a", scale), ("b", scale.replace("mulf", "subf")),
                           ("c", scale.replace("%m", "%q") + "\n    %m = mulf %q, %q : tile<64xf32>")):
            self.write(name + ".tile", LOOP.replace("SCALE", text))

    def test_equal(self):
        done = self.good("diff", "a.tile", "rand:f32[256]", "--with", "a.tile")
        self.assertEqual(done.stdout, "o: all 256 elements agree\n")
        self.good("as", "a.tile", "-o", "a.tbc")
        report = json.loads(self.good("diff", "a.tile", "rand:f32[256]", "--with", "a.tbc", "--json").stdout)
        self.assertEqual(report, {"result": "equal", "arrays": [
            {"name": "o", "count": 256, "differing": 0, "first": -1, "max_abs": 0, "max_rel": 0, "max_ulp": 0}]})

    def test_another_operation_in_a_loop(self):
        done = self.call("diff", "a.tile", "ones:f32[256]", "--with", "b.tile")
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        lines = done.stdout.splitlines()
        # a: 1, 2, 6, 24 by rounds; b: 2, 3, 4, 5 with what is subtracted: 1+1-0=2, 2+2-1=3, 3+3-2=4, 4+4-3=5.
        self.assertEqual(lines[0], "o: 256 of 256 elements differ, first at [0]: 5, expected 24, 18874368 ULP apart")
        self.assertIn("actual: b.tile on the VM; expected: a.tile on the VM", lines)
        self.assertIn("a.tile:19:10: the first result that differs, of mulf (subf there), by block: 256 of 256 elements differ, "
                      "first at [0,0]: 1, expected 18", done.stdout)

    def test_an_operation_more(self):
        """What only one program has is left out: the first difference is that of what follows."""
        report = self.call("diff", "a.tile", "full:f32[256]=2", "--with", "c.tile", "--json")
        self.assertEqual(report.returncode, 3)
        first = json.loads(report.stdout)["first_op"]
        self.assertIn(first["where"], ("a.tile:19:10", "a.tile:20:10"))

    def test_ulps(self):
        """The factor 1 + 2^-23 in the last round, 3; the tolerance counts for the search, too."""
        self.write("near.tile", LOOP.replace("SCALE", "%e = constant <f32: 1.00000011920929> : tile<64xf32>\n"
                                                       "    %m = mulf %w, %e : tile<64xf32>"))
        self.write("far.tile", LOOP.replace("SCALE", "%e = constant <f32: 1.0> : tile<64xf32>\n    %m = mulf %w, %e : tile<64xf32>"))
        done = self.call("diff", "far.tile", "zeros:f32[256]", "--with", "near.tile")
        self.assertEqual(done.returncode, 3)
        self.assertIn("of mulf, by block", done.stdout)
        self.assertIn("first at [0,0]: 3.0000005, expected 3, 2 ULP apart", done.stdout)
        self.good("diff", "far.tile", "zeros:f32[256]", "--with", "near.tile", "--ulp", "4")

    def test_inout_arrays_begin_again(self):
        """The search runs the programs many times on memory that they change."""
        text = """entry @bump(%x: tile<ptr<i32>>) interface {
  inout x: i32[1] at %x
  grid 1
} {
  %one = constant <i32: STEP> : tile<i32>
  %v, %t = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
  %n = addi %v, %one : tile<i32>
  %d = store_ptr_tko weak %x, %n token = %t : tile<ptr<i32>>, tile<i32> -> token
  return
}
"""
        self.write("one.tile", text.replace("STEP", "1"))
        self.write("two.tile", text.replace("STEP", "2"))
        done = self.call("diff", "one.tile", "full:i32[1]=10", "--with", "two.tile")
        self.assertEqual(done.returncode, 3)
        self.assertIn("x: 1 of 1 elements differ, first at [0]: 12, expected 11", done.stdout)
        self.assertIn("of addi, by block: 1 of 1 elements differ, first at [0]: 12, expected 11", done.stdout)

    def test_outputs_only(self):
        done = self.call("diff", "a.tile", "ones:f32[256]", "--with", "b.tile", "--outputs-only")
        self.assertEqual(done.returncode, 3)
        self.assertNotIn("first result", done.stdout)

    def test_what_is_stored_elsewhere(self):
        text = LOOP.replace("SCALE", "%m = mulf %a, %w : tile<64xf32>")
        self.write("moved.tile", text.replace("store_view_tko weak %s, %ov[%i]", "store_view_tko weak %s, %ov[%j]"))
        # All blocks write to one place, so the last one wins.
        done = self.call("diff", "a.tile", "rand:f32[256]", "--with", "moved.tile", "--threads=1")
        self.assertEqual(done.returncode, 3)
        self.assertIn("no result of an operation that both have differs", done.stdout)

    def test_trapped(self):
        self.write("fine.tile", cli.TRAP.replace("i32: 1000", "i32: 0"))
        for pair in (("fine.tile", "trap.tile"), ("trap.tile", "fine.tile")):
            done = self.call("diff", pair[0], "ones:f32[4]", "--with", pair[1])
            self.assertEqual(done.returncode, 4)
            self.assertIn("error[vm.out_of_bounds]", done.stderr)
            self.assertIn("note: that was trap.tile on the VM", done.stderr)

    def test_wrong_use(self):
        def fails(code, says, *arguments):
            done = self.call("diff", *arguments)
            self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
            self.assertIn(says, done.stderr)
        fails(2, "error[usage]: no kernel file")
        fails(2, "error[usage]: nothing to compare with", "a.tile", "ones:f32[256]")
        fails(2, "error[usage]: nothing to compare with", "a.tile", "ones:f32[256]", "--device", "cpu")
        fails(2, "error[usage]: --device auto", "a.tile", "ones:f32[256]", "--device", "auto")
        fails(2, "cannot come from stdin", "-", "--with", "a.tile")
        fails(1, "missing.tile: error[", "a.tile", "ones:f32[256]", "--with", "missing.tile")
        more = cli.TRAP.replace("out o: f32[4]", "out p: f32[4] at %second init zero\n  out o: f32[4]")
        self.write("more.tile", more.replace("(%x: tile<ptr<f32>>,", "(%x: tile<ptr<f32>>, %second: tile<ptr<f32>>,"))
        fails(1, "trap.tile: error[diff.unlike]: the kernels take 2 and 3 arrays", "trap.tile", "ones:f32[4]", "--with", "more.tile")
        self.write("short.tile", cli.TRAP.replace("out o: f32[4]", "out o: f32[3]"))
        fails(1, "trap.tile: error[diff.unlike]: output `o`", "trap.tile", "ones:f32[4]", "--with", "short.tile")


if __name__ == "__main__":
    cli.main()
