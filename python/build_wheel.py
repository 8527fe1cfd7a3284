"""Builds the wheel of the Python package from an installation of tilevm:  build_wheel.py --prefix=PREFIX --out=DIR

PREFIX is what runtime/package/copy.sh made; it goes into the package as tilevm/_native. The extension is compiled here, with the
C compiler and the headers of the running Python, against the stable ABI of CPython 3.10, so that one wheel serves all newer ones.
Its platform tag names the oldest system that has every versioned symbol that anything inside needs. Equal inputs give equal bytes.
The environment's SOURCE_DATE_EPOCH dates the files. CC is the compiler, whose machine the wheel is for; CPPFLAGS and LDFLAGS are its options
(`./install --portable` sets them). Files of the folder --info=DIR go beside the metadata. Prints the path of the wheel.
"""
import argparse
import base64
import hashlib
import os
import pathlib
import re
import stat
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile

HERE = pathlib.Path(__file__).absolute().parent
ROOT = HERE.parent

# The first glibc of the systems whose C++ library has a version of its symbols, as the manylinux policies have it.
GLIBCXX = {(3, 4, 19): 17, (3, 4, 24): 24, (3, 4, 25): 28, (3, 4, 28): 31, (3, 4, 29): 34, (3, 4, 30): 35, (3, 4, 32): 38, (3, 4, 33): 39}
MACHINES = {"x86_64": "x86_64", "aarch64": "aarch64"}


def fail(message):
    sys.exit(f"build_wheel.py: {message}")


def release():
    return re.search(r'kRelease\[\] = "(.*)"', (ROOT / "ir/release.h").read_text()).group(1)


def compiler():
    return os.environ.get("CC", "cc")


def asked(*options):
    """What the compiler answers: it knows the machine that it compiles for, and the binutils for it."""
    return subprocess.run([compiler(), *options], capture_output=True, text=True, check=True).stdout.strip()


def compile_extension(prefix, out):
    """Into the folder `out`."""
    command = [compiler(), "-std=c11", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra", "-Wno-missing-field-initializers",
               f"-ffile-prefix-map={ROOT}=.", *os.environ.get("CPPFLAGS", "").split(), f"-I{sysconfig.get_path('include')}",
               f"-I{prefix}/include", f"-iquote{ROOT}",
               *sorted(map(str, HERE.glob("ext/**/*.c"))),
               f"-L{prefix}/lib", "-l:libtilevm.so.1", "-l:libtilevm_forms.so.1", "-Wl,-rpath,$ORIGIN/_native/lib",
               "-Wl,--disable-new-dtags", "-Wl,--as-needed", "-s", *os.environ.get("LDFLAGS", "").split(), "-o", str(out / "_tilevm.abi3.so")]
    if subprocess.run(command).returncode != 0:
        fail("the extension does not compile; its headers are those of `python3-dev`")


def compile_jax_handler(prefix, out):
    """Into the folder `out`: what XLA calls. It needs no header of XLA (jax_ffi/xla_ffi.h)."""
    command = [compiler(), "-std=c11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-fvisibility=hidden", "-shared", "-Wall", "-Wextra",
               "-Wno-missing-field-initializers", f"-I{prefix}/include", *sorted(map(str, HERE.glob("jax_ffi/*.c"))),
               f"-L{prefix}/lib", "-l:libtilevm.so.1", "-pthread", "-Wl,-rpath,$ORIGIN/_native/lib", "-Wl,--disable-new-dtags", "-Wl,--as-needed",
               "-s", "-o", str(out / "_jax_ffi.so")]
    if subprocess.run(command).returncode != 0:
        fail("the handler for JAX does not compile")


def package_files(prefix, work):
    """(path in the wheel, file) of everything but metadata, in order."""
    files = [(f"tilevm/{path.relative_to(HERE / 'tilevm')}", path) for path in sorted((HERE / "tilevm").rglob("*"))
             if path.suffix in (".py", ".pyi", ".typed") or path.name == "py.typed"]
    files += [(f"tilevm/{name}", work / name) for name in ("_tilevm.abi3.so", "_jax_ffi.so")]
    files.append(("tilevm/operations.json", prefix / "share/tilevm/operations.json"))
    (work / "_release.py").write_text(f'"""Written by build_wheel.py."""\n__version__ = "{release()}"\n')
    files.append(("tilevm/_release.py", work / "_release.py"))
    for path in sorted(prefix.rglob("*")):
        name = path.relative_to(prefix)
        if path.is_file() and not path.is_symlink() and name.parts[0] in ("bin", "lib", "include"):
            files.append((f"tilevm/_native/{name}", path))
    # What `-ltilevm` finds, in place of a symbolic link, which wheels do not have: a script for the linker.
    (work / "libtilevm.so").write_text("INPUT(libtilevm.so.1)\n")
    files.append(("tilevm/_native/lib/libtilevm.so", work / "libtilevm.so"))
    return files


def versions(path):
    """The versioned symbols that an ELF file needs: {"GLIBC": (2, 34), …}; empty for other files."""
    if path.read_bytes()[:4] != b"\x7fELF":
        return {}
    text = subprocess.run([asked("-print-prog-name=objdump"), "-p", str(path)], capture_output=True, text=True, check=True).stdout
    newest = {}
    for library, number in re.findall(r" (GLIBC|GLIBCXX)_([0-9.]+)$", text.split("Version References:")[-1], re.M):
        version = tuple(map(int, number.split(".")))
        newest[library] = max(newest.get(library, ()), version)
    return newest


