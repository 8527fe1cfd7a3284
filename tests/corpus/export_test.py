"""Real modules of NVIDIA's frontends, read and written again: NVIDIA's own tools must see the same program.

    export_test.py TILEVM CORPUS [--assemble=N]

Each file of CORPUS/tileir is exported at its own version, directly and after it was a .tbc. `tileirdisasm -g` must print for
both what it prints for the original, line for line, with debug information. Every Nth file is assembled, too (default 20; 1:
all, which takes 10 minutes): `tileiras` must accept what it accepts of the original, and make the same machine code of it, for the first of ARCHITECTURES that
takes the original.
The tools are those beside the nvcc of third_party/nvcc/nvcc.py; without them the test is skipped.
"""

import argparse
import collections
import difflib
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "third_party", "nvcc"))
import nvcc  # noqa: E402


# What sm_90 lacks, such as 4-bit floats, sm_100 has.
ARCHITECTURES = (90, 100)


class Tools:
    def __init__(self, tilevm, found, folder):
        self.tilevm = tilevm
        self.disassembler = found.tool("tileirdisasm")
        self.assembler = found.tool("tileiras")
        self.environment = found.environment()
        self.folder = folder

    def at(self, name):
        return os.path.join(self.folder, name)

    def convert(self, *arguments):
        subprocess.run([self.tilevm, *arguments], check=True, capture_output=True, text=True)

    def listing(self, file):
        return subprocess.run([self.disassembler, "-g", file], check=True, capture_output=True, text=True).stdout

    def machine_code(self, file, sm):
        """None if it is rejected. The assembler keeps the file's name, so it is the same for all."""
        program, code = self.at("program.tilebc"), self.at("program.cubin")
        with open(file, "rb") as source, open(program, "wb") as copy:
            copy.write(source.read())
        if os.path.exists(code):
            os.remove(code)
        command = [self.assembler, program, "-o", code, "--gpu-name=sm_%d" % sm]
        if subprocess.run(command, capture_output=True, env=self.environment).returncode != 0:
            return None
        with open(code, "rb") as result:
            return result.read()


def first_difference(a, b):
    changes = (change for change in difflib.unified_diff(a.splitlines(), b.splitlines(), n=0, lineterm="") if change[:1] in "+-")
    return " | ".join(change for change in changes if change[:3] not in ("+++", "---"))[:300]


def check(file, tools, assemble, counts):
    """What is wrong with one file, line by line."""
    version = re.search(r"\.(13\.\d)\.tilebc$", file).group(1)
    tbc = tools.at("program.tbc")
    exported = {"exported": tools.at("direct.tilebc"), "exported from .tbc": tools.at("again.tilebc")}
    try:
        tools.convert("export", file, "--version", version, "-o", exported["exported"])
        tools.convert("import", file, "-o", tbc)
        tools.convert("export", tbc, "--version", version, "-o", exported["exported from .tbc"])
    except subprocess.CalledProcessError as e:
        yield e.stderr.strip()
        return
    original = tools.listing(file)
    for how, written in exported.items():
        try:
            listing = tools.listing(written)
        except subprocess.CalledProcessError as e:
            yield "%s: cannot be disassembled: %s" % (how, e.stderr.strip())
            continue
        counts["same listing" if listing == original else "other listing"] += 1
        if listing != original:
            yield "%s: %s" % (how, first_difference(original, listing))
    if not assemble:
        return
    for sm in ARCHITECTURES:
        code, again = tools.machine_code(file, sm), tools.machine_code(exported["exported from .tbc"], sm)
        if code is not None or again is not None:
            break
    if code is None and again is None:
        counts["rejected by tileiras, original and copy"] += 1
    elif code is None or again is None:
        yield "tileiras takes %s for sm_%d" % ("the original only" if again is None else "the copy, but not the original,", sm)
    else:
        counts["%s machine code for sm_%d" % ("same" if code == again else "other", sm)] += 1
        if code != again:
            yield "other machine code for sm_%d" % sm


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tilevm")
    parser.add_argument("corpus")
    parser.add_argument("--assemble", type=int, default=20)
    arguments = parser.parse_args()
    files = sorted(glob.glob(arguments.corpus + "/tileir/*.tilebc"))
    if not files:
        sys.exit("no modules in %s/tileir" % arguments.corpus)
    try:
        found = nvcc.find()
        with tempfile.TemporaryDirectory() as folder:
            tools = Tools(arguments.tilevm, found, folder)
            counts, wrong = collections.Counter(), 0
            for i, file in enumerate(files):
                for message in check(file, tools, i % arguments.assemble == 0, counts):
                    print("%s: %s" % (os.path.basename(file), message))
                    wrong += 1
    except nvcc.Missing as e:
        print("SKIPPED: exports against NVIDIA's tools: %s" % e)
        return
    print("%d files: %s" % (len(files), ", ".join("%d %s" % (n, what) for what, n in sorted(counts.items()))))
    sys.exit(1 if wrong else 0)


main()
