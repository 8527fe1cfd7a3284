"""Misspelled words, completion and manual, stdin, terminals that are not to be steered.    manners_test.py TILEVM"""

import json
import os
import pty
import subprocess

import cli

ADD = ["run", "vector_add.tile", "ones:f32[8]", "ones:f32[8]"]

# Texts that would colour the screen, ring the bell and retitle the window.
STEERS = r"""entry @steers(%out: tile<ptr<i32>>) interface {
  out o: i32[1] at %out init zero
  grid 1
} {
  %no = constant <i1: 0> : tile<i1>
  %t = print_tko "printed \x1b[31m\x07 \xff\x00 gr\xc3\xb6\xc3\x9fe\n" : token
  assert %no, "claimed \x1b]0;title\x07 \xff" : tile<i1>
  return
}
"""


class Words(cli.Case):
    def says(self, arguments, *parts):
        done = self.call(*arguments)
        self.assertIn(done.returncode, (1, 2))
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_misspelled(self):
        self.says(["rum"], "error[usage]: no command `rum`\n  fix: did you mean run? `tilevm --help` lists them")
        self.says(["help", "verfy"], "no command `verfy`", "did you mean verify?")
        self.says(["quite-another"], "no command `quite-another`\n  fix: `tilevm --help` lists them")
        self.says(["run", "--gird", "1"], "unknown option --gird\n  fix: did you mean --grid? `run --help` lists them")
        self.says(["run", "--thread=1"], "did you mean --threads?")
        self.says(["ops", "adf"], "there is no operation `adf`\n  fix: did you mean addf? `tilevm ops` lists them")
        self.says(["ops", "relu"], "there is no operation `relu`\n  fix: write maxf %x, 0.0; `tilevm ops` lists them")
        self.says(["ops", "torch.where"], "fix: write select %c, %x, %y; `tilevm ops` lists them")
        listed = self.good("ops", "load").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in listed], ["load_ptr_tko", "load_view_tko", "multimem_load_reduce_view_tko"])

    def test_tolerances_want_an_expectation(self):
        for name in ("--rtol", "--atol", "--ulp"):
            self.says([*ADD, name, "1"], f"error[usage]: {name} without --expect")
        self.good(*ADD, "--rtol", "1", "--expect", "full:f32[8]=2")

    def test_completion(self):
        for shell in ("bash", "zsh"):
            script = self.good("completion", shell).stdout
            for word in ("replay", "--rtol", "--check", "none bounds full", "atomic_rmw_tko"):
                self.assertIn(word, script)
        self.assertEqual(self.call("completion", "fish").returncode, 2)
        # As bash does it.
        self.write("complete.sh", self.good("completion", "bash").stdout +
                   'COMP_WORDS=(tilevm "$@"); COMP_CWORD=$#; _tilevm; echo "${COMPREPLY[*]}"\n')
        for words, offered in ((["ver"], "verify"), (["run", "--che"], "--check"), (["run", "--check", "f"], "full"),
                               (["replay", "--check", "=", "b"], "bounds"), (["ops", "atomic_rmw_t"], "atomic_rmw_tko"),
                               (["run", "vec"], "")):
            done = subprocess.run(["bash", "complete.sh", *words], cwd=self.folder, capture_output=True, text=True, check=True)
            self.assertEqual((done.stdout, done.stderr), (offered + "\n", ""), words)

    def test_manual(self):
        page = self.good("manual").stdout
        self.assertTrue(page.startswith(".TH TILEVM 1 "), page[:40])
        for word in (".SS tilevm run K [INPUTS…] [options]", r"\-\-rtol R", ".SH \"EXIT STATUS\""):
            self.assertIn(word, page)

    def test_help_of_what_is_no_command(self):
        for word in ("manual", "completion"):
            for arguments in ([word, "--help"], [word, "-h"], ["help", word]):
                self.assertTrue(self.good(*arguments).stdout.startswith(f"usage: tilevm {word}"), arguments)
        self.says(["manual", "run"], "error[usage]: `manual` takes no arguments\n  fix: `tilevm manual | man -l -` shows")

    def test_version(self):
        for word in ("--version", "-V", "-v", "version"):
            self.assertRegex(self.good(word).stdout, r"^tilevm \d+\.\d+\.\d+\n$")
        self.says(["-v", "run"], "no command `-v`")
        self.says(["versoin"], "did you mean version?")


