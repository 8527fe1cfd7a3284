"""tilevm run --check=full and --order: what they say and where.    check_test.py TILEVM"""

import json

import cli

# Block 0 reads what block 1 has written if it finds its flag, without an acquire: a race only if block 1 runs first.
RACE = """entry @race(%data: tile<ptr<i32>>, %flag: tile<ptr<i32>>, %got: tile<ptr<i32>>) interface {
  inout data: i32[1] at %data
  inout flag: i32[1] at %flag
  out got: i32[1] at %got init zero
  grid 2
} {
  %x, %y, %z = get_tile_block_id
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %reads = cmpi equal %x, %zero, signed -> tile<i1>
  if %reads {
    %f, %seen = load_ptr_tko relaxed device %flag -> tile<i32>, token
    %set = cmpi equal %f, %one, signed -> tile<i1>
    if %set {
      %v, %read = load_ptr_tko weak %data token = %seen -> tile<i32>, token
      %kept = store_ptr_tko weak %got, %v
    }
  } else {
    %put = store_ptr_tko weak %data, %one
    %told = store_ptr_tko relaxed device %flag, %one token = %put
  }
  print_tko "block %i\\n", %x
  return
}
"""

# The block that counts itself last leaves its number.
LAST = """entry @last(%count: tile<ptr<i32>>, %who: tile<ptr<i32>>) interface {
  inout count: i32[1] at %count
  out who: i32[1] at %who
  grid 8
} {
  %i, %j, %k = get_tile_block_id
  %old, %t = atomic_rmw_tko acq_rel device %count, add, 1
  %c = cmpi equal %old, 7, signed
  if %c {
    store_ptr_tko weak %who, %i token = %t
  }
  return
}
"""

# Writes the first of its outputs, and to its input if asked.
STORES = """entry @stores(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>, %to_input: tile<i1>) interface {
  in x: i32[2,2] at %x
  out y: i32[2,2] at %y
  scalar to_input = %to_input
  grid 1
} {
  %one = constant <i32: 1> : tile<i32>
  if %to_input {
    %last = constant <i32: 3> : tile<i32>
    %p = offset %x, %last
    %done = store_ptr_tko weak %p, %one
  }
  %done = store_ptr_tko weak %y, %one
  return
}
"""

# The first element of the last row.
WRAPS = """entry @wraps(%x: tile<ptr<i8>>, %y: tile<ptr<i8>>, %rows: tile<i32>) interface {
  in x: i8[4] at %x
  out y: i8[1] at %y
  scalar rows = %rows
  grid 1
} {
  %first = muli %rows, %rows
  %p = offset %x, %first
  %v, %read = load_ptr_tko weak %p -> tile<i8>, token
  %done = store_ptr_tko weak %y, %v
  return
}
"""

INPUTS = ("zeros:i32[1]", "zeros:i32[1]")


