"""cross_wheel.py finds each thing that can be wrong with a wheel for macOS or Windows. The programs are headers written here."""
import base64
import hashlib
import pathlib
import struct
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))

import cross_wheel  # noqa: E402

LIBSYSTEM = "/usr/lib/libSystem.B.dylib"


def command(number, *words, text=""):
    """A load command; a text follows its words."""
    body = struct.pack(f"<{len(words)}I", *words) + text.encode() + b"\0"
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<2I", number, 8 + len(body)) + body


def mach_o(exported, needed=(LIBSYSTEM,), cpu=0x0100000C, kind=6, system=1, oldest=(11, 0), paths=("@loader_path/_native/lib",), signed=True,
           name="@rpath/x"):
    commands = [command(0xD, 24, 0, 0, 0, text=name)]
    commands += [command(0x32, system, oldest[0] << 16 | oldest[1] << 8, 0, 0)]
    commands += [command(0xC, 24, 0, 0, 0, text=path) for path in needed]
    commands += [command(0x8000001C, 12, text=path) for path in paths]
    size = sum(map(len, commands)) + len(command(2, 0, 0, 0, 0)) + len(command(0x1D, 0, 0))
    names, strings = [], b"\0"
    for name in exported:
        names.append(len(strings))
        strings += b"_" + name.encode() + b"\0"
    symbols = b"".join(struct.pack("<IBBHQ", name, 0xF, 1, 0, 0) for name in names)
    begin = 32 + size
    commands.append(command(2, begin, len(names), begin + len(symbols), len(strings)))
    commands.append(command(0x1D, begin + len(symbols) + len(strings), 4))
    header = struct.pack("<4s7I", cross_wheel.MachO.magic, cpu, 0, kind, len(commands), size, 0, 0)
    return header + b"".join(commands) + symbols + strings + (b"\xfa\xde\x0c\xc0" if signed else b"none")


def pe(exported, needed=("KERNEL32.dll",), cpu=0x8664, flags=0x2000, magic=0x20B):
    """One section, at address 0x1000, has the names of what is exported and needed."""
    data = bytearray(40 + 4 * len(exported) + 20 * (len(needed) + 1))

    def place(name):
        data.extend(name.encode() + b"\0")
        return 0x1000 + len(data) - len(name) - 1

    struct.pack_into("<3I", data, 24, len(exported), 0, 0x1000 + 40)
    for i, name in enumerate(exported):
        struct.pack_into("<I", data, 40 + 4 * i, place(name))
    imports = 40 + 4 * len(exported)
    for i, name in enumerate(needed):
        struct.pack_into("<I", data, imports + 20 * i + 12, place(name))
    optional = struct.pack("<H", magic) + bytes(110) + struct.pack("<4I", 0x1000 if exported else 0, 0, 0x1000 + imports, 0)
    header = b"MZ" + bytes(0x3A) + struct.pack("<I", 0x40) + b"PE\0\0" + struct.pack("<HHIIIHH", cpu, 1, 0, 0, 0, len(optional), flags) + optional
    section = bytes(8) + struct.pack("<IIII", len(data), 0x1000, len(data), len(header) + 40) + bytes(16)
    return header + section + bytes(data)


HEADERS = {"tilevm.h": b"TILEVM_API int tilevm_run(int a);\n", "tilevm_forms.h": b"TILEVM_API const char*\n  x;\nTILEVM_API int tilevm_translate(void);\n"}
TAGS = {"macos": "macosx_11_0_arm64", "windows": "win_amd64"}


def files_of(system):
    root = cross_wheel.ROOT / "python"
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in (root / "tilevm").rglob("*.py")}
    files.update({f"tilevm/_native/include/{name}": text for name, text in HEADERS.items()})
    make = mach_o if system == "macos" else pe
    expected = cross_wheel.MACOS if system == "macos" else cross_wheel.WINDOWS
    near = "@rpath/libtilevm.dylib" if system == "macos" else "tilevm.dll"
    files[expected["extension"]] = make(["PyInit__tilevm"], [near])
    files[expected["tilevm"]] = make(["tilevm_run"])
    files[expected["tilevm_forms"]] = make(["tilevm_translate"])
    return files


