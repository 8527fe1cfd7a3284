#!/usr/bin/env python3
"""Cross-compiles the libraries and the command of tilevm for macOS and Windows:  build.py --platform=macos-arm64 --tools=DIR --work=DIR --out=PREFIX

Bazel builds for Linux alone; here it tells which sources belong to a library and with which options they are compiled (`bazel aquery`), so that
no list is kept twice. zig's clang compiles them. DIR of --tools is what install.sh made. Objects are kept in --work for every checkout of the
repository. One is compiled again if its command or the text of a file that it includes has changed. PREFIX gets
    lib/libtilevm.dylib lib/libtilevm_forms.dylib     macOS
    lib/tilevm.dll lib/tilevm_forms.dll lib/*.lib     Windows, with import libraries
    bin/tilevm
"""
import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).absolute().parent
ROOT = HERE.parents[1]
# Modules of Abseil that have sources; an object that nobody needs is not linked.
ABSEIL = "base container debugging hash numeric profiling status strings synchronization time types".split()
NO_LIBRARY = re.compile(r"test|benchmark|mock|gaussian_distribution|print_hash_of")


class MacOS:
    """Apple's Arm processors, from macOS 11 on: the first one for them."""
    target, system = "aarch64-macos.11.0", "macos"
    # Bazel's list for AArch64, which has no instruction sets to choose from.
    configuration = ["--crosstool_top=//third_party/aarch64:toolchain", "--cpu=aarch64", "--host_crosstool_top=@bazel_tools//tools/cpp:toolchain",
                     "--platform_suffix=zig-macos"]
    # zig's linker takes no list of exported functions.
    compile_options, link_options = ["-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden"], ["-Wl,-dead_strip"]
    sleef = {"purec_scalar": []}
    program = "tilevm"

    @staticmethod
    def library(name, functions, work, folder):
        """Its file in the folder, and the options of its link."""
        file = f"lib{name}.dylib"
        return file, [f"-Wl,-install_name,@rpath/{file}"]


class Windows:
    """x86-64 with SSE4.2, and what the VM finds at run time."""
    target, system = "x86_64-windows-gnu", "windows"
    configuration = ["--platform_suffix=zig-windows"]
    compile_options, link_options = ["-DSLEEF_STATIC_LIBS"], ["-Wl,--gc-sections", "-ldbghelp", "-lbcrypt"]
    sleef = {"purec_scalar": [], "sse4": ["-msse4.1"], "avx": ["-mavx"], "avx512fnofma": ["-mavx512f", "-mevex512"]}
    program = "tilevm.exe"

    @staticmethod
    def library(name, functions, work, folder):
        definition = work / f"{name}.def"
        definition.write_text(f"LIBRARY {name}.dll\nEXPORTS\n" + "".join(f"  {function}\n" for function in functions))
        return f"{name}.dll", [str(definition), f"-Wl,--out-implib,{folder}/{name}.lib"]


PLATFORMS = {"macos-arm64": MacOS, "windows-x86_64": Windows}
# Libraries: the targets whose code is in it, and the header with the functions that it exports.
LIBRARIES = {"tilevm": ("//runtime/capi:whole", "runtime/tilevm.h"), "tilevm_forms": ("//runtime/forms:forms", "runtime/forms/tilevm_forms.h")}
PROGRAM = "//tools/tilevm:tilevm"
# What g++ knows and clang does not, and places of this machine's build.
DROPPED = re.compile(r"-M[DF]|-fno-canonical-system-headers|-no-canonical-prefixes|--param=.*|-W.*|-D__(DATE|TIME|TIMESTAMP)__=.*|-frandom-seed=.*|-fPIC")


