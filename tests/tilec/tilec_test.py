"""tilec: what it writes, and what wrong use gives. Needs no GPU; machine code only where ptxas is.    tilec_test.py TILEC"""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TILEC = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""
EXAMPLES = os.path.abspath("examples")
SMS = ("75", "80", "90", "100", "120")

NO_MATH = ("vector_add", "histogram", "transpose", "matmul_bf16", "scatter_add", "prefix_sum", "float_max", "lock", "row_sum")


class Tilec(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def call(self, *arguments, **environment):
        return subprocess.run([TILEC, *arguments], cwd=self.folder.name, capture_output=True, text=True,
                              env={**os.environ, "NO_COLOR": "1", **environment}, timeout=100)

    def example(self, name):
        return os.path.join(EXAMPLES, name + ".tile")

    def fails(self, done, code, begins, leaves=()):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertTrue(done.stderr.startswith(begins), done.stderr)
        self.assertEqual(done.stderr.count("error["), 1, done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder.name)), sorted(leaves))

    def needs_ptxas(self):
        if re.search(r"^ptxas .*not found", self.call("doctor").stdout, re.MULTILINE):
            self.skipTest("ptxas was not found")

    def test_ptx_of_examples_for_every_target(self):
        for name in NO_MATH:
            for sm in SMS:
                done = self.call(self.example(name), "--sm=" + sm, "--emit=ptx", "-o", "-")
                self.assertEqual(done.returncode, 0, f"{name} sm_{sm}: {done.stderr}")
                self.assertIn(f".target sm_{sm}", done.stdout)
                self.assertIn(".entry", done.stdout)

    def test_same_input_same_output(self):
        outputs = {self.call(self.example("matmul_bf16"), "--sm=90", "--emit=ptx", "-o", "-").stdout for _ in range(2)}
        self.assertEqual(len(outputs), 1)

    def test_matrix_products_use_the_targets_instructions(self):
        ptx = self.call(self.example("matmul_bf16"), "--sm=80", "--emit=ptx", "-o", "-").stdout
        self.assertIn("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", ptx)
        self.assertIn("ldmatrix.sync", ptx)

    def test_aligned(self):
        ptx = [self.call(self.example("vector_add"), "--sm=90", "--emit=ptx", "-o", "-", *flags).stdout for flags in ([], ["--aligned"])]
        self.assertIn("ld.global.b32", ptx[0])
        self.assertNotIn("ld.global.b32", ptx[1])
        for text in ptx:
            self.assertIn("ld.global.v4.b32", text)

    def test_contended_additions_meet_in_shared_memory(self):
        ptx = self.call(self.example("histogram"), "--sm=90", "--emit=ptx", "-o", "-").stdout
        self.assertIn("red.relaxed.cta.shared.add.u32", ptx)
        self.assertIn("red.relaxed.gpu.global.add", ptx)

    def test_stages(self):
        add = self.example("vector_add")
        self.assertIn("registers (1) (2)", self.call(add, "--sm=90", "--emit=gpu").stdout)
        self.assertNotIn("registers (1) (2)", self.call(add, "--sm=90", "--emit=tile").stdout)
        self.assertIn(" = addf ", self.call(add, "--sm=90", "--emit=tile").stdout)
        self.assertIn("define ptx_kernel void @vector_add", self.call(self.example("vector_add"), "--sm=90", "--emit=llvm").stdout)

    def script(self, name, lines):
        """An executable that plays ptxas."""
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + lines)
        os.chmod(path, 0o700)
        return path

    # Writes what looks like machine code to the file behind -o.
    ASSEMBLES = 'while [ "$1" != -o ]; do shift; done; printf "\\177ELF" > "$2"; echo "Used 12 registers"\n'

    def test_machine_code_as_text(self):
        add, ptxas = self.example("vector_add"), self.script("ptxas", self.ASSEMBLES)
        shows = self.script("nvdisasm", 'test "$1" = -c && head -c 4 "$2" | tail -c 3 && echo " FADD"\n')
        done = self.call(add, "--sm=90", "--emit=sass", TILEC_PTXAS=ptxas, TILEC_NVDISASM=shows)
        self.assertEqual((done.returncode, done.stdout), (0, "ELF FADD\n"), done.stderr)
        breaks = self.script("breaks", "echo I broke >&2; exit 1\n")
        done = self.call(add, "--sm=90", "--emit=sass", "-o", "k.sass", TILEC_PTXAS=ptxas, TILEC_NVDISASM=breaks)
        self.assertEqual(done.returncode, 5)
        self.assertIn("error[codegen.nvdisasm]: " + breaks + " failed: I broke", done.stderr)
        done = self.call(add, "--sm=90", "--emit=sass", TILEC_PTXAS=ptxas, TILEC_NVDISASM="/nonexistent")
        self.assertEqual(done.returncode, 5)
        self.assertIn("error[codegen.nvdisasm]: no nvdisasm", done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["breaks", "nvdisasm", "ptxas"])

    def passes(self):
        """The passes of the table, as the help prints them; the last one is ptxas."""
        told = " ".join(self.call("compile", "--help").stdout.split())
        return re.search(r"\bresolve-hints, [\w, -]*?\bptxas\b", told)[0].split(", ")

    def test_print_after(self):
        passes = self.passes()
        self.assertEqual(passes[0], "resolve-hints")
        self.assertGreater(len(passes), 15)
        ptxas = self.script("ptxas", self.ASSEMBLES)
        add = self.example("vector_add")
        texts = {}
        for name in passes:
            done = self.call(add, "--sm=90", "-o", "k.cubin", "--print-after=" + name, TILEC_PTXAS=ptxas)
            self.assertEqual(done.returncode, 0, done.stderr)
            head = f"// ---- after {name}: @vector_add for sm_90a ----\n"
            self.assertTrue(done.stderr.startswith(head), done.stderr)
            texts[name] = done.stderr
        self.assertIn('kernel {num_warps = 4, why = "the largest tile, tile<4096xf32>', texts["choose-schedule"])
        self.assertIn("registers (1) (2)", texts["assign-layouts"])
        self.assertIn("define ptx_kernel void @vector_add", texts["emit-llvm"])
        self.assertNotEqual(texts["emit-llvm"].split("\n", 1)[1], texts["mark-rare"].split("\n", 1)[1])
        self.assertIn(".target sm_90a", texts["print-ptx"])
        self.assertIn("Used 12 registers", texts["ptxas"])
        done = self.call(add, "--sm=90", "-o", "k.cubin", "--print-after=all", TILEC_PTXAS=ptxas)
        self.assertEqual(done.stderr, "".join(texts[name] for name in passes))

    def test_tile_code_of_a_pass_can_be_read_back(self):
        text = self.call(self.example("matmul_bf16"), "--sm=90", "--emit=tile").stdout
        self.assertIn(" = copy_ahead iter_values(", text)
        text = self.call(self.example("softmax"), "--sm=90", "--emit=tile").stdout
        path = os.path.join(self.folder.name, "sliced.tile")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = self.call(path, "--sm=90", "-o", "k.ptx", "--verify-each")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_start_after(self):
        """The passes behind one make the same PTX of its text."""
        passes = self.passes()
        passes = passes[:passes.index("emit-llvm")]
        self.assertIn("account-memory", passes)
        path = os.path.join(self.folder.name, "program")
        for name, flags in (("matmul_bf16", ["--descriptors"]), ("matmul_bf16", ["--aligned"]), ("softmax", [])):
            ptx = self.call(self.example(name), "--sm=90", "--emit=ptx", "-o", "-", *flags).stdout
            for after in passes:
                done = self.call(self.example(name), "--sm=90", "--emit=ptx", "-o", "-", "--print-after=" + after, *flags)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(done.stderr)
                done = self.call(path, "--sm=90", "--emit=ptx", "-o", "-", "--start-after=" + after, "--verify-each",
                                 "--schedule-seeds=3", *flags)
                self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", ptx), f"{name} {flags} behind {after}")

    def test_start_after_used_wrongly(self):
        path = os.path.join(self.folder.name, "program")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.call(self.example("vector_add"), "--sm=90", "-o", "-", "--emit=ptx", "--print-after=slice").stderr)
        for flags, code, error in (
            (["--start-after=emit-llvm"], 2, "error[usage]: --start-after=emit-llvm: no pass over tile code has this name"),
            (["--start-after=slice", "--emit=tbc"], 2, "error[usage]: --start-after with tbc"),
            (["--start-after=slice", "--emit=tile"], 2, "error[usage]: --emit=tile is the text of pass slice"),
            (["--start-after=choose-schedule"], 1, "program:1:1: error[codegen.text]: this is the text of pass slice, not of choose-schedule"),
        ):
            done = self.call("program", "--sm=90", "-o", "k", *(["--emit=ptx"] if "--emit" not in flags[-1] else []), *flags)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertTrue(done.stderr.startswith(error), done.stderr)
        with open(path, "w", encoding="utf-8") as file:
            file.write("// ---- after slice: @k for sm_90a ----\nentry @k() {\n  nothing\n}\n")
        done = self.call("program", "--sm=90", "--emit=ptx", "-o", "k", "--start-after=slice")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertTrue(done.stderr.startswith("program:3:3: error[text.unknown_op]"), done.stderr)

    def test_warps(self):
        for warps in ("1", "16"):
            done = self.call(self.example("vector_add"), "--sm=90", "-o", "k.ptx", "--warps=" + warps)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(self.folder.name, "k.ptx")) as ptx:
                self.assertIn(f".reqntid {32 * int(warps)}", ptx.read())
        for wrong in ("3", "0", "32", "many"):
            done = self.call(self.example("vector_add"), "--sm=90", "-o", "k.ptx", "--warps=" + wrong)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--warps", done.stderr)

    def test_time_passes(self):
        done = self.call(self.example("vector_add"), "--sm=90", "-o", "k.ptx", "--time-passes")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(lines[0].split(), ["ms", "share", "runs", "pass"])
        self.assertEqual([row.split()[-1] for row in lines[1:]],
                         [*self.passes()[:-1], "all"])
        self.assertAlmostEqual(sum(float(row.split()[0]) for row in lines[1:-1]), float(lines[-1].split()[0]), delta=0.01)

    def test_bisect(self):
        """Few steps: less is done. All steps: the same as without the option."""
        def ptx(*more):
            done = self.call(self.example("histogram"), "--sm=90", "--emit=ptx", "-o", "-", *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done
        none, everything = ptx("--opt-bisect-limit=0"), ptx("--opt-bisect-limit=-1")
        self.assertEqual(everything.stdout, ptx().stdout)
        self.assertNotIn("shared.add", none.stdout)
        self.assertIn("shared.add", everything.stdout)
        self.assertNotIn("taking", none.stderr)
        steps = everything.stderr.splitlines()
        self.assertRegex(steps[0], r"^bisect: taking step 1: simplify: @histogram$")
        self.assertTrue(any(re.search(r": combine-updates: atomic_rmw_tko at .*histogram\.tile:\d+:\d+$", s) for s in steps), steps)
        self.assertTrue(any(re.search(r": vector: load_ptr_tko at .*histogram\.tile:21:12$", s) for s in steps), steps)
        self.assertTrue(any("SROAPass: histogram" in s for s in steps), steps)
        two = ptx("--opt-bisect-limit=2").stderr.splitlines()
        self.assertEqual([s for s in two if "taking" in s], steps[:2])

    def test_remarks(self):
        def remarks(text, sm="90"):
            path = os.path.join(self.folder.name, "k.tile")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = self.call("k.tile", "--sm=" + sm, "--emit=ptx", "-o", "-", "--remarks")
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stderr
        matmul = self.call(self.example("matmul"), "--sm=90", "-o", "k.ptx", "--remarks").stderr
        self.assertIn("remark[choose-schedule]: @matmul: ", matmul)
        self.assertIn("stride 0 is not known to be a multiple of 4", matmul)
        copy = """entry @k(%a: tile<ptr<f32>>) {{
  %v = make_tensor_view {base}, shape = [4096], strides = [{stride}] : tensor_view<4096xf32, strides=[{stride}]>
  %p = make_partition_view %v : partition_view<tile=(4096), tensor_view<4096xf32, strides=[{stride}]>>
  %i = constant <i32: 0> : tile<i32>
  %x, %t = load_view_tko weak %p[%i] : partition_view<tile=(4096), tensor_view<4096xf32, strides=[{stride}]>>, tile<i32> -> tile<4096xf32>, token
  %u = store_view_tko weak %x, %p[%i] : tile<4096xf32>, partition_view<tile=(4096), tensor_view<4096xf32, strides=[{stride}]>>, tile<i32> -> token
  return
}}
"""
        assumed = copy.replace("{{\n", "{{\n  %b = assume div_by<16>, %a : tile<ptr<f32>>\n", 1).format(base="%b", stride=1)
        self.assertIn("k.tile:6:12: remark[vector]: load_view_tko: 4 elements (16 bytes) at a time\n", remarks(assumed))
        self.assertIn("the address is not known to be a multiple of 16 bytes", remarks(copy.format(base="%a", stride=1)))
        self.assertIn("load_view_tko: element by element: no dimension is known to have stride 1", remarks(copy.format(base="%a", stride=2)))

    def test_header(self):
        ptxas = self.script("ptxas", self.ASSEMBLES)
        add = self.example("vector_add")
        for out, flags in (("my-add.h", []), ("other", ["--emit=header"])):
            done = self.call(add, "--sm=80,90", "-o", out, *flags, TILEC_PTXAS=ptxas)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.call(add, "--sm=80,90", "-o", "k.tbc", TILEC_PTXAS=ptxas).returncode, 0)
        with open(os.path.join(self.folder.name, "my-add.h"), encoding="utf-8") as file:
            self.assertIn("kernel vector_add: tile code, machine code for sm_80, sm_90a", file.read())
        program = ('#include <stdint.h>\n#include <stdio.h>\n#include "my-add.h"\n#include "my-add.h"\n#include "other"\n'
                   "int main(void) {\n  if ((uintptr_t)my_add_tbc % 64 != 0 || other_tbc_size != my_add_tbc_size) return 1;\n"
                   "  return fwrite(my_add_tbc, 1, my_add_tbc_size, stdout) != sizeof my_add_tbc;\n}\n")
        for compiler, flags, name in (("gcc", ["-std=c11"], "p.c"), ("g++", ["-std=c++11"], "p.cc")):
            with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as file:
                file.write(program)
            subprocess.run([compiler, *flags, "-Wall", "-Wextra", "-Werror", name, "-o", "p"], cwd=self.folder.name, check=True)
            carried = subprocess.run(["./p"], cwd=self.folder.name, check=True, capture_output=True).stdout
            with open(os.path.join(self.folder.name, "k.tbc"), "rb") as file:
                self.assertEqual(carried, file.read())
            self.assertEqual(carried.count(b"\x7fELF"), 4)  # for aligned arrays and for any, for two GPUs

    def bundle_of(self, done):
        self.assertEqual(done.returncode, 70, done.stderr)
        self.assertEqual(done.stderr.count("error["), 1, done.stderr)
        folders = [f for f in os.listdir(self.folder.name) if f.startswith("tilec-crash-")]
        self.assertEqual(len(folders), 1)
        self.assertIn(folders[0] + " holds", done.stderr)
        return os.path.join(self.folder.name, folders[0])

    def check_bundle(self, bundle, input_name, error):
        def text(name):
            with open(os.path.join(bundle, name), encoding="utf-8") as file:
                return file.read()
        self.assertEqual(sorted(os.listdir(bundle)), sorted({
            "error.txt", "module.tbc", "repeat.sh", "versions.txt", input_name,
            *(f"vector_add.sm_90a.{s}.txt" for s in self.passes()[:-1])}))
        self.assertIn(error, text("error.txt"))
        self.assertIn("LLVM", text("versions.txt"))
        self.assertIn("the fake one", text("versions.txt"))
        self.assertIn(".entry vector_add", text("vector_add.sm_90a.print-ptx.txt"))
        return text("repeat.sh")

    REFUSES = 'test "$1" = --version && { echo the fake one; exit; }\necho "ptxas fatal: I do not like it"; exit 1\n'

    def test_bundle_when_ptxas_refuses(self):
        ptxas = self.script("ptxas", self.REFUSES)
        done = self.call(self.example("vector_add"), "--sm=90", "-O2", "--lineinfo", "-o", "k.tbc", TILEC_PTXAS=ptxas, TMPDIR=self.folder.name)
        bundle = self.bundle_of(done)
        self.assertIn("I do not like it", done.stderr)
        script = self.check_bundle(bundle, "vector_add.tile", "I do not like it")
        self.assertIn("compile --sm=90 --opt=2 --lineinfo -o k.tbc -- vector_add.tile", script)
        self.assertFalse(os.path.exists(os.path.join(self.folder.name, "k.tbc")))
        other = os.path.join(self.folder.name, "other")
        os.mkdir(other)
        again = subprocess.run([os.path.join(bundle, "repeat.sh")], env={**os.environ, "TILEC": TILEC, "TILEC_PTXAS": ptxas, "TMPDIR": other},
                               capture_output=True, text=True, timeout=100)
        self.assertEqual(again.returncode, 70, again.stderr)
        self.assertIn("I do not like it", again.stderr)

    def test_bundle_of_a_crash(self):
        """ptxas kills the compiler, as a mistake in it would. The input comes from a pipe."""
        for number in (11, 6, 8):
            # It runs while LLVM works, and has read all when that is done; the file it reads is the last argument but two, or any.
            ptxas = self.script("ptxas", f'test "$1" = --version && {{ echo the fake one; exit; }}\n'
                                         f'for f; do test -e "$f" && cat "$f" >/dev/null; done\nkill -{number} $PPID; sleep 1; exit 1\n')
            with open(self.example("vector_add"), "rb") as file:
                done = subprocess.run([TILEC, "-", "--sm=90", "-o", "-"], stdin=file, cwd=self.folder.name, capture_output=True, text=True, timeout=100,
                                      env={**os.environ, "TILEC_PTXAS": ptxas, "TMPDIR": self.folder.name})
            self.assertIn(f"error[internal.crash]: the compiler crashed with signal {number:02}", done.stderr)
            self.assertEqual(done.stdout, "")
            bundle = self.bundle_of(done)
            script = self.check_bundle(bundle, "module.tbc", f"signal {number:02}")
            self.assertIn("-- module.tbc", script)
            for name in os.listdir(bundle):
                os.remove(os.path.join(bundle, name))
            os.rmdir(bundle)

    def test_no_place_for_a_bundle(self):
        ptxas = self.script("ptxas", self.REFUSES)
        done = self.call(self.example("vector_add"), "--sm=90", "-o", "k.cubin", TILEC_PTXAS=ptxas, TMPDIR="/nonexistent")
        self.assertEqual(done.returncode, 5, done.stderr)  # ptxas has no place either
        self.assertIn("error[codegen.io]", done.stderr)

    def test_no_bundle_for_users_mistakes(self):
        with open(os.path.join(self.folder.name, "k.tile"), "w", encoding="utf-8") as file:
            file.write("entry @k() {\n  %a = alloc_shared alignment = 16 : tensor_view<60000xf32, strides=[1], shared>\n  return\n}\n")
        done = self.call("k.tile", "--sm=90", "-o", "k.ptx", TMPDIR=self.folder.name)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(os.listdir(self.folder.name), ["k.tile"])

    def test_signals_leave_nothing(self):
        """While ptxas runs: its process, that one's children and the temporary folder go, too."""
        ptxas = self.script("ptxas", 'sleep 100 & echo $! > "$NOTE.new"; mv "$NOTE.new" "$NOTE"; wait\n')
        note = os.path.join(self.folder.name, "note")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            temporary = os.path.join(self.folder.name, "temporary")
            os.mkdir(temporary)
            tilec = subprocess.Popen([TILEC, self.example("vector_add"), "--sm=90", "-o", "k.tbc"], cwd=self.folder.name, stderr=subprocess.PIPE, text=True,
                                     env={**os.environ, "TILEC_PTXAS": ptxas, "TMPDIR": temporary, "NOTE": note})
            self.until(lambda: os.path.exists(note))
            self.assertEqual({n[:6] for n in os.listdir(temporary)}, {"tilec-"})
            tilec.send_signal(number)
            self.assertEqual(tilec.communicate(timeout=60)[1], "")
            self.assertEqual(tilec.returncode, -number)
            self.assertEqual(os.listdir(temporary), [])
            self.assertFalse(os.path.exists(os.path.join(self.folder.name, "k.tbc")))
            with open(note, encoding="utf-8") as file:
                sleeper = file.read().strip()
            self.until(lambda: not self.runs(sleeper))
            os.rmdir(temporary)
            os.remove(note)

    def until(self, condition):
        for _ in range(600):
            if condition():
                return
            time.sleep(0.1)
        self.fail("waited in vain")

    def runs(self, process):
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8") as file:
                return file.read().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def test_ptxas_although_children_are_ignored(self):
        ptxas = self.script("ptxas", self.ASSEMBLES)
        done = subprocess.run([TILEC, self.example("vector_add"), "--sm=90", "-o", "k.cubin"],
                              cwd=self.folder.name, capture_output=True, text=True, timeout=100,
                              env={**os.environ, "TILEC_PTXAS": ptxas}, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_any_name(self):
        """The machine code is found by the recorded symbol; -v says it."""
        ptxas = self.script("ptxas", self.ASSEMBLES)
        for name, symbol in (("a.b", "tile$a$2eb"), ("1a", "tile$1a"), ("größe", "tile$gr$c3$b6$c3$9fe"), ("a b", "tile$a$20b"), ("WARP_SZ", "tile$WARP_SZ"),
                             ("plain", None)):
            with open(os.path.join(self.folder.name, "k.tile"), "w", encoding="utf-8") as file:
                file.write(f'entry @"{name}"() {{\n  return\n}}\n')
            done = self.call("k.tile", "--sm=90", "-o", "k.ptx", "-v")
            self.assertEqual(done.returncode, 0, done.stderr)
            if symbol:
                self.assertTrue(done.stderr.endswith(f" LLVM instructions, symbol {symbol}\n"), done.stderr)
            else:
                self.assertNotIn("symbol", done.stderr)
            with open(os.path.join(self.folder.name, "k.ptx"), encoding="utf-8") as file:
                self.assertIn(f".entry {symbol or name}(", file.read())
            done = self.call("k.tile", "--sm=90", "-o", "k.tbc", TILEC_PTXAS=ptxas)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(self.folder.name, "k.tbc"), "rb") as file:
                self.assertIn((symbol or name).encode(), file.read())

    def test_verbose_says_what_is_known(self):
        add = self.example("vector_add")
        ptx = self.call(add, "--sm=90", "-o", "k.ptx", "-v").stderr
        self.assertRegex(ptx, r"^@vector_add for sm_90a: 128 threads, \d+ bytes of shared memory, \d+ LLVM instructions\n$")
        ptxas = self.script("ptxas", self.ASSEMBLES)
        cubin = self.call(add, "--sm=90", "-o", "k.cubin", "-v", TILEC_PTXAS=ptxas).stderr
        self.assertRegex(cubin, r"^@vector_add for sm_90a: 128 threads, 12 registers, \d+ bytes of shared memory, 0 bytes spilled, \d+ LLVM instructions\n$")

    def test_errors_begin_with_the_place(self):
        add = self.example("vector_add")
        self.fails(self.call(add, "--sm=90", "--emit=ptx", "-o", "missing/k.ptx"), 5, "missing/k.ptx: error[output.write]: ")
        self.fails(self.call(add, "--sm=90", "--emit=ptx", "-o", add), 2, add + ": error[output.same]: ")

    def test_extensions_that_say_nothing(self):
        add = self.example("vector_add")
        for out in ("x.foo", "x", "x.cubin.gz", "x.tile"):
            done = self.call(add, "--sm=90", "-o", out)
            self.fails(done, 2, out + ": error[output.form]: the extension does not say what to write")
            self.assertIn("known are .cubin, .tbc, .h, .ptx, .sass; or say --emit", done.stderr)
        self.assertEqual(self.call(add, "--sm=90", "--emit=ptx", "-o", "x.foo").returncode, 0)
        self.assertEqual(os.listdir(self.folder.name), ["x.foo"])

    def test_extensions_that_say_something_else(self):
        add = self.example("vector_add")
        kept = {name: b"kept " + name.encode() for name in ("k.tbc", "k.cubin", "k.ptx", "k.h", "k.sass", "k.tile", "k.ttir")}
        for name, contents in kept.items():
            with open(os.path.join(self.folder.name, name), "wb") as file:
                file.write(contents)
        for option, out, fix in (
                ("--explain", "k.tbc", "write -o FILE.txt; without --explain, -o k.tbc writes tbc"), ("--emit=explain", "k.cubin", "write -o FILE.txt"),
                ("--emit=ptx", "k.cubin", "write -o FILE.ptx; without --emit=ptx, -o k.cubin writes cubin"), ("--emit=cubin", "k.ptx", "write -o FILE.cubin"),
                ("--emit=tbc", "k.h", "write -o FILE.tbc"), ("--emit=header", "k.tbc", "write -o FILE.h"), ("--emit=sass", "k.cubin", "write -o FILE.sass"),
                ("--emit=llvm", "k.ptx", "write -o FILE.txt"), ("--emit=gpu", "k.tbc", "write -o FILE.txt"), ("--emit=ptx", "k.tile", "write -o FILE.ptx"),
                ("--emit=cubin", "k.ttir", "write -o FILE.cubin"), ("--explain", "k.tile", "write -o FILE.txt"), ("--embed", "k.ptx", "write -o FILE.tbc")):
            with self.subTest(option=option, out=out):
                done = self.call(add, "--sm=90", option, "-o", out)
                self.fails(done, 2, out + ": error[output.form]: ", leaves=kept)
                self.assertIn("does not write what the extension says\n  fix: " + fix, done.stderr)
        for name, contents in kept.items():
            with open(os.path.join(self.folder.name, name), "rb") as file:
                self.assertEqual(file.read(), contents)
        for option, out in (("--emit=ptx", "k.ptx"), ("--emit=tile", "k.tile"), ("--emit=llvm", "k.ll"), ("--emit=ptx", "k.txt"), ("--emit=ptx", "/dev/null")):
            self.assertEqual(self.call(add, "--sm=90", option, "-o", out).returncode, 0, (option, out))

    def test_rows_with_weights(self):
        """Norms over wide rows, whose store may overwrite what was loaded, take few registers."""
        self.needs_ptxas()
        path = os.path.join(self.folder.name, "k.tile")
        for rows, columns in ((1, 65536), (4, 65536), (2, 32768), (8, 8192), (64, 1024), (4, 16384)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"""entry @norm(%x: tile<ptr<f16>>, %w: tile<ptr<f32>>, %b: tile<ptr<f32>>, %o: tile<ptr<f16>>, %n: tile<i32>) {{
  %block, %by, %bz = get_tile_block_id
  %first = muli %block, {rows}
  %rows = iota : tile<{rows}xi32>
  %row = reshape %rows : tile<{rows}x1xi32>
  %columns = iota : tile<{columns}xi32>
  %column = reshape %columns : tile<1x{columns}xi32>
  %number = addi %row, %first
  %line = muli %number, %n
  %place = addi %line, %column
  %inside = cmpi less_than %column, %n signed
  %inside_all = broadcast %inside -> tile<{rows}x{columns}xi1>
  %x1 = reshape %x : tile<1x1xptr<f16>>
  %xp = offset %x1, %place
  %half, %t0 = load_ptr_tko weak %xp, %inside_all, 0.0
  %v = ftof %half : tile<{rows}x{columns}xf32>
  %square = mulf %v, %v
  %sum = reduce %square dim=1 identities=[0.0] (%e, %a) {{
    %r = addf %e, %a
    yield %r
  }}
  %sum1 = reshape %sum : tile<{rows}x1xf32>
  %factor = rsqrt %sum1
  %w1 = reshape %w : tile<1x1xptr<f32>>
  %wp = offset %w1, %column
  %weight, %t1 = load_ptr_tko weak %wp, %inside, 0.0
  %b1 = reshape %b : tile<1x1xptr<f32>>
  %bp = offset %b1, %column
  %bias, %t2 = load_ptr_tko weak %bp, %inside, 0.0
  %scaled = mulf %v, %factor
  %result = fma %scaled, %weight, %bias
  %rounded = ftof %result : tile<{rows}x{columns}xf16>
  %o1 = reshape %o : tile<1x1xptr<f16>>
  %op = offset %o1, %place
  %all = join_tokens %t0, %t1, %t2
  store_ptr_tko weak %op, %rounded, %inside_all token = %all
  return
}}
""")
            for sm in ("80", "86", "90", "120"):
                with self.subTest(rows=rows, columns=columns, sm=sm):
                    done = self.call("k.tile", "--sm=" + sm, "-v", "--time-limit=20", "-o", "k.cubin")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertLessEqual(int(re.search(r"(\d+) bytes spilled", done.stderr)[1]), 64, done.stderr)

    def test_many_parameters(self):
        path = os.path.join(self.folder.name, "k.tile")

        # A kernel of so many pointers, and the sum of all that they point to.
        def call(pointers, sm, emit, out):
            names = [f"%p{i}" for i in range(pointers)]
            lines = ["entry @many(" + ", ".join(f"{n}: tile<ptr<f32>>" for n in names) + ") {", "  %s = constant <f32: 0.0>"]
            for i, name in enumerate(names):
                lines += [f"  %x{i} = load_ptr_tko weak {name}", f"  %s{i} = addf %x{i}, %s{i - 1 if i else ''}"]
            lines += [f"  store_ptr_tko weak %p0, %s{pointers - 1}", "  return", "}"]
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
            return self.call("k.tile", "--sm=" + sm, "-O1", "--emit=" + emit, "-o", out)

        # 4,096 bytes with the 32 of the runtime, and more, which PTX knows from 8.1 on and drivers from CUDA 12.1.
        for pointers, sm, version in ((508, "75", "7.5"), (509, "75", "8.1"), (509, "80", "8.1"), (509, "86", "8.1"), (509, "90", "8.4"), (4091, "80", "8.1")):
            done = call(pointers, sm, "ptx", "-")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f".version {version}\n", done.stdout)
        # One more than fits.
        for sm, emit in (("80", "ptx"), ("90", "ptx"), ("75", "cubin"), ("120", "tbc")):
            done = call(4092, sm, emit, "k." + emit)
            self.fails(done, 1, "k.tile:1:7: error[codegen.parameters]: the 4092 parameters of kernel @many take 32768 bytes with those that the runtime adds",
                       leaves=["k.tile"])
            self.assertIn("a GPU takes at most 32764\n", done.stderr)
            self.assertIn("\n  fix: pass one array that holds the addresses or the numbers, or split the kernel", done.stderr)
            self.assertNotIn("mistake of the compiler", done.stderr)
        self.needs_ptxas()
        for sm in ("75", "80", "86", "90"):
            done = call(600, sm, "tbc", "k.tbc")
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_old_assembler(self):
        ptxas = self.script("ptxas", 'test "$1" = --version && { echo the fake one; exit; }\n'
                                     "echo \"ptxas fatal   : Unsupported .version 8.4; current version is '7.8'\"\nexit 255\n")
        done = self.call(self.example("vector_add"), "--sm=90", "-o", "k.cubin", TILEC_PTXAS=ptxas)
        self.fails(done, 5, "error[codegen.old_assembler]: the assembler is older than what this kernel needs: Unsupported .version 8.4", leaves=["ptxas"])
        self.assertIn("  fix: install a newer CUDA toolkit", done.stderr)

    def test_version(self):
        self.assertRegex(self.call("--version").stdout, r"^tilec \d+\.\d+\.\d+\n$")

    def test_wrong_use(self):
        add = self.example("vector_add")
        self.fails(self.call(add), 2, "error[usage]: no --sm")
        for sm, nearest in (("91", "90"), ("95", "90"), ("sm_95a", "90"), ("88", "89"), ("70", "75"), ("105", "103"), ("125", "121"), ("nativ", "native")):
            done = self.call(add, "--sm=" + sm)
            self.fails(done, 2, f"error[usage]: --sm={sm}: no such target")
            self.assertIn(f"did you mean {nearest}?", done.stderr)
        self.fails(self.call("--sm=90"), 2, "error[usage]: no input file")
        self.fails(self.call(add, "--sm=90", "--emit=cuda"), 2, "error[usage]: --emit=cuda")
        self.fails(self.call(add, "--sm=90", "--print-after=nothing"), 2, "error[usage]: --print-after=nothing: no such pass")
        self.fails(self.call(add, "--sm=90", "--opt-bisect-limit=x"), 2, "error[usage]: --opt-bisect-limit x")
        self.fails(self.call(add, "--sm=80,90", "--emit=ptx"), 2, "error[usage]: one --sm at a time")
        self.fails(self.call(add, "--sm=90", "--kernel", "nobody"), 1, add + ": error[")
        self.fails(self.call("missing.tile", "--sm=90"), 1, "missing.tile: error[")

    def test_without_ptxas(self):
        self.fails(self.call(self.example("vector_add"), "--sm=90", TILEC_PTXAS="/nonexistent"), 5, "error[codegen.ptxas]: no ptxas")

    def test_assembler_in_process(self):
        add = self.example("vector_add")
        self.fails(self.call(add, "--sm=90", TILEC_NVJITLINK="/nonexistent"), 5, "error[codegen.ptxas]: no ptxas and no nvJitLink")
        self.fails(self.call(add, "--sm=90", TILEC_NVJITLINK=add), 5, f"error[codegen.nvjitlink]: {add} can't be opened: ")
        other = next(line.split()[-1] for line in open("/proc/self/maps", encoding="utf-8") if "/libc.so" in line)
        self.fails(self.call(add, "--sm=90", TILEC_NVJITLINK=other), 5, f"error[codegen.nvjitlink]: {other} has no function nvJitLink")
        row = [line.split() for line in self.call("doctor").stdout.splitlines() if line.startswith("nvJitLink")][0]
        if row[1] == "not":
            self.skipTest("no nvJitLink on this machine")
        done = self.call(add, "--sm=90", "-v", "-o", "k.cubin", TILEC_NVJITLINK=row[1])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "128 threads, [1-9][0-9]* registers")
        with open(os.path.join(self.folder.name, "k.cubin"), "rb") as file:
            self.assertEqual(file.read(4), b"\x7fELF")

    def test_what_a_target_has_not(self):
        path = os.path.join(self.folder.name, "k.tile")
        with open(path, "w", encoding="utf-8") as file:
            file.write("entry @k() {\n  %a = alloc_shared alignment = 16 : tensor_view<60000xf32, strides=[1], shared>\n  return\n}\n")
        done = self.call("k.tile", "--sm=90", "--emit=ptx", "-o", "k.ptx")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("k.tile:2:8: error[codegen.shared]: kernel @k needs 240000 bytes of shared memory; sm_90a offers 232448 to a "
                      "block: alloc_shared needs 240000 for the array", done.stderr)
        self.assertEqual(os.listdir(self.folder.name), ["k.tile"])

    def test_time_limit(self):
        # What goes around the loop stands in registers, a thousand of each thread.
        path = os.path.join(self.folder.name, "k.tile")
        tile, view = "tile<524288xf32>", "tensor_view<524288xf32, strides=[1]>"
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"""entry @k(%x: tile<ptr<f32>>, %n: tile<i32>) {{
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %t = make_tensor_view %x, shape = [524288], strides = [1] : {view}
  %v = make_partition_view %t : partition_view<tile=(524288), {view}>
  %a, %read = load_view_tko weak %v[%zero] -> {tile}, token
  %last = for %round in (%zero to %n, step %one) : tile<i32> iter_values(%p = %a) -> ({tile}) {{
    %q = mulf %p, %p : {tile}
    continue %q : {tile}
  }}
  store_view_tko weak %last, %v[%zero] token = %read -> token
  return
}}
""")
        temporary = os.path.join(self.folder.name, "tmp")
        os.mkdir(temporary)
        # An assembler that takes longer than anybody waits, should the compiler be quick.
        ptxas = self.script("ptxas", 'test "$1" = --version && { echo the fake one; exit; }\nexec sleep 50\n')
        done = self.call("k.tile", "--sm=90", "--time-limit=1", "-o", "k.cubin", TMPDIR=temporary, TILEC_PTXAS=ptxas)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertRegex(done.stderr, "error\\[compile.time\\]: @k for sm_90a: [a-z-]+: not done after the 1 second that --time-limit allows")
        self.assertIn("k.tile:", done.stderr)
        self.assertEqual(os.listdir(temporary), [])
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["k.tile", "ptxas", "tmp"])
        self.assertEqual(self.call("k.tile", "--sm=90", "--time-limit=0").returncode, 2)

    def test_progress(self):
        """On a terminal, after two seconds, with kernel, GPU and pass; gone when it is done."""
        # An assembler that waits to be let go on.
        ptxas = self.script("ptxas", 'test "$1" = --version && { echo the fake one; exit; }\n'
                                     'while [ ! -e go ]; do sleep 0.1; done\n' + self.ASSEMBLES)
        try:
            master, slave = pty.openpty()
        except OSError as error:
            self.skipTest("no terminals on this machine: %s" % error)
        env = {**os.environ, "TERM": "xterm", "TILEC_PTXAS": ptxas}
        process = subprocess.Popen([TILEC, self.example("vector_add"), "--sm=90", "-o", "k.cubin"], cwd=self.folder.name, env=env,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave)
        os.close(slave)
        bar, gone = b"%  @vector_add for sm_90a: ptxas", b"\r\x1b[K"
        shown, start = b"", time.monotonic()
        try:
            while time.monotonic() - start < 100:
                if bar in shown:
                    open(os.path.join(self.folder.name, "go"), "w").close()
                if select.select([master], [], [], 0.2)[0]:
                    try:
                        shown += os.read(master, 65536)
                    except OSError:  # the other end is closed
                        break
                elif process.poll() is not None:
                    break
        finally:
            if bar not in shown:
                process.kill()
            process.communicate()
            os.close(master)
        self.assertIn(bar, shown)
        self.assertEqual(process.returncode, 0, shown)
        self.assertTrue(shown.endswith(gone), shown)

    def test_machine_code(self):
        if "not found" in [line for line in self.call("doctor").stdout.splitlines() if line.startswith("ptxas")][0]:
            self.skipTest("no ptxas on this machine")
        done = self.call(self.example("vector_add"), "--sm=80,90", "-v", "-o", "k.tbc")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("@vector_add for sm_90a: 128 threads", done.stderr)
        with open(os.path.join(self.folder.name, "k.tbc"), "rb") as file:
            self.assertEqual(file.read().count(b"\x7fELF"), 4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