def mistakes(system, change=None, tag=None, record=None):
    """What is found in a wheel whose files `change` has changed; RECORD is of the files before `record`."""
    files = files_of(system)
    if change is not None:
        change(files)
    info = "tilevm-1.0.dist-info"
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nTag: cp39-abi3-{tag or TAGS[system]}\n".encode()
    rows = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n" for name, data in files.items()]
    files[f"{info}/RECORD"] = ("".join(rows) + f"{info}/RECORD,,\n").encode()
    if record is not None:
        record(files)
    with tempfile.TemporaryDirectory() as work:
        path = pathlib.Path(work) / f"tilevm-1.0-cp39-abi3-{TAGS[system]}.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            for name, data in files.items():
                wheel.writestr(name, data)
        return list(cross_wheel.mistakes(path))


MAC, WIN, EXTRA = cross_wheel.MACOS["tilevm"], cross_wheel.WINDOWS["tilevm"], "tilevm/_native/include/extra.h"


class CrossWheel(unittest.TestCase):
    def test_good_ones(self):
        self.assertEqual(mistakes("macos"), [])
        self.assertEqual(mistakes("windows"), [])

    def found(self, text, system, change=None, **more):
        found = mistakes(system, change, **more)
        self.assertEqual(len(found), 1, found)
        self.assertIn(text, found[0])

    def test_wheel(self):
        self.found("has another tag", "macos", tag="win_amd64")
        self.found("RECORD does not say what extra.h is", "macos", record=lambda files: files.update({"extra.h": b""}))
        self.found(f"RECORD names {EXTRA}", "windows", lambda files: files.update({EXTRA: b""}), record=lambda files: files.pop(EXTRA))
        self.found("is not that of the repository", "macos", lambda files: files.pop("tilevm/_module.py"))
        self.found("is for Linux", "windows", lambda files: files.update({"tilevm/x.so": b"\x7fELF"}))
        self.found("there is no tilevm/_tilevm.pyd", "windows", lambda files: files.pop("tilevm/_tilevm.pyd"))

    def test_macos(self):
        for text, options in {
            "is for processor 0x1000007": {"cpu": 0x01000007}, "is for system 2": {"system": 2}, "needs macOS (12, 0)": {"oldest": (12, 0)},
            "is of kind 2": {"kind": 2}, "calls itself /tmp/x": {"name": "/tmp/x"}, "has no signature": {"signed": False},
            "needs /opt/libz.dylib": {"needed": ["/opt/libz.dylib"]},
            "needs @rpath/libz.dylib": {"needed": ["@rpath/libz.dylib"]},
            "does not say where it is": {"needed": ["@rpath/libtilevm_forms.dylib"], "paths": []},
        }.items():
            self.found(text, "macos", lambda files, options=options: files.update({MAC: mach_o(["tilevm_run"], **options)}))
        self.found("not both: hidden (1 in all)", "macos", lambda files: files.update({MAC: mach_o(["tilevm_run", "hidden", "_Znwm"])}))
        self.found("not both: tilevm_run (1 in all)", "macos", lambda files: files.update({MAC: mach_o([])}))

    def test_windows(self):
        for text, options in {
            "is for processor 0xaa64": {"cpu": 0xAA64}, "is no library": {"flags": 0}, "needs libc++.dll": {"needed": ["libc++.dll"]},
        }.items():
            self.found(text, "windows", lambda files, options=options: files.update({WIN: pe(["tilevm_run"], **options)}))
        self.found("not both: more (1 in all)", "windows", lambda files: files.update({WIN: pe(["tilevm_run", "more"])}))

    def test_files_that_are_cut_off(self):
        whole = mach_o(["tilevm_run"])
        found = mistakes("macos", lambda files: files.update({MAC: whole[:len(whole) // 2]}))
        self.assertTrue(any(mistake.startswith(f"{MAC}: ") for mistake in found), found)


if __name__ == "__main__":
    unittest.main()