def bazel(*words):
    done = subprocess.run(["bazel", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"build.py: bazel {words[0]} failed:\n{done.stderr}")
    return done.stdout


class Build:
    """Objects for one platform, each compiled once for all libraries."""

    def __init__(self, platform, tools, work, jobs):
        self.platform, self.tools, self.work, self.jobs = platform, tools, work, jobs
        self.objects = {}  # command without the names of outputs: object
        for path in (work, work / "objects"):
            path.mkdir(parents=True, exist_ok=True)
        bazel("build", "-c", "opt", "//schemas:tbc_flatc")
        generated = bazel("info", "-c", "opt", "bazel-bin").strip()
        # Folders of this checkout, with the names that they have in another one, too.
        self.folders = {generated: "bazel-bin", str(ROOT): ".", str(tools): "third_party"}
        self.headers = ["-iquote", str(ROOT), "-iquote", generated, "-isystem", str(tools / "abseil"), "-isystem", str(tools / "flatbuffers/include"),
                        "-isystem", str(tools / "sleef/generated")]
        self.common = ["-target", platform.target, *platform.compile_options, "-Wno-everything",
                       *(f"-ffile-prefix-map={folder}={name}" for folder, name in self.folders.items())]

    def compile(self, source, options, language="c++"):
        """The object of a source, which is not made yet."""
        command = [str(self.tools / "zig"), language, *self.common, *options, "-c", str(source)]
        key = hashlib.sha256(self.elsewhere("\0".join(command)).encode()).hexdigest()[:16]
        return self.objects.setdefault(tuple(command), self.work / "objects" / f"{pathlib.Path(source).stem}.{key}.o")

    def elsewhere(self, text):
        """With names of folders that no checkout has alone."""
        for folder, name in self.folders.items():
            text = text.replace(folder, name)
        return text

    def here(self, name):
        """The file of this checkout to which elsewhere() gives the name."""
        first, _, rest = name.partition("/")
        return next((f"{folder}/{rest}" for folder, short in self.folders.items() if short == first), name)

    def note_inputs(self, out):
        """Keeps what the object was made of, by the list that the compiler wrote: names and digests."""
        names = pathlib.Path(f"{out}.d").read_text().partition(":")[2].replace("\\\n", " ").split()
        paths = [str(ROOT / name) for name in names]
        pathlib.Path(f"{out}.inputs").write_text(json.dumps({self.elsewhere(path): digest_of(path) for path in paths}))

    def is_fresh(self, out):
        """The object was made of files with the same text. Its name says by which command."""
        try:
            inputs = json.loads(pathlib.Path(f"{out}.inputs").read_text())
            return out.exists() and all(digest_of(self.here(name)) == digest for name, digest in inputs.items())
        except FileNotFoundError:
            return False

    def sources_of(self, target):
        """Objects of the sources that the target needs, in Bazel's order."""
        text = bazel("aquery", "-c", "opt", *self.platform.configuration, f"--define=system={self.platform.system}", "--output=jsonproto",
                     f'mnemonic("CppCompile", deps({target}))')
        objects = {}
        for action in json.loads(text)["actions"]:
            words = action["arguments"]
            source, options, skip = None, [], False
            for word, following in zip(words[1:], words[2:] + [""]):
                if skip:
                    skip = False
                elif word == "-c":
                    source, skip = following, True
                elif word == "-isystem" and (ROOT / following).is_dir() and not following.startswith(("/", "bazel-out/")):
                    options += ["-isystem", str(ROOT / following)]
                    skip = True
                elif word in ("-o", "-MF", "-iquote", "-isystem"):
                    skip = True
                elif word.startswith("-march="):
                    options.append(word.replace("-", "_").replace("_march=", "-march=", 1))
                elif not DROPPED.fullmatch(word):
                    options.append(word)
            objects[self.compile(ROOT / source, [*self.headers, *options])] = None
        return list(objects)

    def abseil(self):
        root = self.tools / "abseil"
        sources = [path for module in ABSEIL for path in sorted((root / "absl" / module).rglob("*.cc")) if not NO_LIBRARY.search(path.name)]
        return [self.compile(path, ["-std=c++20", "-O2", "-DNDEBUG", "-ffunction-sections", "-fdata-sections", "-I", str(root)]) for path in sources]

    def sleef(self):
        root = self.tools / "sleef"
        options = ["-O2", "-DNDEBUG", "-std=gnu11", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-DDORENAME=1",
                   *(f"-I{root}/{folder}" for folder in ("generated", "src/common", "src/arch", "src/libm"))]
        objects = [self.compile(root / f"src/{name}.c", options, "cc") for name in ("libm/rempitab", "common/common")]
        for name, machine in self.platform.sleef.items():
            # Names of deterministic functions are shared out between the two.
            for more in ([], ["-DDETERMINISTIC=1"]):
                objects.append(self.compile(root / "src/libm/sleefsimddp.c", [*options, *machine, f"-DENABLE_{name.upper()}=1", *more], "cc"))
        return objects

    def make(self):
        """Compiles what is missing or was made of other sources."""
        stale = [(list(command), out) for command, out in self.objects.items() if not self.is_fresh(out)]
        print(f"build.py: {len(stale)} of {len(self.objects)} objects to compile", file=sys.stderr)

        def one(command, out):
            pathlib.Path(f"{out}.inputs").unlink(missing_ok=True)  # those of an object that is replaced
            done = subprocess.run([*command, "-MD", "-MF", f"{out}.d", "-o", f"{out}.part"], capture_output=True, text=True, cwd=ROOT, check=False)
            if done.returncode == 0:
                os.replace(f"{out}.part", out)
                self.note_inputs(out)
                return ""
            return f"{command[-1]}:\n{done.stderr}\n"

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            failed = "".join(pool.map(lambda item: one(*item), stale))
        if failed:
            sys.exit("build.py: does not compile for this platform:\n" + failed)

    def archive(self, name, objects):
        path = self.work / f"lib{name}.a"
        path.unlink(missing_ok=True)
        self.run("ar", "rcsD", str(path), *map(str, objects))
        return str(path)

    def link(self, out, objects, archives, options):
        listed = self.work / (out.name + ".objects")
        listed.write_text("".join(f"{path}\n" for path in objects))
        self.run("c++", "-target", self.platform.target, "-O2", "-s", *options, f"@{listed}", *archives, *self.platform.link_options, "-o", str(out))

    def run(self, *words):
        done = subprocess.run([str(self.tools / "zig"), *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"build.py: zig {' '.join(words)}\n{done.stderr}")


@functools.lru_cache(maxsize=None)
def digest_of(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def functions_of(header):
    """Those that it declares for everyone: after TILEVM_API, up to the parenthesis."""
    return re.findall(r"^TILEVM_API [^;(]*?\b(\w+)\(", (ROOT / header).read_text(), re.M)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", choices=PLATFORMS, required=True)
    for folder in ("--tools", "--work", "--out"):
        parser.add_argument(folder, type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    platform = PLATFORMS[args.platform]
    build = Build(platform, args.tools.resolve(), args.work.resolve() / args.platform, args.jobs)
    libraries = {name: build.sources_of(target) for name, (target, _) in LIBRARIES.items()}
    abseil, sleef = build.abseil(), build.sleef()
    build.make()
    archives = [build.archive("absl", abseil), build.archive("sleef", sleef)]
    (args.out / "lib").mkdir(parents=True, exist_ok=True)
    for name, objects in libraries.items():
        file, options = platform.library(name, functions_of(LIBRARIES[name][1]), build.work, args.out / "lib")
        build.link(args.out / "lib" / file, objects, archives, ["-shared", *options])


if __name__ == "__main__":
    main()
