"""Writes the bill of materials of a wheel for another system, and the licenses of what is inside:  sbom.py --tools=DIR --platform=… --out=FILE --licenses=DIR

Its libraries are compiled from the sources in DIR (install.sh), with the C++ library of zig. third_party/sbom.py does that for Linux, from link commands.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).absolute().parent
sys.path.insert(0, str(HERE.parent))

import sbom  # noqa: E402

RUNTIME = {"libcxx": "libcxx", "libcxxabi": "libcxxabi", "libunwind": "libunwind"}


def installed(package):
    return subprocess.run(["dpkg-query", "-W", "-f=${source:Version}", package], capture_output=True, text=True, check=True).stdout


def of_zig(name, version, license_of):
    return {"type": "library", "bom-ref": name, "name": name, "version": version, "licenses": [{"expression": license_of}],
            "properties": [{"name": "tilevm:from", "value": f"pkg:pypi/ziglang@{version}"}]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", required=True)
    for path in ("--tools", "--out", "--licenses"):
        parser.add_argument(path, type=pathlib.Path, required=True)
    args = parser.parse_args()
    install = (HERE / "install.sh").read_text()
    zig = re.search(r"^zig_package=ziglang==(\S+)", (HERE / "options.sh").read_text(), re.M).group(1)
    library = next(args.tools.glob("venv/lib/*/site-packages/ziglang/lib"))
    parts = [sbom.component("abseil", installed("libabsl-dev")), sbom.component("flatbuffers", installed("libflatbuffers-dev")),
             sbom.component("sleef", re.search(r"^sleef_version=(\S+)", install, re.M).group(1))]
    files = {"abseil": args.tools / "abseil/LICENSE", "flatbuffers": args.tools / "flatbuffers/debian/copyright", "sleef": args.tools / "sleef/LICENSE.txt"}
    for name, folder in RUNTIME.items():
        parts.append(of_zig(name, zig, "Apache-2.0 WITH LLVM-exception"))
        files[name] = library / folder / "LICENSE.TXT"
    if args.platform.startswith("windows"):
        parts.append(of_zig("mingw-w64", zig, "ZPL-2.1"))
        files["mingw-w64"] = library / "libc/mingw/COPYING"
    args.out.write_text(json.dumps(sbom.document(parts), indent=2) + "\n")
    args.licenses.mkdir(parents=True, exist_ok=True)
    for name, file in files.items():
        shutil.copyfile(file, args.licenses / name)


if __name__ == "__main__":
    main()
