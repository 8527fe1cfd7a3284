"""Whether a wheel for macOS or Windows is what its name says:  cross_wheel.py FILE.whl...

Nothing of it runs here, so its files are read: RECORD and the tag, the package's Python sources, and the headers of what is compiled. Each
program and library must be for the processor and the system of the tag. It needs none but those inside and those that every such system
has. The libraries export the functions of the headers that lie beside them, and the extension what Python asks for. The formats are described
in Apple's <mach-o/loader.h> and in Microsoft's "PE Format".
"""
import argparse
import base64
import csv
import hashlib
import io
import pathlib
import re
import struct
import sys
import zipfile

ROOT = pathlib.Path(__file__).absolute().parents[2]
NAME = re.compile(r"tilevm-(?P<version>[^-]+)-(?P<tag>cp39-abi3-(?P<platform>macosx_(?P<major>\d+)_(?P<minor>\d+)_arm64|win_amd64))\.whl")


class Broken(Exception):
    """What is no program of the format."""


def text_at(data, offset):
    end = data.find(b"\0", offset)
    if not 0 <= offset <= end:
        raise Broken("a name lies outside of the file")
    return data[offset:end].decode()


class MachO:
    """A program or library of macOS."""
    magic = b"\xcf\xfa\xed\xfe"  # 64 bits, little-endian
    # Of every library: its header, and operators of memory, which C++ has programs share.
    always_exported = re.compile(r"_mh_(dylib|execute)_header|__dso_handle|_Z(n[wa]|d[la])\w+")

    def __init__(self, data):
        self.needed, self.paths, self.exported, self.undefined = [], [], set(), set()
        self.name = self.system = self.oldest = None
        self.is_signed = False
        _, self.cpu, _, self.kind, count, _, _, _ = struct.unpack_from("<4s7I", data)
        at = 32
        for _ in range(count):
            command, size = struct.unpack_from("<2I", data, at)
            words = struct.unpack_from(f"<{size // 4}I", data, at)
            if command in (0xC, 0x80000018, 0x8000001F):  # LC_LOAD_DYLIB, weak, re-exported
                self.needed.append(text_at(data, at + words[2]))
            elif command == 0xD:  # LC_ID_DYLIB
                self.name = text_at(data, at + words[2])
            elif command == 0x8000001C:  # LC_RPATH
                self.paths.append(text_at(data, at + words[2]))
            elif command == 0x32:  # LC_BUILD_VERSION
                self.system, self.oldest = words[2], (words[3] >> 16, words[3] >> 8 & 0xFF)
            elif command == 0x1D:  # LC_CODE_SIGNATURE
                self.is_signed = data[words[2]:words[2] + 4] == b"\xfa\xde\x0c\xc0"
            elif command == 2:  # LC_SYMTAB
                self.read_symbols(data, *words[2:5])
            at += size

    def read_symbols(self, data, symbols, count, strings):
        for i in range(count):
            name, kind, _, _, _ = struct.unpack_from("<IBBHQ", data, symbols + 16 * i)
            if kind & 0xE0 or not kind & 1 or kind & 0x10:  # for debuggers, local, or private
                continue
            found = text_at(data, strings + name).removeprefix("_")
            if kind & 0xE == 0:
                self.undefined.add(found)
            elif not self.always_exported.fullmatch(found):
                self.exported.add(found)

    def mistakes(self, libraries, oldest, is_program):
        if self.cpu != 0x0100000C:
            yield f"is for processor {self.cpu:#x}, not arm64"
        if self.system != 1:
            yield f"is for system {self.system}, not macOS"
        elif self.oldest > oldest:
            yield f"needs macOS {self.oldest}, newer than {oldest}"
        if self.kind not in ((2,) if is_program else (6, 8)):  # MH_EXECUTE, MH_DYLIB, MH_BUNDLE
            yield f"is of kind {self.kind}"
        if self.name is not None and not self.name.startswith("@rpath/"):
            yield f"calls itself {self.name}, after the folder where it was made"
        if not self.is_signed:
            yield "has no signature, which processors of Apple ask for"
        for needed in self.needed:
            if needed == "/usr/lib/libSystem.B.dylib":
                continue
            if needed.removeprefix("@rpath/") not in libraries or not needed.startswith("@rpath/"):
                yield f"needs {needed}, which is neither inside nor on every macOS"
            elif not any(path.startswith("@loader_path/") for path in self.paths):
                yield f"needs {needed}, and does not say where it is"