class Check(cli.Case):
    def setUp(self):
        super().setUp()
        for name, text in (("race", RACE), ("stores", STORES), ("wraps", WRAPS)):
            self.write(name + ".tile", text)

    def test_another_order_finds_it_and_repeats_it(self):
        done = self.call("run", "race.tile", *INPUTS, "--check=full")
        self.assertEqual(done.returncode, 4)
        self.assertIn("race.tile:15:19: error[vm.race]: reads `data`[0], which block (1, 0, 0) wrote", done.stderr)
        self.assertIn("when blocks start in the order reverse; repeat it with --order=reverse", done.stderr)
        again = self.call("run", "race.tile", *INPUTS, "--check=full", "--order=reverse")
        self.assertEqual((again.returncode, again.stderr), (4, done.stderr))
        self.assertEqual(self.call("run", "race.tile", *INPUTS, "--check=full", "--order=linear").returncode, 0)
        report = json.loads(self.call("run", "race.tile", *INPUTS, "--check=full", "--json").stdout)
        self.assertEqual((report["orders"], report["reports"][0]["order"]), (2, "reverse"))

    def test_orders_without_checks(self):
        self.assertIn("got: i32[1]  0", self.good("run", "race.tile", *INPUTS, "-t1").stdout)
        printed = {order: self.good("run", "race.tile", *INPUTS, "-t1", "--order", order).stdout.splitlines()
                   for order in ("linear", "reverse", "random:5")}
        self.assertEqual(printed["linear"][:2], ["block 0", "block 1"])
        self.assertEqual(printed["reverse"][:2], ["block 1", "block 0"])
        self.assertEqual(sorted(printed["random:5"][:2]), ["block 0", "block 1"])
        self.assertIn("got: i32[1]  1", printed["reverse"])

    def test_results_that_depend_on_the_order(self):
        self.write("last.tile", LAST)
        done = self.call("run", "last.tile", "zeros:i32[1]", "--check=full")
        self.assertEqual(done.returncode, 4)
        self.assertIn("last.tile:10:5: error[vm.order]: `who`[0] depends on the order of blocks: 7 in the order linear, 0 in the order reverse",
                      done.stderr)
        self.assertNotIn("repeat it", done.stderr)  # one order alone does not show it
        for order, last in (("linear", 7), ("reverse", 0)):
            self.assertIn(f"who: i32[1]  {last}", self.good("run", "last.tile", "zeros:i32[1]", "-t1", f"--order={order}").stdout)
            self.assertEqual(self.call("run", "last.tile", "zeros:i32[1]", "--check=full", f"--order={order}").returncode, 0)

    def test_says_how_many_and_prints_once(self):
        self.write("fine.tile", RACE.replace("if %set {", "%never = constant <i1: false> : tile<i1>\n    if %never {"))
        done = self.good("run", "fine.tile", *INPUTS, "--check=full")
        self.assertEqual(done.stderr, "note: checked in 8 orders of blocks\n")
        self.assertEqual(done.stdout.splitlines()[:2], ["block 0", "block 1"])
        self.assertEqual(done.stdout.count("block"), 2)
        # Results are those of the linear order, memory is as that left it.
        self.assertIn("data: i32[1]  1", done.stdout)
        self.assertEqual(self.good("run", "fine.tile", *INPUTS, "--check=full", "--order=random").stderr, "")
        self.assertEqual(json.loads(self.good("run", "fine.tile", *INPUTS, "--check=full", "--json").stdout)["orders"], 8)
        done = self.good("run", "matmul.tile", "ones:f32[200,3]", "ones:f32[3,100]", "--check=full")
        self.assertRegex(done.stderr, r"^note: checked in [2-8] orders of blocks\n$")

    def test_outputs_must_be_written_and_inputs_not(self):
        done = self.call("run", "stores.tile", "zeros:i32[2,2]", "-a", "to_input=false", "--check=full")
        self.assertEqual(done.returncode, 4)
        self.assertIn("stores.tile:1:", done.stderr)
        self.assertIn("error[vm.not_written]: 3 of the 4 elements of `y` were never written, first [0, 1]\n  in kernel `stores`\n",
                      done.stderr)
        # Also if the caller brings the memory.
        done = self.call("run", "stores.tile", "zeros:i32[2,2]", "-a", "y=zeros:i32[2,2]", "-a", "to_input=false", "--check=full")
        self.assertIn("3 of the 4 elements of `y` were never written", done.stderr)
        done = self.call("run", "stores.tile", "zeros:i32[2,2]", "-a", "to_input=true", "--check=full")
        self.assertEqual(done.returncode, 4)
        self.assertIn("stores.tile:11:13: error[vm.write_to_input]: writes `x`[1, 1], an `in` array", done.stderr)
        self.assertEqual(done.stderr.count("error["), 1)
        for value in ("true", "false"):
            self.good("run", "stores.tile", "zeros:i32[2,2]", "-a", "to_input=" + value)

    def test_a_warning_lets_it_run(self):
        done = self.good("run", "wraps.tile", "arange:i8[4]", "-a", "rows=65536", "--check=full")
        self.assertIn("wraps.tile:7:12: warning[vm.index_wrap]: 65536 * 65536 does not fit i32 and becomes 0; ", done.stderr)
        self.assertIn("fix: compute it in a wider type", done.stderr)
        self.assertIn("y: i8[1]  0", done.stdout)
        done = self.good("run", "wraps.tile", "arange:i8[4]", "-a", "rows=65536", "--check=full", "--json")
        self.assertEqual(json.loads(done.stdout)["warnings"][0]["code"], "vm.index_wrap")
        for arguments in (("rows=1", "--check=full"), ("rows=65536",)):
            self.assertEqual(self.good("run", "wraps.tile", "arange:i8[4]", "-a", *arguments).stderr, "")


if __name__ == "__main__":
    cli.main()
