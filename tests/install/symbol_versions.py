"""Whether everything inside runs where it says:  symbol_versions.py FILE.whl...  |  symbol_versions.py --glibc=2.28 FOLDER...

A wheel's name says the oldest glibc, manylinux_2_28. No ELF file inside may need a newer symbol of it, nor a library that is neither of
glibc, nor libgcc_s, nor inside. With --own-c++ none may need the machine's C++ library. Reads what readelf says, so that it finds mistakes of
python/build_wheel.py, which chooses the name.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

# The C++ library whose symbols a glibc's distribution has, by the manylinux policies.
GLIBCXX = {17: (3, 4, 19), 24: (3, 4, 24), 28: (3, 4, 25), 31: (3, 4, 28), 34: (3, 4, 29), 35: (3, 4, 30), 38: (3, 4, 32), 39: (3, 4, 33)}
OF_EVERY_MACHINE = re.compile(r"(ld-linux-[\w-]+|lib(c|m|dl|pthread|rt|gcc_s))\.so\.\d+")


def numbers(text):
    return tuple(map(int, text.split(".")))


def readelf(option, path):
    return subprocess.run(["readelf", option, "--wide", str(path)], capture_output=True, text=True, check=True).stdout


def mistakes(folder, glibc, own_cxx):
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    if not files:
        yield f"{folder}: no programs and no libraries"
    inside = {path.name for path in files}
    for path in files:
        name = path.relative_to(folder)
        # Only what it needs from others: "Version needs section" comes after what it defines.
        needs = readelf("--version-info", path).partition("Version needs section")[2]
        for library, version in sorted(set(re.findall(r"Name: (GLIBC|GLIBCXX)_([\d.]+)", needs))):
            limit = glibc if library == "GLIBC" else max((cxx for of, cxx in GLIBCXX.items() if of <= glibc[1]), default=(0,))
            if numbers(version) > limit:
                yield f"{name} needs {library}_{version}, newer than {'.'.join(map(str, limit))}"
        for library in re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("--dynamic", path)):
            if library == "libstdc++.so.6" and not own_cxx:
                continue
            if library not in inside and not OF_EVERY_MACHINE.fullmatch(library):
                yield f"{name} needs {library}, which is not inside"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--glibc", type=numbers)
    parser.add_argument("--own-c++", dest="own_cxx", action="store_true")
    args = parser.parse_args()
    found = []
    for path in args.paths:
        if path.is_dir():
            if args.glibc is None:
                parser.error("a folder needs --glibc")
            found += mistakes(path, args.glibc, args.own_cxx)
            continue
        tag = re.search(r"-manylinux_(\d+_\d+)_\w+\.whl$", path.name)
        if not tag:
            parser.error(f"{path} is not called as wheels are")
        with tempfile.TemporaryDirectory() as folder:
            zipfile.ZipFile(path).extractall(folder)
            found += mistakes(pathlib.Path(folder), args.glibc or numbers(tag.group(1).replace("_", ".")), args.own_cxx)
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
