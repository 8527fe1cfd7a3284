"""What tilec tells other programs, --sm's words, and what `tilevm info` says of the images.

    targets_and_json_test.py TILEC TILEVM LIBFAKE_CUDA.SO
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

TILEC, TILEVM, FAKE_CUDA = (os.path.abspath(a) for a in (sys.argv[1:4] if len(sys.argv) > 3 else ("", "", "")))
ADD = os.path.abspath("examples/vector_add.tile")
WIDE = os.path.abspath("examples/transpose.tile")  # 16 warps
ATTENTION = os.path.abspath("examples/attention.tile")  # has loops
GELU = os.path.abspath("examples/gelu.tile")  # says how many blocks there will be


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        # What looks like machine code, to the file behind -o.
        with open(os.path.join(self.folder, "ptxas"), "w", encoding="utf-8") as f:
            f.write('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done; printf "\\177ELF" > "$2"; echo "Used 12 registers"\n')
        os.chmod(f.name, 0o700)

    def call(self, tool, *arguments, stdin=None, **environment):
        env = {**os.environ, "TILEC_PTXAS": os.path.join(self.folder, "ptxas"), "TILEVM_LIBCUDA": FAKE_CUDA, **environment}
        return subprocess.run([tool, *arguments], cwd=self.folder, stdin=stdin or subprocess.DEVNULL, capture_output=True,
                              text=True, env=env, timeout=100, check=False)

    def good(self, *arguments, **more):
        done = self.call(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def targets(self):
        return [t["arch"] for t in json.loads(self.good(TILEC, "doctor", "--json").stdout)["targets"]]

    def archs(self, name):
        return [i["arch"] for i in json.loads(self.good(TILEVM, "info", name, "--json").stdout)["images"]]


class Spills(Case):
    """With an assembler that says how much it spills for how many threads, or blocks on a multiprocessor."""

    def assemble(self, kernel, cases):
        lines = "".join(f"*'{text}'*) n={spilled} ;; " for text, spilled in cases)
        return self.assemble_by(kernel, f"case $ptx in {lines} esac")

    def assemble_by(self, kernel, script):
        """The script sets n to the bytes that $ptx spills."""
        with open(os.path.join(self.folder, "ptxas"), "w", encoding="utf-8") as f:
            f.write('#!/bin/sh\nfor i; do case $i in *.ptx) ptx=$(cat "$i") ;; esac; done\nn=0\n'
                    f'{script}\nwhile [ "$1" != -o ]; do shift; done; printf "\\177ELF" > "$2"\n'
                    'echo "Used 128 registers"; echo "$n bytes spill stores"\n')
        done = self.good(TILEC, kernel, "--sm=90", "-v", "--remarks", "-o", "k.tbc")
        return [image["spill_bytes"] for image in json.loads(self.good(TILEC, kernel, "--sm=90", "--json", "-o", "k.tbc").stdout)["images"]], done.stderr

    def test_half_as_many_threads_that_spill_less(self):
        spills, said = self.assemble(WIDE, [(".reqntid 512", 500), (".reqntid 256", 80)])
        self.assertEqual(set(spills), {80})
        self.assertIn("8 warps after all: with 16 each thread spilled 500 bytes, now 80", said)

    def test_half_as_many_threads_that_spill_more_between_them(self):
        spills, said = self.assemble(WIDE, [(".reqntid 512", 500), (".reqntid 256", 1001)])
        self.assertEqual(set(spills), {500})
        self.assertNotIn("after all", said)

    # An empty assembly statement marks each value that loops compute again.
    COUNT = "again=$(echo \"$ptx\" | grep -c 'begin inline asm')\n"

    def test_addresses_again_that_spill_less(self):
        spills, said = self.assemble_by(ATTENTION, self.COUNT + "n=$((10000 - 20 * again))")
        told = re.findall(r"remark\[recompute-addresses\]: @\w+: loops compute addresses again: each thread spilled (\d+) bytes, now (\d+)", said)
        self.assertTrue(told, said)
        for before, now in told:
            self.assertLess(4 * int(now), 3 * int(before))
            self.assertIn(int(now), spills)

    def test_addresses_again_that_spill_as_much(self):
        _, said = self.assemble_by(ATTENTION, self.COUNT + "n=$((1000 + again))")
        self.assertNotIn("recompute-addresses", said)

    def test_ever_fewer_blocks(self):
        spills, _ = self.assemble(GELU, [(".minnctapersm 1", 0), (".minnctapersm", 300)])
        self.assertEqual(set(spills), {0})


class Targets(Case):
    def test_all(self):
        self.good(TILEC, ADD, "--sm=all", "-o", "k.tbc")
        archs = self.archs("k.tbc")
        self.assertEqual(list(dict.fromkeys(archs)), [arch for arch in self.targets() if not arch.endswith("f")])

    def test_all_that_ptxas_knows(self):
        with open(os.path.join(self.folder, "ptxas"), encoding="utf-8") as f:
            script = f.read()
        with open(f.name, "w", encoding="utf-8") as f:
            f.write(script.replace("#!/bin/sh\n", '#!/bin/sh\n[ "$1" = --version ] && echo "release 12.8, V12.8.61" && exit\n'))
        done = self.good(TILEC, ADD, "--sm=all", "-o", "k.tbc")
        self.assertIn("warning[codegen.old_assembler]: --sm=all leaves out 103, 110, 121: ptxas is older than these GPUs\n", done.stderr)
        archs = set(self.archs("k.tbc"))
        self.assertTrue({"sm_75", "sm_100a", "sm_120a"} <= archs and not {"sm_103a", "sm_110a", "sm_121a"} & archs, archs)

    def test_a_family_is_one_image(self):
        self.good(TILEC, ADD, "--sm=100f,sm_120f", "-o", "k.tbc")
        self.assertEqual(set(self.archs("k.tbc")), {"sm_100f", "sm_120f"})

    def test_native_is_the_gpu_of_this_machine(self):
        for cc, arch in (("90", "sm_90a"), ("86", "sm_86"), ("87", "sm_86"), ("75", "sm_75"),
                         ("103", "sm_103a"), ("107", "sm_100f")):
            self.good(TILEC, ADD, "--sm=native", "-o", "k.tbc", FAKE_CUDA_CC=cc)
            self.assertEqual(set(self.archs("k.tbc")), {arch}, cc)

    def test_native_once_for_gpus_of_a_kind(self):
        self.good(TILEC, ADD, "--sm=native,native", "--emit=ptx", "-o", "k.ptx", FAKE_CUDA_DEVICES="2")

    def test_native_without_a_gpu(self):
        done = self.call(TILEC, ADD, "--sm=native", "-o", "k.tbc", TILEVM_LIBCUDA="libno_such_driver.so.1")
        self.assertEqual(done.returncode, 5)
        self.assertTrue(done.stderr.startswith("error[cuda.no_library]: "), done.stderr)
        # Code of sm_90a runs on 9.0 only.
        done = self.call(TILEC, ADD, "--sm=native", "-o", "k.tbc", FAKE_CUDA_CC="91")
        self.assertEqual(done.returncode, 5)
        self.assertIn("error[codegen.native]: --sm=native: this machine's ", done.stderr)
        self.assertIn("is an sm_91, which no target is for", done.stderr)
        self.assertNotIn("k.tbc", os.listdir(self.folder))

    def test_the_a_forms_are_names_too(self):
        texts = {self.good(TILEC, ADD, "--sm=" + sm, "--emit=ptx", "-o", "-").stdout for sm in ("90", "90a", "sm_90", "sm_90a")}
        self.assertEqual(len(texts), 1)

    def test_what_is_no_target(self):
        near = "did you mean 90? "
        for word, fix in (("91", near), ("95", near), ("natve", "did you mean native? "), ("75a", "did you mean 75? "), ("nonsense", "")):
            done = self.call(TILEC, ADD, "--sm=" + word)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"error[usage]: --sm={word}: no such target\n", done.stderr)
            self.assertIn(fix + "known are 75, 80, ", done.stderr)
            self.assertEqual("did you mean" in done.stderr, bool(fix))
            self.assertIn(", 90, 100, 100f, ", done.stderr)
            self.assertTrue(done.stderr.endswith(", all and native\n"), done.stderr)

    def test_a_misspelled_command_is_no_file(self):
        done = self.call(TILEC, "doctr")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no command or file `doctr`\n  fix: did you mean doctor?", done.stderr)


class Json(Case):
    def test_a_compilation(self):
        done = self.good(TILEC, ADD, "--sm=80,90", "-o", "k.tbc", "--json")
        self.assertEqual(done.stdout.count("\n"), 1)
        result = json.loads(done.stdout)
        self.assertEqual((result["result"], result["output"], result["emit"], result["diagnostics"]), ("ok", "k.tbc", "tbc", []))
        self.assertEqual({i["arch"] for i in result["images"]}, {"sm_80", "sm_90a"})
        for image in result["images"]:
            self.assertEqual((image["kernel"], image["symbol"], image["kind"], image["registers"], image["spill_bytes"], image["bytes"]),
                             ("vector_add", "vector_add", "cubin", 12, 0, 4))
            self.assertIn(image["threads"], (32, 64, 128, 256, 512))
            self.assertGreater(image["llvm_instructions"], 0)
            self.assertEqual(image["cluster"], [1, 1, 1])
        self.assertTrue(result["remarks"])
        self.assertEqual(done.stderr, "")
        said = self.good(TILEC, ADD, "--sm=80,90", "-o", "k.tbc", "--json", "--remarks")
        self.assertEqual(said.stderr.splitlines(), json.loads(said.stdout)["remarks"])

    def test_ptx_knows_no_registers(self):
        image = json.loads(self.good(TILEC, ADD, "--sm=90", "-o", "k.ptx", "--json").stdout)["images"][0]
        self.assertEqual((image["kind"], image["registers"], image["spill_bytes"]), ("ptx", None, None))

    def test_info_says_the_same(self):
        made = json.loads(self.good(TILEC, ADD, "--sm=80,90", "-o", "k.tbc", "--json").stdout)["images"]
        info = json.loads(self.good(TILEVM, "info", "k.tbc", "--json").stdout)
        for image in made:
            del image["spill_bytes"], image["llvm_instructions"]
        self.assertEqual(info["images"], made)
        self.assertEqual(info["bytes"], os.path.getsize(os.path.join(self.folder, "k.tbc")))
        self.assertIs(info["debug"], False)
        self.assertIsInstance(info["code_bytes"], int)
        self.assertEqual(info["kernels"][0]["name"], "vector_add")
        # As text, each requirement on a line of its own; from stdin, too.
        with open(os.path.join(self.folder, "k.tbc"), "rb") as f:
            text = self.good(TILEVM, "info", "-", stdin=f).stdout
        self.assertTrue(text.startswith("<stdin>: module"), text)
        self.assertEqual(text.count("\n    image sm_"), len(made))
        self.assertIn("\n    image sm_90a cubin `vector_add`, ", text)
        self.assertIn(" 12 registers, ", text)
        requirements = [r for i in made for r in i["requires"]]
        self.assertTrue(requirements)
        for r in requirements:
            self.assertIn("\n      requires " + r + "\n", text)

    def test_rejected_input(self):
        for name, text in (("wrong.tile", "entry @k(%a: tile<i32>) {\n  %b = addf %a, %a : tile<i32>\n  return\n}\n"),
                           ("broken.tile", "entry @k( {\n")):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
                f.write(text)
            done = self.call(TILEC, name, "--sm=90", "-o", "k.ptx", "--json")
            self.assertEqual(done.returncode, 1)
            result = json.loads(done.stdout)
            self.assertEqual(result["result"], "rejected")
            first = result["diagnostics"][0]
            self.assertEqual((first["severity"], first["file"]), ("error", name))
            self.assertGreater(first["line"], 0)
            self.assertGreater(first["col"], 0)
            self.assertIn(f"{name}:{first['line']}:{first['col']}: error[{first['code']}]: {first['message']}\n", done.stderr)

    def test_other_failures(self):
        for arguments, code, word in (([ADD, "--json"], 2, "usage"), ([ADD, "--sm=90", "--json", "--nonsense"], 2, "usage"),
                                      ([ADD, "--sm=90", "-o", "-", "--json"], 2, "usage"),
                                      (["missing", "--sm=90", "--json"], 1, "rejected"),
                                      ([ADD, "--sm=90", "-o", "missing/k.ptx", "--json"], 5, "environment")):
            done = self.call(TILEC, *arguments)
            self.assertEqual(done.returncode, code, done.stderr)
            result = json.loads(done.stdout)
            self.assertEqual((result["result"], len(result["diagnostics"])), (word, 1))
            self.assertEqual(result["diagnostics"][0]["severity"], "error")

    def test_doctor(self):
        found = json.loads(self.good(TILEC, "doctor", "--json", FAKE_CUDA_CC="89", FAKE_CUDA_VERSION="12080").stdout)
        archs = [t["arch"] for t in found["targets"]]
        self.assertEqual([archs[0], len(set(archs))], ["sm_75", len(archs)])
        self.assertLessEqual({"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_100f"}, set(archs))
        rows = {r["what"]: r for r in found["findings"]}
        self.assertEqual(rows["ptxas"]["found"], os.path.join(self.folder, "ptxas"))
        self.assertIsNone(rows["ptxas"]["without"])
        self.assertEqual(rows["driver"]["found"], "CUDA 12.8")
        self.assertTrue(rows["gpu"]["found"].endswith(", sm_89: --sm=89"), rows["gpu"])
        found = json.loads(self.good(TILEC, "doctor", "--json", TILEVM_LIBCUDA="libno_such_driver.so.1").stdout)
        rows = {r["what"]: r for r in found["findings"]}
        self.assertIsNone(rows["driver"]["found"])
        self.assertIn("not run on a GPU here", rows["driver"]["without"])
        self.assertIn("not found: ", self.good(TILEC, "doctor", TILEVM_LIBCUDA="libno_such_driver.so.1").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
