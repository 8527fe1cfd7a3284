#!/usr/bin/env python3
"""Breaks the synchronisation of Tilus' examples, one statement at a time, and counts what --check=full finds.

    seeded.py CHECKOUT [--every] [--jobs=N] [NAME…]

Each row takes one statement of an example away, or replaces it. The unmodified examples must give no error: each is run first. Prints a
line for each row: the code of the error, or MISSED. --every takes each sync, wait and commit of each example that runs away instead, also those
whose absence changes nothing, so that somebody has to judge what is missed.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import examples

HERE = pathlib.Path(__file__).parent

# What orders accesses, as a pattern.
ORDERS = r"sync|copy_async_(?:commit|wait)\w*|mbarrier\.wait|(?:tma|wgmma)\.(?:commit|wait)_group|tcgen05\.commit|(?:lock|release)_semaphore"

# The errors that say that an order is missing.
FOUND = ("vm.missing_token", "vm.race", "vm.assert", "vm.duplicate_store", "vm.uninitialized")

# Example, statement, which of its occurrences (0 is the first), what stands there instead.
SEEDS = [
    ("matmul/matmul_v1", "self.sync()", 0, "pass"),
    ("matmul/matmul_v1", "self.sync()", 1, "pass"),
    ("matmul/matmul_v2", "self.sync()", 0, "pass"),
    ("matmul/matmul_v2", "self.sync()", 1, "pass"),
    ("matmul/matmul_v3", "self.copy_async_wait_all()", 0, "pass"),
    ("matmul/matmul_v3", "self.sync()", 0, "pass"),
    ("matmul/matmul_v3", "self.sync()", 1, "pass"),
    ("matmul/matmul_v4", "self.copy_async_commit_group()", 0, "pass"),
    ("matmul/matmul_v4", "self.copy_async_wait_group(n=self.num_stages - 2)", 0, "pass"),
    ("matmul/matmul_v4", "self.sync()", 0, "pass"),
    ("matmul/matmul_v4", "self.copy_async_commit_group()", 1, "pass"),
    ("matmul/matmul_v4", "self.copy_async_wait_group(n=self.num_stages - 2)", 1, "pass"),
    ("matmul/matmul_v4", "self.copy_async_wait_group(n=self.num_stages - 2)", 1, "self.copy_async_wait_group(n=self.num_stages - 1)"),
    ("matmul/matmul_v4", "self.sync()", 1, "pass"),
    ("matmul/matmul_v5", "self.sync()", 2, "pass"),
    ("hopper_matmul/matmul_v0", "self.mbarrier.wait(tma_barrier, phase=phase)", 0, "pass"),
    ("hopper_matmul/matmul_v0", "self.sync()", 0, "pass"),
    ("hopper_matmul/matmul_v0", "self.sync()", 1, "pass"),
    ("hopper_matmul/matmul_v1", "self.sync()", 0, "pass"),
    ("hopper_matmul/matmul_v1", "self.wgmma.commit_group()", 0, "pass"),
    ("hopper_matmul/matmul_v1", "self.wgmma.wait_group(0)", 0, "pass"),
    ("hopper_matmul/matmul_v2", "self.mbarrier.wait(tma_barriers[stage], phase=phase[stage])", 0, "pass"),
    ("hopper_matmul/matmul_v2", "phase[stage] ^= 1", 0, "pass"),
    ("blackwell_matmul/matmul_v0", "self.copy_async_wait_all()", 0, "pass"),
    ("blackwell_matmul/matmul_v0", "self.sync()", 1, "pass"),
    ("blackwell_matmul/matmul_v0", "self.tcgen05.commit(mbarrier=mbarriers[0])", 0, "pass"),
    ("blackwell_matmul/matmul_v0", "self.mbarrier.wait(mbarriers[0], phase=phase)", 0, "pass"),
    ("blackwell_matmul/matmul_v0", "self.sync()", 2, "pass"),
    ("blackwell_matmul/matmul_v1", "self.mbarrier.wait(tma_barrier, phase=phase)", 0, "pass"),
    ("blackwell_matmul/matmul_v1", "self.mbarrier.wait(mma_barrier, phase=phase)", 0, "pass"),
    ("blackwell_matmul/matmul_v1", "self.sync()", 2, "pass"),
    ("blackwell_matmul/matmul_v1", "self.tma.commit_group()", 0, "pass"),
    ("blackwell_matmul/matmul_v1", "self.tma.wait_group(n=0, read=True)", 0, "pass"),
    ("blackwell_matmul/matmul_v1", "self.sync()", 3, "pass"),
    ("attention/flash_attention_v1", "self.sync()", 0, "pass"),
    ("attention/flash_attention_v1", "self.copy_async_commit_group()", 0, "pass"),
    ("attention/flash_attention_v1", "self.copy_async_wait_group(0)", 0, "pass"),
    ("attention/flash_attention_v1", "self.sync()", 2, "pass"),
    ("attention/flash_attention_v1", "self.copy_async_commit_group()", 1, "pass"),
    ("attention/flash_attention_v1", "self.copy_async_wait_group(0)", 1, "pass"),
    ("attention/flash_attention_v1", "self.sync()", 3, "pass"),
]


def broken(text, statement, which, instead):
    """The text with one occurrence of a statement, on a line of its own, replaced."""
    found = list(re.finditer(rf"^( *){re.escape(statement)}(?: *#.*)?$", text, re.M))
    if which >= len(found):
        raise SystemExit(f"seeded.py: there are {len(found)} of `{statement}`, not {which + 1}")
    at = found[which]
    return text[:at.start()] + at[1] + instead + text[at.end():]


def every(checkout, example):
    """A row for each statement of an example, on a line of its own, that orders something."""
    text = (checkout / "examples" / f"{example}.py").read_text()
    found = re.findall(rf"^ *(self\.(?:{ORDERS})\(.*\))(?: *#.*)?$", text, re.M)
    return [(example, statement, found[:at].count(statement), "pass") for at, statement in enumerate(found)]


def run(checkout, example):
    """The code of the error at the first of two sizes; "" for none, "wrong result" for a result that is not torch's."""
    with tempfile.TemporaryDirectory() as cache:
        ran = subprocess.run([sys.executable, str(HERE / "examples.py"), str(checkout), "--one", example, "--check", "full"], capture_output=True,
                             text=True, env={**os.environ, "TILUS_CACHE_DIR": cache})
    last = (ran.stdout.strip().splitlines() or [""])[-1]
    if not last.startswith("["):
        return "no result: " + ran.stderr.strip()[-200:]
    found = re.search(r"error\[([\w.]+)\]", last)
    return found[1] if found else "wrong result" if "wrong: " in last else last[:200] if "Error" in last else ""


