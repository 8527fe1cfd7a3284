"""Kernels with symbols of C++: called by what C++ calls them, with parameters of the types that stand in the symbol."""

import json

import cli

KERNELS = """entry @_Z5scalePKfPfib(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>, %twice: tile<i8>) {
  %at = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %v = make_partition_view %at : partition_view<tile=(4), padding_value = zero, tensor_view<?xf32, strides=[1]>>
  %bt = make_tensor_view %y, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %w = make_partition_view %bt : partition_view<tile=(4), tensor_view<?xf32, strides=[1]>>
  %i, %j, %k = get_tile_block_id : tile<i32>
  %a, %t = load_view_tko weak %v[%i] : partition_view<tile=(4), padding_value = zero, tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<4xf32>, token
  %f = itof %twice unsigned rounding<nearest_even> : tile<i8> -> tile<f32>
  %r = reshape %f : tile<f32> -> tile<1xf32>
  %b = broadcast %r : tile<1xf32> -> tile<4xf32>
  %s = mulf %a, %b : tile<4xf32>
  %sum = addf %a, %s : tile<4xf32>
  %u = store_view_tko weak %sum, %w[%i] : tile<4xf32>, partition_view<tile=(4), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
  return
}

entry @_Z4sameIfEvPT_(%x: tile<ptr<f32>>) {
  return
}

entry @_Z4sameIiEvPT_(%x: tile<ptr<i32>>) {
  return
}
"""


class CppNames(cli.Case):
    def setUp(self):
        super().setUp()
        self.write("k.tile", KERNELS)

    def test_run_by_name(self):
        for name in ("scale", "_Z5scalePKfPfib", "scale(float const*,float*,int,bool)"):
            done = self.good("run", "k.tile", "-k", name, "-g", "1", "arange:f32[4]", "zeros:f32[4]", "4", "true")
            # An input is no result.
            self.assertEqual(done.stdout, "y: f32[4]  0 2 4 6\nmin 0, max 6, mean 3\n")

    def test_bool_takes_numbers_too(self):
        done = self.good("run", "k.tile", "-k", "scale", "-g", "1", "arange:f32[4]", "zeros:f32[4]", "4", "0", "-o", "-.txt")
        self.assertEqual(done.stdout.split(), ["0", "1", "2", "3"])
        done = self.call("run", "k.tile", "-k", "scale", "-g", "1", "arange:f32[4]", "zeros:f32[4]", "4", "2")
        self.assertEqual(done.returncode, 1)
        self.assertIn("argument `twice`", done.stderr)

    def test_what_is_missing(self):
        done = self.call("run", "k.tile", "-k", "scale", "-g", "1", "arange:f32[4]")
        self.assertEqual(done.returncode, 1)
        self.assertIn("parameter 1 of kernel `scale` (float*) is missing", done.stderr)

    def test_names_that_fit_several_or_none(self):
        done = self.call("run", "k.tile", "-k", "same", "-g", "1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("2 kernels are called `same`", done.stderr)
        self.assertIn("same<int>(int*) [_Z4sameIiEvPT_]", done.stderr)
        self.good("run", "k.tile", "-k", "same<int>", "-g", "1", "zeros:i32[1]")
        done = self.call("run", "k.tile", "-k", "sam", "-g", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no kernel `sam`", done.stderr)

    def test_info(self):
        text = self.good("info", "k.tile").stdout
        self.assertIn("kernel scale: 4 parameters", text)
        self.assertIn("    symbol _Z5scalePKfPfib\n", text)
        self.assertIn("parameter 3: tile<i8>, bool\n", text)
        kernels = json.loads(self.good("info", "k.tile", "--json").stdout)["kernels"]
        self.assertEqual([k["cpp_name"] for k in kernels],
                         ["scale(float const*, float*, int, bool)", "same<float>(float*)", "same<int>(int*)"])

    def test_mistakes_name_the_kernel(self):
        done = self.call("run", "k.tile", "-k", "scale", "-g", "1", "arange:f32[2]", "zeros:f32[4]", "4", "true")
        self.assertEqual(done.returncode, 4)
        self.assertIn("in kernel `scale`, block (0, 0, 0)", done.stderr)


if __name__ == "__main__":
    cli.main()
