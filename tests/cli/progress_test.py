"""A progress bar: on a terminal, after two seconds, and nowhere else.    progress_test.py TILEVM"""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

import cli

BAR = re.compile(rb"#*-*  \d+%  slow: \d+ of 1000000 blocks")


class Progress(cli.Case):
    def on_terminal(self, *arguments, until, columns=100, environment=(), limit=150):
        """Runs with stderr on a terminal until `until` matches what it shows or `limit` seconds have passed. What was shown,
        and the seconds until the first byte."""
        try:
            master, slave = pty.openpty()
        except OSError as error:
            self.skipTest("no terminals on this machine: %s" % error)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        env = {**os.environ, "TERM": "xterm", **dict(environment)}
        env.pop("NO_COLOR", None) if "NO_COLOR" not in dict(environment) else None
        start = time.monotonic()
        process = subprocess.Popen([cli.TILEVM, *arguments], cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        shown, first = b"", None
        try:
            while time.monotonic() - start < limit and not until.search(shown):
                if not select.select([master], [], [], 0.2)[0]:
                    if process.poll() is not None:
                        break
                    continue
                try:
                    piece = os.read(master, 65536)
                except OSError:  # the other end is closed
                    break
                first = first if first is not None else time.monotonic() - start
                shown += piece
        finally:
            process.kill()
            process.wait()
            os.close(master)
        return shown, first

    def write_lasting(self, seconds, blocks):
        """ends.tile: so many blocks that take about so long together, however fast the machine and the build are."""
        def write(rounds):
            self.write("ends.tile", cli.SLOW.replace("grid 1000000", f"grid {blocks}").replace("i32: 2000>", f"i32: {rounds}>"))

        rounds, took = 20, 0.0
        while took < 0.5:
            rounds *= 2
            write(rounds)
            start = time.monotonic()
            subprocess.run([cli.TILEVM, "run", "ends.tile"], cwd=self.folder, capture_output=True, check=True)
            took = time.monotonic() - start
        write(int(rounds * seconds / took))

    def test_appears_after_two_seconds(self):
        for command in (["run", "slow.tile"], ["bench", "slow.tile"]):
            shown, first = self.on_terminal(*command, until=BAR)
            self.assertRegex(shown, BAR)
            self.assertGreaterEqual(first, 1.9)
            self.assertIn(b"\x1b[32m", shown)

    def test_inputs_are_made(self):
        self.write("eight.tile", "entry @eight(%x: tile<ptr<f8E4M3FN>>, %n: tile<i64>) interface {\n"
                                 "  in x: f8E4M3FN[%n] at %x\n  grid 1\n} {\n  return\n}\n")
        bar = re.compile(rb"#*-*  \d+%  making x: (\d+) of 900000000 elements")
        shown, first = self.on_terminal("run", "eight.tile", "rand:f8E4M3FN[900000000]=0..1", until=bar)
        self.assertRegex(shown, bar)
        self.assertGreaterEqual(first, 1.9)
        self.assertGreater(int(bar.search(shown).group(1)), 0)

    def test_outputs_are_written(self):
        path = os.path.join(self.folder, "slow.bin")
        os.mkfifo(path)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # who never reads
        self.addCleanup(os.close, reader)
        bar = re.compile(rb"#*-*  \d+%  writing slow\.bin: \d+ of 4000000 bytes")
        shown, _ = self.on_terminal("run", "vector_add.tile", "ones:f32[1000000]", "ones:f32[1000000]", "-o", "slow.bin", until=bar)
        self.assertRegex(shown, bar)

    def test_many_short_launches_show_one_bar(self):
        draws = re.compile(rb"(?:  (\d+)%  vector_add: \d+ of 98 blocks.*?){8}", re.DOTALL)
        shown, _ = self.on_terminal("bench", "vector_add.tile", "ones:f32[400000]", "ones:f32[400000]", "--seconds", "60", until=draws)
        self.assertRegex(shown, draws)
        self.assertNotIn(b"\r\x1b[K", shown)  # erased between launches, nobody would see it

    def test_blocks_are_counted(self):
        done = re.compile(rb"slow: (\d+) of")
        shown, _ = self.on_terminal("run", "slow.tile", until=re.compile(rb"(?:slow: [^\r]*\r.*){5}", re.DOTALL))
        counts = [int(n) for n in done.findall(shown)]
        self.assertGreater(counts[-1], 0)
        self.assertEqual(counts, sorted(counts))

    def test_no_color(self):
        shown, _ = self.on_terminal("run", "slow.tile", until=BAR, environment={"NO_COLOR": "1"}.items())
        self.assertRegex(shown, BAR)
        self.assertNotIn(b"\x1b[32m", shown)

    def test_fits_a_narrow_terminal(self):
        shown, _ = self.on_terminal("run", "slow.tile", until=re.compile(rb"%  sl"), columns=40)
        line = re.sub(rb"\x1b\[[0-9]*[mK]", b"", shown).split(b"\r")[-1]
        self.assertLess(len(line), 40)

    def test_never_for_json_or_short_runs_or_dumb_terminals(self):
        never = re.compile(rb"(?!)")
        shown, _ = self.on_terminal("run", "vector_add.tile", "ones:f32[8]", "ones:f32[8]", until=never)
        self.assertEqual(shown, b"")
        self.write_lasting(5, blocks=1)
        for arguments, environment in ((["--json"], {}), ([], {"TERM": "dumb"})):
            start = time.monotonic()
            shown, _ = self.on_terminal("run", "ends.tile", *arguments, until=never, environment=environment.items())
            self.assertGreater(time.monotonic() - start, 2.0)  # else this tests nothing
            self.assertEqual(shown, b"")

    def test_never_in_a_pipe(self):
        process = subprocess.Popen([cli.TILEVM, "run", "slow.tile"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            with self.assertRaises(subprocess.TimeoutExpired):
                process.communicate(timeout=3.5)
        finally:
            process.kill()
        self.assertEqual(process.communicate()[1], b"")

    def test_line_is_erased_at_the_end(self):
        self.write_lasting(10, blocks=300)
        shown, _ = self.on_terminal("run", "ends.tile", until=re.compile(rb"(?!)"), limit=1500)
        self.assertIn(b" of 300 blocks", shown)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown[-60:])


if __name__ == "__main__":
    cli.main()