class Stdin(cli.Case):
    def feed(self, name, *arguments):
        with open(os.path.join(self.folder, name), "rb") as f:
            return self.call(*arguments, stdin=f)

    def test_forms(self):
        self.good("run", "vector_add.tile", "arange:f32[8]", "zeros:f32[8]", "-o", "c.npy", "-o", "c=c.npz", "-o", "c=c.bin")
        for name, spelled in (("c.npy", "-.npy"), ("c.npy", "-"), ("c.npz", "-.npz"), ("c.npz", "-.npz:c"), ("c.bin", "-.bin:f32[8]"),
                              ("c.bin", "-:f32[8]")):
            done = self.feed(name, "run", "vector_add.tile", spelled, "zeros:f32[8]", "--expect", "c.npy")
            self.assertEqual(done.returncode, 0, spelled + done.stderr)
        done = self.feed("c.npy", "run", "vector_add.tile", "-.txt", "zeros:f32[8]")
        self.assertIn("-.txt: error[run.value]: stdin is read as -.npy, -.npz, -.safetensors, -.png or -.bin", done.stderr)

    def test_every_command_reads_a_program(self):
        self.good("as", "vector_add.tile", "-o", "k.tbc")
        for name in ("vector_add.tile", "k.tbc"):
            for arguments in (["info"], ["verify"], ["dis"], ["as", "-o", "x.tbc"], ["export", "-o", "x.tilebc"]):
                done = self.feed(name, arguments[0], "-", *arguments[1:])
                self.assertEqual(done.returncode, 0, f"{arguments} {done.stderr}")
            for command in ("run", "bench"):
                done = self.feed(name, command, "-", "ones:f32[8]", "ones:f32[8]")
                self.assertEqual(done.returncode, 0, done.stderr)
        done = self.feed("x.tilebc", "import", "-", "-o", "y.tbc")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_twice_is_an_error(self):
        self.good(*ADD, "-o", "c.npy")
        again = "can be read once, and was read already"
        for arguments in (["run", "vector_add.tile", "-", "-"], ["run", "vector_add.tile", "-.npy", "-:f32[8]"],
                          ["run", "vector_add.tile", "-", "ones:f32[8]", "--expect", "-"]):
            done = self.feed("c.npy", *arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn(again, done.stderr)
            self.assertEqual(done.stderr.count("error["), 1, done.stderr)
        done = self.feed("vector_add.tile", "verify", "-", "-")
        self.assertEqual((done.returncode, done.stdout), (1, "<stdin>: ok\n"))
        self.assertIn(again, done.stderr)

    def test_where_it_cannot_be(self):
        self.assertIn("error[usage]: a recorded launch is several files", self.call("replay", "-").stderr)
        self.assertIn("error[usage]: inputs cannot come from stdin",
                      self.call("diff", "vector_add.tile", "-", "-", "--with", "vector_add.tile").stderr)


class Terminal(cli.Case):
    def setUp(self):
        super().setUp()
        self.write("steers.tile", STEERS)

    def on_terminal(self, *arguments, **environment):
        """What a terminal receives from stdout and stderr."""
        try:
            master, slave = pty.openpty()
        except OSError as error:
            self.skipTest("no terminals on this machine: %s" % error)
        env = {"TERM": "xterm", "PATH": os.environ["PATH"], **environment}
        process = subprocess.Popen([cli.TILEVM, *arguments], cwd=self.folder, env=env, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
        os.close(slave)
        shown = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
        os.close(master)
        process.wait(timeout=60)
        return shown.replace(b"\r\n", b"\n")

    def test_texts_of_a_module_do_not_steer(self):
        shown = self.on_terminal("run", "steers.tile", NO_COLOR="1")
        self.assertIn(b"printed \\x1b[31m\\x07 \\xff\\x00 gr\xc3\xb6\xc3\x9fe\n", shown)
        self.assertIn(b"claimed \\x1b]0;title\\x07 \\xff", shown)
        self.assertNotIn(b"\x1b", shown)
        self.assertNotIn(b"\x07", shown)

    def test_into_a_pipe_a_print_goes_as_it_is_and_a_diagnostic_does_not(self):
        done = subprocess.run([cli.TILEVM, "run", "steers.tile"], cwd=self.folder, capture_output=True, check=False)
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stdout, b"printed \x1b[31m\x07 \xff\x00 gr\xc3\xb6\xc3\x9fe\n")
        self.assertIn(b"claimed \\x1b]0;title\\x07 \\xff", done.stderr)

    def test_json_of_a_trap_is_utf8(self):
        done = subprocess.run([cli.TILEVM, "run", "steers.tile", "--json"], cwd=self.folder, capture_output=True, check=False)
        report = json.loads(done.stdout.decode("utf-8"))
        self.assertIn("claimed \\x1b]0;title\\x07 \\xff", report["reports"][0]["message"])

    def test_names(self):
        self.write("a\x1b[2Jb.tile", cli.PRINTS)
        for arguments in (["info", "a\x1b[2Jb.tile"], ["verify", "a\x1b[2Jb.tile"], ["verify", "no\x1b[2Jsuch"]):
            shown = self.on_terminal(*arguments, NO_COLOR="1")
            self.assertIn(b"\\x1b[2J", shown)
            self.assertNotIn(b"\x1b", shown)

    def test_color(self):
        red = b"\x1b[1;31m"
        self.assertIn(red, self.on_terminal("verify", "missing"))
        for environment in ({"TERM": "dumb"}, {"TERM": ""}, {"NO_COLOR": "1"}):
            self.assertNotIn(b"\x1b", self.on_terminal("verify", "missing", **environment))


if __name__ == "__main__":
    cli.main()
