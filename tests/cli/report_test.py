"""tilevm run --json: one object with everything about the run.    report_test.py TILEVM"""

import json
import os
import re
import struct

import cli


# Of eight elements, three of which lie outside of a tensor of five.
SUM = """entry @sum(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) interface {
  in x: f32[5] at %x
  out o: f32[1] at %out
  grid 1
} {
  %first = constant <i32: 0> : tile<i32>
  %t = make_tensor_view %x, shape = [5], strides = [1] : tensor_view<5xf32, strides=[1]>
  %v = make_partition_view %t : partition_view<tile=(8), tensor_view<5xf32, strides=[1]>>
  %a, %k = load_view_tko weak %v[%first] -> tile<8xf32>, token
  %s = reduce %a dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32> (%e: tile<f32>, %acc: tile<f32>) {
    %sum = addf %e, %acc
    yield %sum : tile<f32>
  }
  store_ptr_tko weak %out, %s -> token
  return
}
"""


# Two stores to one element that no token orders.
RACE = """entry @race(%out: tile<ptr<i32>>) interface {
  out o: i32[1] at %out
  grid 1
} {
  %one = constant <i32: 1> : tile<i32>
  %t = store_ptr_tko weak %out, %one : tile<ptr<i32>>, tile<i32> -> token
  %u = store_ptr_tko weak %out, %one : tile<ptr<i32>>, tile<i32> -> token
  return
}
"""

# Fails in every block but the first.
CLAIM = """entry @claim() interface {
  grid 6
} {
  %x, %y, %z = get_tile_block_id
  %ok = cmpi equal %x, 0, signed : tile<i32> -> tile<i1>
  assert %ok, "no more than one block"
  return
}
"""

# Element 3 of y, through a pointer of x.
FAR = """entry @far(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %out: tile<ptr<f32>>) interface {
  in x: f32[8] at %x
  in y: f32[8] at %y
  out o: f32[1] at %out
  grid 1
} {
  %a = ptr_to_int %x : tile<ptr<f32>> -> tile<i64>
  %b = ptr_to_int %y : tile<ptr<f32>> -> tile<i64>
  %bytes = subi %b, %a
  %four = constant <i64: 4> : tile<i64>
  %three = constant <i64: 3> : tile<i64>
  %n = divi %bytes, %four signed
  %far = addi %n, %three
  %p = offset %x, %far
  %v, %read = load_ptr_tko weak %p
  store_ptr_tko weak %out, %v -> token
  return
}
"""

# pack came with 13.3.
NEW = """entry @new() {
  %a = constant <i16: 1> : tile<4xi16>
  %b = pack %a : tile<4xi16> -> tile<8xi8>
  return
}
"""


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


