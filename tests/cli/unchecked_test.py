"""--check=none: what a kernel does outside of its memory ends with words and the exit code of a trapped kernel.

    unchecked_test.py TILEVM
"""

import cli

TRAPPED = 4

# Reads or writes 2^40 elements behind its array.
FAR = """entry @far(%y: tile<ptr<i32>>) interface {
  inout y: i32[16] at %y
  grid BLOCKS
} {
  %k = constant <i64: 1099511627776> : tile<i64>
  %p = offset %y, %k
  ACCESS
  return
}
"""
READ = "%v, %t = load_ptr_tko weak %p -> tile<i32>, token\n  store_ptr_tko weak %y, %v"
WRITE = "%v = constant <i32: 1> : tile<i32>\n  store_ptr_tko weak %p, %v"


class Unchecked(cli.Case):
    def far(self, access, blocks=1):
        self.write("far.tile", FAR.replace("ACCESS", access).replace("BLOCKS", str(blocks)))

    def check(self, *arguments):
        done = self.call(*arguments)
        self.assertEqual(done.returncode, TRAPPED, done.stderr)
        self.assertEqual(done.stderr, "far.tile: error[vm.left_memory]: the kernel @far left its memory, which --check=none allows\n"
                                      "  fix: run it again with --check=bounds to see where\n")

    def test_reads_and_writes(self):
        for access in (READ, WRITE):
            self.far(access)
            self.check("run", "far.tile", "zeros:i32[16]", "--check=none")
            before = self.files()
            self.check("run", "far.tile", "zeros:i32[16]", "--check=none", "-o", "y.npy")
            self.assertEqual(self.files(), before)

    def test_many_threads_at_once(self):
        self.far(WRITE, 1000)
        self.check("run", "far.tile", "zeros:i32[16]", "--check=none", "--threads=8")

    def test_bench(self):
        self.far(READ)
        self.check("bench", "far.tile", "zeros:i32[16]", "--check=none")

    def test_the_advice_helps(self):
        self.far(READ)
        done = self.call("run", "far.tile", "zeros:i32[16]", "--check=bounds")
        self.assertEqual(done.returncode, TRAPPED, done.stderr)
        self.assertIn("far.tile:7:12: error[vm.out_of_bounds]", done.stderr)

    def test_kernels_that_stay_inside(self):
        self.good("run", "vector_add.tile", "zeros:f32[100]", "zeros:f32[100]", "--check=none", "--expect", "c=zeros:f32[100]")


if __name__ == "__main__":
    cli.main()
