"""Builds the wheel of the Python package from an installation of tilevm:  build_wheel.py --prefix=PREFIX --out=DIR

PREFIX is what runtime/package/copy.sh made; it goes into the package as tilevm/_native. The extension is compiled here, with the
C compiler and the headers of the running Python, against the stable ABI of CPython 3.9, so that one wheel serves all newer ones.
Its platform tag names the oldest system that has every versioned symbol that anything inside needs (wheel_systems.py). Equal inputs give equal bytes.
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

from wheel_systems import SYSTEMS, Linux, compiler

HERE = pathlib.Path(__file__).absolute().parent
ROOT = HERE.parent

def fail(message):
    sys.exit(f"build_wheel.py: {message}")


def release():
    return re.search(r'kRelease\[\] = "(.*)"', (ROOT / "ir/release.h").read_text()).group(1)


def compile_c(name, sources, options, links, work):
    """Links C sources into work/name, which Python or XLA opens. A linker takes from libraries what was missing before it saw them."""
    command = [*compiler(), "-std=c11", "-O2", "-Wall", "-Wextra", "-Wno-missing-field-initializers", f"-ffile-prefix-map={ROOT}=.",
               *options, *sorted(map(str, sources)), *links, "-o", str(work / name)]
    return subprocess.run(command).returncode == 0


def compile_extension(system, prefix, include, work):
    options = [*os.environ.get("CPPFLAGS", "").split(), f"-I{include}", f"-I{prefix}/include", f"-iquote{ROOT}"]
    links = [*system.link_options(system.extension, prefix, ("tilevm", "tilevm_forms")), *os.environ.get("LDFLAGS", "").split()]
    sources = [path for path in HERE.glob("ext/**/*.c") if path.parent.name != "platform" or path.name == system.source]
    if not compile_c(system.extension, sources, options, links, work):
        fail("the extension does not compile; its headers are those of `python3-dev`")


def compile_jax_handler(system, prefix, work):
    """What XLA calls. It needs no header of XLA (jax_ffi/xla_ffi.h)."""
    options = ["-D_GNU_SOURCE", "-fvisibility=hidden", f"-I{prefix}/include", "-pthread"]
    links = system.link_options(system.handler, prefix, ("tilevm",))
    if not compile_c(system.handler, HERE.glob("jax_ffi/*.c"), options, links, work):
        fail("the handler for JAX does not compile")


def package_files(system, prefix, work):
    """(path in the wheel, file) of everything but metadata, in order."""
    files = [(f"tilevm/{path.relative_to(HERE / 'tilevm')}", path) for path in sorted((HERE / "tilevm").rglob("*"))
             if path.suffix in (".py", ".pyi", ".typed") or path.name == "py.typed"]
    files += [(f"tilevm/{name}", work / name) for name in (system.extension, system.handler) if name is not None]
    files.append(("tilevm/operations.json", prefix / "share/tilevm/operations.json"))
    (work / "_release.py").write_text(f'"""Written by build_wheel.py."""\n__version__ = "{release()}"\n')
    files.append(("tilevm/_release.py", work / "_release.py"))
    more = [(f"tilevm/{name}", path) for name, path in system.files_of_prefix(prefix, work)]
    for path in sorted(prefix.rglob("*")):
        name = path.relative_to(prefix)
        if path.is_file() and not path.is_symlink() and name.parts[0] in ("bin", "lib", "include") and path not in (file for _, file in more):
            files.append((f"tilevm/_native/{name}", path))
    return files + more


METADATA = """Metadata-Version: 2.1
Name: tilevm
Version: {version}
Summary: Tile kernels on any CPU and on GPUs: cuTile Python's and CUDA Tile C++'s bytecode without a GPU
License: Apache-2.0
Requires-Python: >=3.9
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
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: build_wheel.py\nRoot-Is-Purelib: false\nTag: cp39-abi3-{tag}\n",
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
    parser.add_argument("--platform", choices=SYSTEMS, help="another system than Linux, that third_party/zig compiles for")
    parser.add_argument("--python-include", default=sysconfig.get_path("include"), help="headers of CPython for that system")
    args = parser.parse_args()
    system = SYSTEMS[args.platform]() if args.platform else Linux(int(args.glibc.removeprefix("2.")))
    prefix = args.prefix.resolve()
    for needed in (*system.libraries.values(), "share/tilevm/operations.json", "include/tilevm_forms.h"):
        if not (prefix / needed).exists():
            fail(f"{prefix} has no {needed}")
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        compile_extension(system, prefix, args.python_include, work)
        if system.handler is not None:
            compile_jax_handler(system, prefix, work)
        files = package_files(system, prefix, work)
        for mistake in system.mistakes(files):
            fail(mistake)
        version, tag = release(), system.tag(files)
        path = args.out / f"tilevm-{version}-cp39-abi3-{tag}.whl"
        write_wheel(path, files, version, tag, args.info)
    print(path)


if __name__ == "__main__":
    main()