def run_broken(checkout, example, statement, which, instead):
    """The code of the error with one statement replaced."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        (copy / "python").symlink_to((checkout / "python").resolve())
        shutil.copytree(checkout / "examples" / pathlib.Path(example).parent, copy / "examples" / pathlib.Path(example).parent)
        file = copy / "examples" / f"{example}.py"
        file.write_text(broken(file.read_text(), statement, which, instead))
        return run(copy, example)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_intermixed_args()
    names = [name for name, _, _ in examples.table()] if options.every else list(dict.fromkeys(s[0] for s in SEEDS))
    names = [name for name in names if not options.names or any(word in name for word in options.names)]
    alarms = hits = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        refused = set()
        for name, code in zip(names, pool.map(lambda name: run(options.checkout, name), names)):
            print(f"{name}, unmodified: {code or 'no error'}", flush=True)
            if options.every and code.startswith("tilus."):
                refused.add(name)
            else:
                alarms += bool(code)
        seeds = [row for name in names if name not in refused
                 for row in (every(options.checkout, name) if options.every else [s for s in SEEDS if s[0] == name])]
        modified = pool.map(lambda seed: run_broken(options.checkout, *seed), seeds)
        for (example, statement, which, instead), code in zip(seeds, modified):
            hit = code in FOUND
            hits += hit
            print(f"{example}, `{statement}` {which + 1} -> `{instead}`: {code if hit else 'MISSED ' + code}", flush=True)
    print(f"{hits} of {len(seeds)} found, {alarms} false alarms")


if __name__ == "__main__":
    main()
