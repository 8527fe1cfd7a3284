"""A process that may not have more memory ends with exit code 5 and a reason, wherever the memory runs out.    memory_test.py TILEVM"""

import resource
import subprocess

import cli

MIB = 1 << 20
OPERATIONS = 20000


def sums(n):
    """Each operation needs the ones before it, so that nothing is left out."""
    return ("entry @k(%x: tile<ptr<i32>>) interface {\n  inout x: i32[64] at %x\n  grid 64\n} {\n  %i, %j, %l = get_tile_block_id\n"
            "  %p = offset %x, %i\n  %v0, %t = load_ptr_tko weak %p\n"
            + "".join(f"  %v{i + 1} = addi %v{i}, %v{i // 2}\n" for i in range(n)) + f"  store_ptr_tko weak %p, %v{n} token = %t\n  return\n}}\n")


class MemoryTest(cli.Case):
    def ends(self, limit, *arguments):
        """The exit code under a limit of MiB."""
        def lower():
            resource.setrlimit(resource.RLIMIT_AS, (limit * MIB, limit * MIB))
        done = subprocess.run([cli.TILEVM, *arguments], cwd=self.folder, capture_output=True, text=True, preexec_fn=lower, timeout=300)
        self.assertIn(done.returncode, (0, 5), f"under {limit} MiB: {done.returncode}\n{done.stderr[-500:]}")
        if done.returncode == 5:
            self.assertRegex(done.stderr, r"error\[(memory|[a-z]+\.out_of_memory|run\.\w+)\]: .*memory")
        return done.returncode

    def test_every_limit_is_an_error(self):
        self.write("sums.tile", sums(OPERATIONS))
        for command in (["verify"], ["as", "-o", "sums.tbc"], ["run", "--threads=1"], ["run", "--threads=2"], ["run", "--check=full"]):
            arguments = [*command, "sums.tile"] + (["arange:i32[64]"] if command[0] == "run" else [])
            codes = [self.ends(limit, *arguments) for limit in (20, 28, 36, 48, 60, 72, 96, 128, 2048)]
            with self.subTest(command=command):
                self.assertEqual(codes[-1], 0)
                self.assertIn(5, codes)


if __name__ == "__main__":
    cli.main()