# Of every system that a manylinux tag stands for.
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1", "libstdc++.so.6",
          "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def check_needed(files):
    """Every library that something needs is of the system, or inside."""
    inside = {path.name for _, path in files}
    for name, path in files:
        if path.read_bytes()[:4] != b"\x7fELF":
            continue
        text = subprocess.run([asked("-print-prog-name=objdump"), "-p", str(path)], capture_output=True, text=True, check=True).stdout
        for needed in re.findall(r"^ +NEEDED +(\S+)", text, re.M):
            if needed not in SYSTEM and needed not in inside:
                fail(f"{name} needs {needed}, which is neither inside nor on every system")


def platform_tag(files, oldest):
    floor, because = oldest, f"glibc 2.{oldest} was asked for"
    for name, path in files:
        found = versions(path)
        needs = [(found.get("GLIBC", (2, 0))[1], "GLIBC_2." + str(found.get("GLIBC", (2, 0))[1]))]
        cxx = found.get("GLIBCXX")
        if cxx is not None:
            fitting = [glibc for version, glibc in GLIBCXX.items() if version >= cxx]
            if not fitting:
                fail(f"{name} needs GLIBCXX_{'.'.join(map(str, cxx))}: no policy has it yet")
            needs.append((min(fitting), "GLIBCXX_" + ".".join(map(str, cxx))))
        for glibc, symbol in needs:
            if glibc > floor:
                floor, because = glibc, f"{symbol} of {name}"
    compiled_for = asked("-dumpmachine").split("-", maxsplit=1)[0]
    machine = MACHINES.get(compiled_for) or fail(f"no wheels for {compiled_for}")
    print(f"glibc 2.{floor} or newer: {because}", file=sys.stderr)
    return f"manylinux_2_{floor}_{machine}"


METADATA = """Metadata-Version: 2.1
Name: tilevm
Version: {version}
Summary: Tile kernels on any CPU and on GPUs: cuTile Python's and CUDA Tile C++'s bytecode without a GPU
License: Apache-2.0
Requires-Python: >=3.10
Requires-Dist: numpy
Provides-Extra: lsp
Requires-Dist: pygls>=2; extra == "lsp"
Provides-Extra: tvm-ffi
Requires-Dist: apache-tvm-ffi>=0.1.10; extra == "tvm-ffi"
Provides-Extra: jax
Requires-Dist: jax>=0.10; extra == "jax"
Description-Content-Type: text/markdown

"""


def date():
    """Of the files; zip archives know none before 1980."""
    return max(time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0")))[:6], (1980, 1, 1, 0, 0, 0))


def write_wheel(path, files, version, tag, more):
    """`more` is a folder of files that go beside the metadata, or None."""
    info = f"tilevm-{version}.dist-info"
    texts = {
        f"{info}/METADATA": METADATA.format(version=version) + (ROOT / "docs/python.md").read_text(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: build_wheel.py\nRoot-Is-Purelib: false\nTag: cp310-abi3-{tag}\n",
        f"{info}/entry_points.txt": "[console_scripts]\ntilevm = tilevm._tools:tilevm\ntilec = tilevm._tools:tilec\n"
                                   "tilevm-lsp = tilevm.lsp:main\n"
                                   "[triton.backends]\ntilevm = tilevm.triton\n"
                                   "[pytest11]\ntilevm = tilevm._pytest_plugin\n",
        f"{info}/LICENSE": (ROOT / "LICENSE").read_text(),
    }
    contents = [(name, file.read_bytes(), bool(file.stat().st_mode & stat.S_IXUSR)) for name, file in files]
    contents += [(name, text.encode(), False) for name, text in texts.items()]
    if more is not None:
        contents += [(f"{info}/{file.relative_to(more)}", file.read_bytes(), False) for file in sorted(more.rglob("*")) if file.is_file()]
    record = "".join(f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
                     for name, data, _ in contents)
    contents.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), False))
    part = path.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as wheel:
        for name, data, executable in contents:
            entry = zipfile.ZipInfo(name, date())
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    os.replace(part, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--info", type=pathlib.Path)
    parser.add_argument("--glibc", default="2.17", help="the oldest that the wheel may name; 2.17 is that of manylinux2014")
    args = parser.parse_args()
    prefix = args.prefix.resolve()
    for needed in ("lib/libtilevm.so.1", "lib/libtilevm_forms.so.1", "share/tilevm/operations.json", "include/tilevm_forms.h"):
        if not (prefix / needed).exists():
            fail(f"{prefix} has no {needed}")
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        compile_extension(prefix, work)
        compile_jax_handler(prefix, work)
        files = package_files(prefix, work)
        check_needed(files)
        version, tag = release(), platform_tag(files, int(args.glibc.removeprefix("2.")))
        path = args.out / f"tilevm-{version}-cp310-abi3-{tag}.whl"
        write_wheel(path, files, version, tag, args.info)
    print(path)


if __name__ == "__main__":
    main()
