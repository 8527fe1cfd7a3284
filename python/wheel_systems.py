"""What differs between the systems that wheels are for; build_wheel.py has the rest.

A system has the names of the extension and of the handler for JAX, the options that link them, the one source of ext/platform that it takes, and the
paths of the libraries in a prefix. It answers two questions about the finished files: what is wrong with them (`mistakes`), and what the wheel's
tag calls them (`tag`).
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys


def compiler():
    """The words of $CC, whose machine the wheel is for."""
    return shlex.split(os.environ.get("CC", "cc"))


def asked(*options):
    """What the compiler answers: it knows the machine that it compiles for, and the binutils for it."""
    return subprocess.run([*compiler(), *options], capture_output=True, text=True, check=True).stdout.strip()


class Linux:
    extension, handler, source = "_tilevm.abi3.so", "_jax_ffi.so", "posix.c"
    libraries = {"tilevm": "lib/libtilevm.so.1", "tilevm_forms": "lib/libtilevm_forms.so.1"}
    # The first glibc of the systems whose C++ library has a version of its symbols, as the manylinux policies have it.
    glibcxx = {(3, 4, 19): 17, (3, 4, 24): 24, (3, 4, 25): 28, (3, 4, 28): 31, (3, 4, 29): 34, (3, 4, 30): 35, (3, 4, 32): 38, (3, 4, 33): 39}
    machines = {"x86_64": "x86_64", "aarch64": "aarch64"}
    # Of every system that a manylinux tag stands for.
    everywhere = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1", "libstdc++.so.6",
                  "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}

    def __init__(self, oldest):
        self.oldest = oldest  # glibc 2.x that the wheel may name

    def link_options(self, file, prefix, names):
        return ["-fPIC", "-shared", f"-L{prefix}/lib", *(f"-l:{pathlib.Path(self.libraries[name]).name}" for name in names),
                "-Wl,-rpath,$ORIGIN/_native/lib", "-Wl,--disable-new-dtags", "-Wl,--as-needed", "-s"]

    def files_of_prefix(self, prefix, work):
        """(path in the package, file) of what lies elsewhere than in the prefix, or in wheels alone."""
        # What `-ltilevm` finds, in place of a symbolic link, which wheels do not have: a script for the linker.
        (work / "libtilevm.so").write_text("INPUT(libtilevm.so.1)\n")
        return [("_native/lib/libtilevm.so", work / "libtilevm.so")]

    @staticmethod
    def objdump(path):
        """What it says of an ELF file; nothing of others."""
        if path.read_bytes()[:4] != b"\x7fELF":
            return ""
        return subprocess.run([asked("-print-prog-name=objdump"), "-p", str(path)], capture_output=True, text=True, check=True).stdout

    def versions(self, path):
        """The versioned symbols that a file needs: {"GLIBC": (2, 34), …}."""
        newest = {}
        for library, number in re.findall(r" (GLIBC|GLIBCXX)_([0-9.]+)$", self.objdump(path).split("Version References:")[-1], re.M):
            version = tuple(map(int, number.split(".")))
            newest[library] = max(newest.get(library, ()), version)
        return newest

    def mistakes(self, files):
        inside = {path.name for _, path in files}
        for name, path in files:
            for needed in re.findall(r"^ +NEEDED +(\S+)", self.objdump(path), re.M):
                if needed not in self.everywhere and needed not in inside:
                    yield f"{name} needs {needed}, which is neither inside nor on every system"
        if asked("-dumpmachine").split("-", maxsplit=1)[0] not in self.machines:
            yield f"no wheels for {asked('-dumpmachine')}"
        newest = max(self.glibcxx)
        for name, path in files:
            if self.versions(path).get("GLIBCXX", ()) > newest:
                yield f"{name} needs GLIBCXX_{'.'.join(map(str, self.versions(path)['GLIBCXX']))}: no policy has it yet"

    def tag(self, files):
        floor, because = self.oldest, f"glibc 2.{self.oldest} was asked for"
        for name, path in files:
            found = self.versions(path)
            needs = [(found.get("GLIBC", (2, 0))[1], "GLIBC_2." + str(found.get("GLIBC", (2, 0))[1]))]
            cxx = found.get("GLIBCXX")
            if cxx is not None:
                needs.append((min(glibc for version, glibc in self.glibcxx.items() if version >= cxx), "GLIBCXX_" + ".".join(map(str, cxx))))
            for glibc, symbol in needs:
                if glibc > floor:
                    floor, because = glibc, f"{symbol} of {name}"
        print(f"glibc 2.{floor} or newer: {because}", file=sys.stderr)
        return f"manylinux_2_{floor}_{self.machines[asked('-dumpmachine').split('-', maxsplit=1)[0]]}"


class MacOS:
    """Apple's processors; CC is zig's clang (third_party/zig), which needs no file of Apple's."""
    extension, handler, source = "_tilevm.abi3.so", "_jax_ffi.so", "posix.c"
    libraries = {"tilevm": "lib/libtilevm.dylib", "tilevm_forms": "lib/libtilevm_forms.dylib"}

    def link_options(self, file, prefix, names):
        # Functions of Python are the interpreter's, which is there before the extension.
        return ["-fPIC", "-fvisibility=hidden", "-shared", *(f"{prefix}/{self.libraries[name]}" for name in names), "-Wl,-undefined,dynamic_lookup",
                f"-Wl,-install_name,@rpath/{file}", "-Wl,-rpath,@loader_path/_native/lib", "-s"]

    def files_of_prefix(self, prefix, work):
        return []

    def mistakes(self, files):
        return []  # tests/install/cross_wheel.py reads the headers

    def tag(self, files):
        return "macosx_11_0_arm64"


class Windows:
    """x86-64; CC is zig's clang. Libraries lie beside the extension, where Windows looks for what it needs."""
    extension, handler, source = "_tilevm.pyd", None, "windows.c"
    libraries = {"tilevm": "lib/tilevm.dll", "tilevm_forms": "lib/tilevm_forms.dll"}

    def link_options(self, file, prefix, names):
        return ["-shared", *(f"{prefix}/lib/{name}.lib" for name in names), "-lpython3", "-s"]

    def files_of_prefix(self, prefix, work):
        return [(pathlib.Path(path).name, prefix / path) for path in self.libraries.values()]

    def mistakes(self, files):
        return []

    def tag(self, files):
        return "win_amd64"


SYSTEMS = {"macos-arm64": MacOS, "windows-x86_64": Windows}