class Pe:
    """A program or library of Windows."""
    magic = b"MZ"
    everywhere = re.compile(r"(kernel32|ntdll|advapi32|shell32|ole32|user32|ws2_32|bcrypt|dbghelp|ucrtbase|python3|api-ms-win-[\w-]+)\.dll", re.I)

    def __init__(self, data):
        self.needed, self.exported = [], set()
        at = struct.unpack_from("<I", data, 0x3C)[0]
        if data[at:at + 4] != b"PE\0\0":
            raise Broken("has no PE header")
        self.cpu, sections, _, _, _, optional, self.flags = struct.unpack_from("<HHIIIHH", data, at + 4)
        header = at + 24
        self.is_64_bits = struct.unpack_from("<H", data, header)[0] == 0x20B
        self.places = [struct.unpack_from("<IIII", data, header + optional + 40 * i + 8) for i in range(sections)]
        if not self.is_64_bits:
            return
        exports, _, imports, _ = struct.unpack_from("<4I", data, header + 112)
        if exports:
            count, _, names = struct.unpack_from("<3I", data, self.offset(exports) + 24)
            for i in range(count):
                self.exported.add(text_at(data, self.offset(struct.unpack_from("<I", data, self.offset(names) + 4 * i)[0])))
        at = self.offset(imports) if imports else None
        while at is not None:
            name = struct.unpack_from("<5I", data, at)[3]
            if name == 0:
                break
            self.needed.append(text_at(data, self.offset(name)))
            at += 20

    def offset(self, address):
        for size, begin, raw, start in self.places:
            if begin <= address < begin + max(size, raw):
                return address - begin + start
        raise Broken(f"address {address:#x} is in no section")

    def mistakes(self, libraries, _, is_program):
        if self.cpu != 0x8664 or not self.is_64_bits:
            yield f"is for processor {self.cpu:#x}, not x86-64"
        if is_program == bool(self.flags & 0x2000):  # IMAGE_FILE_DLL
            yield "is a library" if is_program else "is no library"
        for needed in self.needed:
            if needed not in libraries and not self.everywhere.fullmatch(needed):
                yield f"needs {needed}, which is neither inside nor on every Windows"


MACOS = {"extension": "tilevm/_tilevm.abi3.so", "tilevm": "tilevm/_native/lib/libtilevm.dylib", "tilevm_forms": "tilevm/_native/lib/libtilevm_forms.dylib",
         "format": MachO}
WINDOWS = {"extension": "tilevm/_tilevm.pyd", "tilevm": "tilevm/tilevm.dll", "tilevm_forms": "tilevm/tilevm_forms.dll", "format": Pe}
HEADERS = {"tilevm": "tilevm/_native/include/tilevm.h", "tilevm_forms": "tilevm/_native/include/tilevm_forms.h"}


def record_mistakes(files, info):
    rows = {name: (digest, size) for name, digest, size in csv.reader(io.StringIO(files[f"{info}/RECORD"].decode()))}
    for name, data in files.items():
        digest = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        if name != f"{info}/RECORD" and rows.get(name) != (digest, str(len(data))):
            yield f"RECORD does not say what {name} is"
    yield from (f"RECORD names {name}, which is not inside" for name in rows.keys() - files.keys())


def sources_mistakes(files):
    for path in sorted((ROOT / "python/tilevm").rglob("*.py")):
        name = path.relative_to(ROOT / "python").as_posix()
        if files.get(name) != path.read_bytes():
            yield f"{name} is not that of the repository"


def mistakes(path):
    match = NAME.fullmatch(path.name)
    if match is None:
        yield "its name has no tag of macOS or Windows"
        return
    expected = WINDOWS if match["platform"] == "win_amd64" else MACOS
    oldest = (int(match["major"] or 0), int(match["minor"] or 0))
    with zipfile.ZipFile(path) as wheel:
        files = {name: wheel.read(name) for name in wheel.namelist()}
    info = f"tilevm-{match['version']}.dist-info"
    if f"\nTag: {match['tag']}\n" not in files[f"{info}/WHEEL"].decode():
        yield f"WHEEL has another tag than {match['tag']}"
    yield from record_mistakes(files, info)
    yield from sources_mistakes(files)
    programs = {}
    for name, data in files.items():
        if data[:4] == b"\x7fELF":
            yield f"{name} is for Linux"
        elif data[:len(expected["format"].magic)] == expected["format"].magic:
            try:
                programs[name] = expected["format"](data)
            except (Broken, struct.error) as error:
                yield f"{name}: {error}"
    libraries = {name.rsplit("/", 1)[-1] for name in programs}
    for name, program in programs.items():
        yield from (f"{name} {mistake}" for mistake in program.mistakes(libraries, oldest, "/bin/" in name))
    for part, function in (("extension", {"PyInit__tilevm"}), *((part, functions_of(files[HEADERS[part]])) for part in HEADERS)):
        if expected[part] not in programs:
            yield f"there is no {expected[part]}"
        elif programs[expected[part]].exported != function:
            wrong = sorted(programs[expected[part]].exported ^ function)
            yield f"{expected[part]}: exported, or of its header, but not both: {', '.join(wrong[:9])} ({len(wrong)} in all)"


def functions_of(header):
    return set(re.findall(r"^TILEVM_API [^;(]*?\b(\w+)\(", header.decode(), re.M))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", nargs="+", type=pathlib.Path)
    found = False
    for path in parser.parse_args().wheels:
        for mistake in mistakes(path):
            print(f"{path.name}: {mistake}")
            found = True
    sys.exit(found)


if __name__ == "__main__":
    main()
