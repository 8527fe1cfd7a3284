"""Finds an nvcc that compiles CUDA Tile C++, and runs it and the tools beside it.

The nvcc that TILEVM_NVCC names, else that of the PATH. Support for tile code came with CUDA 13.3; install.sh gets one.

    found = nvcc.find()                  # or nvcc.Missing, whose text says why there is none
    found.tilebc("k.cu", "k.tilebc")     # Tile IR bytecode
    found.tool("tileirdisasm")           # path of a tool of the same release, or nvcc.Missing
"""

import os
import shutil
import subprocess

# The oldest architecture for which nvcc makes tile code; the bytecode holds nothing of it.
ARCH = "sm_80"


class Missing(Exception):
    """There is no such tool on this machine."""


class Failed(Exception):
    """The compiler rejected its input: what it printed."""


class Nvcc:
    """An nvcc with tile support. `path`: of the executable; `release`: "13.5"."""

    def __init__(self, path, release):
        self.path = path
        self.release = release

    def tool(self, name):
        """The path of an executable beside nvcc. Raises Missing."""
        path = os.path.join(os.path.dirname(self.path), name)
        if not os.access(path, os.X_OK):
            raise Missing("there is no %s beside %s" % (name, self.path))
        return path

    def environment(self):
        """For tools that look for parts of CUDA: those of this release, whatever else is installed."""
        home = os.path.dirname(os.path.dirname(self.path))
        return dict(os.environ, CUDA_HOME=home, CUDA_PATH=home)

    def compile(self, source, out, what):
        """Compiles a .cu file; `what`: the option that says to what. Returns its warnings. Raises Failed."""
        command = [self.path, "--enable-tile", what, "-std=c++20", "-arch=" + ARCH, source, "-o", out]
        run = subprocess.run(command, capture_output=True, text=True, env=self.environment())
        if run.returncode != 0:
            raise Failed(run.stdout + run.stderr)
        return run.stdout + run.stderr

    def tilebc(self, source, out):
        """Compiles its kernels to Tile IR bytecode. Returns its warnings. Raises Failed."""
        return self.compile(source, out, "--tilebc")


def find():
    """The nvcc to use. Raises Missing."""
    path = os.environ.get("TILEVM_NVCC") or shutil.which("nvcc")
    if not path:
        raise Missing("no nvcc: TILEVM_NVCC is not set, and there is none on the PATH")
    path = os.path.realpath(path)
    if not os.access(path, os.X_OK):
        raise Missing("TILEVM_NVCC names %s, which is no executable" % path)
    said = subprocess.run([path, "--help"], capture_output=True, text=True).stdout
    if "--enable-tile" not in said:
        raise Missing("%s has no --enable-tile: it is older than CUDA 13.3" % path)
    version = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
    release = version.partition("release ")[2].partition(",")[0]
    header = os.path.join(os.path.dirname(os.path.dirname(path)), "include", "cuda_tile.h")
    if not os.path.exists(header):
        raise Missing("%s has no cuda_tile.h: %s is not there" % (path, header))
    return Nvcc(path, release)
