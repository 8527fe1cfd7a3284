"""Writes the bill of materials of a release, CycloneDX 1.5 in JSON, and the licenses of what is inside:

    bazel aquery --include_param_files 'mnemonic("CppLink", …)' | sbom.py --lists=third_party/packages.sh --out=FILE --licenses=DIR

A component is a Debian source package that a library in one of the link commands comes from, at the installed version. Every
development package of a list that programs are built from must be among them, and every library must be of a package: neither is left out
silently. Equal inputs give equal bytes.

The environment's CC is the compiler of the links. With --unpacked=DIR the libraries are of packages for another machine, which lie unpacked in
DIR beside DIR/admin (third_party/aarch64/install.sh).
"""
import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import uuid

ROOT = pathlib.Path(__file__).absolute().parents[1]
LISTS = ("packages_vm", "packages_codegen")
# glibc's; programs use those of the machine.
OF_THE_MACHINE = {"c", "m", "dl", "pthread", "rt", "gcc_s"}
LICENSES = {"abseil": "Apache-2.0", "flatbuffers": "Apache-2.0", "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
            "gcc-12-cross": "GPL-3.0-or-later WITH GCC-exception-3.1", "libpng1.6": "libpng-2.0",
            "libzstd": "BSD-3-Clause", "llvm-toolchain-22": "Apache-2.0 WITH LLVM-exception", "sleef": "BSL-1.0", "zlib": "Zlib"}


def fail(message):
    sys.exit(f"sbom.py: {message}")


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def libraries(commands):
    """The names after -l, and the folders after -L, of link commands."""
    words = [word.strip("'\"\\,") for word in commands.split()]
    names = {word[2:] for word in words if re.fullmatch(r"-l:?[\w.+-]+", word)}
    return names - OF_THE_MACHINE, [word[2:] for word in words if word.startswith("-L/")]


@dataclasses.dataclass(frozen=True, order=True)
class Package:
    """Of Debian: installed, or unpacked in the folder `root`."""

    name: str
    root: str = ""

    @staticmethod
    def of(path, root):
        """That which has the file, or None."""
        inside = root != "" and path.startswith(f"{root}/")
        command = ["dpkg", *([f"--admindir={root}/admin"] if inside else []), "-S", path[len(root):] if inside else path]
        done = subprocess.run(command, capture_output=True, text=True)
        return Package(done.stdout.split(":")[0], root if inside else "") if done.returncode == 0 else None

    def source(self):
        """Its source package, and the version of that."""
        admin = [f"--admindir={self.root}/admin"] if self.root else []
        return output("dpkg-query", *admin, "-W", "-f=${source:Package} ${source:Version}", self.name).split()

    def license_file(self):
        return pathlib.Path(f"{self.root}/usr/share/doc", self.name, "copyright").resolve()


def package_of(name, folders, root):
    """The package of what `-lname` finds. A folder of copies (third_party/glibc) is of no package: the originals are asked for."""
    files = [name[1:]] if name.startswith(":") else [f"lib{name}.so", f"lib{name}.a"]
    compiler = os.environ.get("CC", "gcc")
    gcc = os.path.dirname(output(compiler, "-print-libgcc-file-name").strip())
    system = f"{root}/usr/lib/{output(compiler, '-dumpmachine').strip()}"
    for folder in [*dict.fromkeys(folders), gcc, system]:
        for file in files:
            path = os.path.join(folder, file)
            if os.path.exists(path):
                for known in (path, os.path.realpath(path)):
                    package = Package.of(known, root)
                    if package is not None:
                        return package
    fail(f"-l{name} is of no package")


def listed(lists):
    """The development packages of the lists."""
    text = pathlib.Path(lists).read_text()
    words = " ".join(re.search(rf'^{name}="(.*)"', text, re.M).group(1) for name in LISTS).split()
    return {word for word in words if word.endswith("-dev")}


def components(packages):
    """One for each source package."""
    found = {}
    for package in sorted(packages):
        source, version = package.source()
        found.setdefault(source, (version, package))
    for source, (version, package) in sorted(found.items()):
        if source not in LICENSES:
            fail(f"the license of {source} is not in LICENSES")
        yield source, version, package


def glibc_parts():
    """The start files that third_party/glibc/install.sh takes from this package."""
    version = re.search(r"^zig_package=ziglang==(\S+)", (ROOT / "third_party/zig/options.sh").read_text(), re.M).group(1)
    glibc = re.search(r"^portable_glibc=(\S+)", (ROOT / "third_party/glibc/options.sh").read_text(), re.M).group(1)
    return {"type": "library", "bom-ref": "glibc-start-files", "name": "glibc (start files and wrappers of stat, statically linked)", "version": glibc,
            "licenses": [{"expression": "LGPL-2.1-or-later WITH GCC-exception-2.0"}],
            "properties": [{"name": "tilevm:from", "value": f"pkg:pypi/ziglang@{version}"}]}


def component(source, version):
    """A source package of Debian."""
    return {"type": "library", "bom-ref": source, "name": source, "version": version, "licenses": [{"expression": LICENSES[source]}],
            "purl": f"pkg:deb/debian/{source}@{version.replace('+', '%2B').replace(':', '%3A')}?arch=source"}


def document(libraries):
    release = re.search(r'kRelease\[\] = "(.*)"', (ROOT / "ir/release.h").read_text()).group(1)
    stamp = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    body = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"timestamp": stamp.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "component": {"type": "application", "bom-ref": "tilevm", "name": "tilevm", "version": release,
                                       "licenses": [{"license": {"id": "Apache-2.0"}}]}},
            "components": libraries,
            "dependencies": [{"ref": "tilevm", "dependsOn": [part["bom-ref"] for part in libraries]}]}
    # Of the content, so that equal ones have equal names.
    return {"serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(body, sort_keys=True))}", **body}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--licenses", type=pathlib.Path, required=True)
    parser.add_argument("--unpacked", default="")
    args = parser.parse_args()
    names, folders = libraries(sys.stdin.read())
    packages = {package_of(name, folders, args.unpacked) for name in sorted(names)}
    if not packages:
        fail("no link command names a library")
    unused = listed(args.lists) - {package.name for package in packages}
    if unused:
        fail(f"of the packages in {args.lists}, nothing is linked: {', '.join(sorted(unused))}")
    parts = list(components(packages))
    linked = [component(source, version) for source, version, _ in parts]
    args.out.write_text(json.dumps(document([*linked, glibc_parts()]), indent=2) + "\n")
    args.licenses.mkdir(parents=True, exist_ok=True)
    for source, _, package in parts:
        (args.licenses / f"{source}.txt").write_bytes(package.license_file().read_bytes())


if __name__ == "__main__":
    main()