class RunJson(cli.Case):
    def test_whole_report(self):
        self.good("run", "vector_add.tile", "arange:f32[8]", "full:f32[8]=0.5", "-o", "want.npy")
        done = self.good("run", "vector_add.tile", "arange:f32[8]", "full:f32[8]=0.5", "--json", "-o", "c.npy", "-o", "c=c.txt",
                         "--expect", "want.npy", "--expect", "c=want.npy")
        self.assertEqual(done.stdout.count("\n"), 1)
        report = json.loads(done.stdout)
        self.assertGreaterEqual(report.pop("ms"), 0)
        same = {"name": "c", "count": 8, "differing": 0, "max_abs": 0, "max_rel": 0, "max_ulp": 0}
        self.assertEqual(report, {
            "kernel": "vector_add", "grid": [1, 1, 1], "blocks": 1, "orders": 1, "result": "ok",
            "outputs": [{"name": "c", "type": "f32", "shape": [8], "min": 0.5, "max": 7.5, "mean": 4, "nan": 0, "inf": 0,
                         "files": ["c.npy", "c.txt"]}],
            "expect": [same, same]})
        self.assertEqual(self.read("c.txt").split()[:3], [b"0.5", b"1.5", b"2.5"])

    def test_what_is_not_finite(self):
        report = json.loads(self.good("run", "vector_add.tile", "full:f32[8]=nan", "zeros:f32[8]", "--json").stdout)
        out = report["outputs"][0]
        self.assertEqual((out["min"], out["max"], out["mean"], out["nan"], out["inf"]), (None, None, None, 8, 0))
        done = self.call("run", "vector_add.tile", "full:f32[8]=inf", "zeros:f32[8]", "--json", "--expect", "ones:f32[8]")
        self.assertEqual(done.returncode, 3)
        report = json.loads(done.stdout)
        self.assertEqual(report["outputs"][0]["inf"], 8)
        self.assertEqual(report["result"], "differs")
        self.assertEqual((report["expect"][0]["differing"], report["expect"][0]["max_abs"]), (8, None))
        self.assertIn("vector_add.tile: error[run.differs]: output `c`: 8 of 8 elements differ", done.stderr)

    def test_matrices_and_a_grid_of_several_blocks(self):
        report = json.loads(self.good("run", "matmul.tile", "ones:f32[200,3]", "ones:f32[3,100]", "--json").stdout)
        self.assertEqual(report["outputs"][0]["shape"], [200, 100])
        self.assertEqual(report["outputs"][0]["max"], 3)
        x, y, z = report["grid"]
        self.assertGreater(x * y * z, 1)
        self.assertEqual(report["blocks"], x * y * z)

    def test_trapped(self):
        done = self.call("run", "trap.tile", "ones:f32[4]", "--json", "-o", "o.npy")
        self.assertEqual(done.returncode, 4)
        report = json.loads(done.stdout)
        self.assertEqual((report["result"], report["kernel"]), ("trapped", "trap"))
        self.assertNotIn("outputs", report)
        trap = report["reports"][0]
        self.assertEqual((trap["code"], trap["op"], trap["block"]), ("vm.out_of_bounds", "load_ptr_tko", [0, 0, 0]))
        self.assertTrue(trap["where"].startswith("trap.tile:8:"), trap["where"])
        self.assertIn("error[vm.out_of_bounds]", done.stderr)
        # As the diagnostics of `verify`, and more.
        self.assertEqual((trap["severity"], trap["file"], trap["line"], trap["kernel"]), ("error", "trap.tile", 8, "trap"))
        self.assertEqual(trap["where"], f"trap.tile:8:{trap['col']}")
        self.assertIn("reads 4 bytes", trap["message"])
        self.assertIn("load_ptr_tko weak %p", trap["details"])
        self.write("wrong.tile", "entry @k() {\n")
        shape = set(json.loads(self.call("verify", "--json", "wrong.tile").stdout)["files"][0]["diagnostics"][0])
        self.assertEqual(set(trap), shape | {"where", "kernel", "op", "block"})

    def test_a_report_of_several_blocks_stands_once(self):
        self.write("claim.tile", CLAIM)
        done = self.call("run", "claim.tile", "--json")
        self.assertEqual(done.returncode, 4, done.stderr)
        report, = json.loads(done.stdout)["reports"]
        self.assertEqual((report["block"], report["others"]), ([1, 0, 0], {"count": 4, "first": [2, 0, 0], "last": [5, 0, 0]}))
        self.assertEqual(done.stderr.count("error[vm.assert]"), 1)
        self.assertIn("block (1, 0, 0), at assert, and in 4 other blocks: first (2, 0, 0), last (5, 0, 0)\n", done.stderr)

    def test_a_trap_shows_its_line(self):
        line = cli.TRAP.split("\n")[7]
        done = self.call("run", "trap.tile", "ones:f32[4]")
        lines = done.stderr.split("\n")
        self.assertTrue(lines[1].startswith("  in kernel `trap`"), done.stderr)
        self.assertEqual(lines[2], "    " + line)
        self.assertEqual(lines[3].strip(), "^")
        self.assertTrue(line[lines[3].index("^") - 4:].startswith("load_ptr_tko"), done.stderr)
        self.good("as", "-g", "trap.tile", "-o", "trap.tbc")
        self.assertIn("    " + line, self.call("run", "trap.tbc", "ones:f32[4]").stderr)
        os.remove(os.path.join(self.folder, "trap.tile"))
        self.assertNotIn(line, self.call("run", "trap.tbc", "ones:f32[4]").stderr)

    def test_a_race_shows_both_lines(self):
        self.write("race.tile", RACE)
        done = self.call("run", "race.tile", "--check=full", "--json")
        self.assertEqual(done.returncode, 4)
        first, second = RACE.split("\n")[5:7]
        self.assertRegex(done.stderr, rf"in kernel `race`.*\n    {re.escape(second)}\n +\^\n  race.tile:6:\d+:\n    {re.escape(first)}\n +\^\n")
        self.assertIn(first, json.loads(done.stdout)["reports"][0]["details"])

    def test_warnings(self):
        # A block more than the arrays have tiles.
        arguments = ("run", "vector_add.tile", "ones:f32[8]", "ones:f32[8]", "--grid", "3", "--json")
        done = self.good(*arguments)
        report = json.loads(done.stdout)
        self.assertEqual(report["result"], "ok")
        self.assertEqual([(w["code"], w["op"], w["block"]) for w in report["warnings"]],
                         [("vm.index_out_of_bounds", "load_view_tko", [1, 0, 0])] * 2 +
                         [("vm.index_out_of_bounds", "store_view_tko", [1, 0, 0])])
        self.assertEqual(done.stderr.count("warning[vm.index_out_of_bounds]"), 3)
        self.assertIn("nothing is stored; 2 times in all", done.stderr)
        done = self.call(*arguments, "--check", "full")
        self.assertEqual(done.returncode, 4)
        self.assertIn("error[vm.index_out_of_bounds]", done.stderr)

    def test_unspecified(self):
        self.write("sum.tile", SUM)
        values = {}
        for choice in ("zero", "ones", "random"):
            done = self.good("run", "sum.tile", "ones:f32[5]", "--unspecified", choice, "--json")
            values[choice] = json.loads(done.stdout)["outputs"][0]
            self.assertIn("sum.tile:9:12: warning[vm.unspecified]: elements outside of `x` along dimension 0", done.stderr)
        self.assertEqual(values["zero"]["max"], 5)
        self.assertEqual(values["ones"]["nan"], 1)
        self.assertNotEqual(values["random"]["max"], 5)
        again = json.loads(self.good("run", "sum.tile", "ones:f32[5]", "--unspecified", "random", "--json").stdout)
        self.assertEqual(again["outputs"][0]["max"], values["random"]["max"])

    def test_pointers_that_lead_into_another_array(self):
        self.write("far.tile", FAR)
        arguments = ("run", "far.tile", "ones:f32[8]", "arange:f32[8]")
        done = self.call(*arguments)
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, r"error\[vm.out_of_bounds\]: reads 4 bytes at index -?\d+ of `x` \(f32\[8\], 32 bytes\), .*, in `y` "
                                      r"\(f32\[8\], 32 bytes\)")
        self.assertIn("fix: check the index; if the pointer is meant to leave its array, allow that by --any-array", done.stderr)
        self.assertIn("3", self.good(*arguments, "--any-array").stdout)

    def test_export_writes_the_lowest_version(self):
        self.good("export", "vector_add.tile", "-o", "v.tilebc")
        self.assertEqual(self.read("v.tilebc")[8:10], bytes([13, 1]))
        self.write("new.tile", NEW)
        self.good("export", "new.tile", "-o", "new.tilebc")
        self.assertEqual(self.read("new.tilebc")[8:10], bytes([13, 3]))
        self.good("export", "vector_add.tile", "-o", "v.tilebc", "--version", "13.4")
        self.assertEqual(self.read("v.tilebc")[8:10], bytes([13, 4]))

    def test_kernel_output_leaves_stdout_alone(self):
        done = self.good("run", "prints.tile", "--json")
        self.assertEqual(json.loads(done.stdout)["outputs"][0]["max"], 7)
        self.assertEqual(done.stderr, "hello\n")
        self.assertIn("hello", self.good("run", "prints.tile").stdout)

    def test_an_output_that_is_given_begins_with_its_initial_value(self):
        done = self.good("run", "prints.tile", "--arg", "o=full:i32[1]=3", "--json")
        self.assertEqual(json.loads(done.stdout)["outputs"][0]["max"], 7)

    def test_a_recording_has_its_blocks_in_the_order_of_the_parameters(self):
        for _ in range(2):
            self.good("run", "vector_add.tile", "arange:f32[8]", "ones:f32[8]", "--record", "sum")
            record = json.loads(self.read("sum.json"))
            self.assertEqual([p[1] for p in record["params"] if p[0] == "pointer"], [0, 1, 2])
            self.assertEqual(self.read("sum.before")[:4 * 8], floats(range(8)))
            self.assertEqual(self.read("sum.after")[2 * 4 * 8:], floats(range(1, 9)))

    def test_help_tells(self):
        text = self.good("run", "--help").stdout
        for word in ("--json", "outputs", "min, max, mean", "reports"):
            self.assertIn(word, text)


if __name__ == "__main__":
    cli.main()
