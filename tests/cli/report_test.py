"""tilevm run --json: one object with everything about the run.    report_test.py TILEVM"""

import json

import cli


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
            "kernel": "vector_add", "grid": [1, 1, 1], "blocks": 1, "result": "ok",
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

    def test_kernel_output_leaves_stdout_alone(self):
        done = self.good("run", "prints.tile", "--json")
        self.assertEqual(json.loads(done.stdout)["outputs"][0]["max"], 7)
        self.assertEqual(done.stderr, "hello\n")
        self.assertIn("hello", self.good("run", "prints.tile").stdout)

    def test_help_tells(self):
        text = self.good("run", "--help").stdout
        for word in ("--json", "outputs", "min, max, mean", "reports"):
            self.assertIn(word, text)


if __name__ == "__main__":
    cli.main()
