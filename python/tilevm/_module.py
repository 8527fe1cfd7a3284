"""Programs: loading them from any form, looking into them, compiling them, writing them."""
from __future__ import annotations

import functools
import os

from . import _native_files, _tilevm
from ._errors import ModuleError, NotFoundError, UnavailableError, argument_error, entry, make_error, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

    from ._errors import Diagnostic
    from ._kernel import Kernel

    Source = Union[str, bytes, bytearray, memoryview, "os.PathLike[str]"]

_TBC, _TEXT, _TILEIR, _JSON = range(4)


def _translate(data: bytes, name: str, form: int, version: int = 0, debug: bool = True, verify: bool = True) -> "Tuple[bytes, str]":
    status, output, warnings = _tilevm.translate(data, name, form, version, not debug, not verify)
    if status != 0:
        raise make_error(status, "", output)
    return output, warnings


def _version(text: "Optional[str]") -> int:
    if text is None:
        return 0
    parts = text.split(".") if isinstance(text, str) else []
    if len(parts) != 2 or not all(part.isdigit() for part in parts) or int(parts[1]) > 99:
        raise argument_error(f"version {text!r} is not of the form 'MAJOR.MINOR'")
    return int(parts[0]) * 100 + int(parts[1])


class Module:
    """A verified program: kernels, and machine code for GPUs if it was compiled. Made by `tilevm.load`; never changes.

        module = tilevm.load("vector_add.tbc")
        c = module["vector_add"](a, b)
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self._original = data
        self._tbc, warnings = _translate(data, name, _TBC)
        self.warnings: "Tuple[Diagnostic, ...]" = parse(warnings) if warnings else ()
        self._program: "Any" = None
        self._description: "Optional[Dict[str, Any]]" = None
        self._kernels: "Dict[str, Kernel]" = {}

    # --- what it is

    @property
    def description(self) -> "Dict[str, Any]":
        """Everything that tools ask, as plain data: form, version, producer, kernels with parameters, arguments and launch rules
        (expressions as text), images. runtime/forms/describe.h shows its form."""
        if self._description is None:
            import json

            text = _translate(self._original, self.name, _JSON, verify=False)[0]
            self._description = json.loads(text.decode("utf-8", "surrogateescape"))
        return self._description

    @property
    def kernels(self) -> "Mapping[str, Kernel]":
        """The kernels by name, in the order of the program."""
        if not self._kernels:
            from ._kernel import Kernel

            self._kernels = {k["name"]: Kernel(self, k) for k in self.description["kernels"]}
        return self._kernels

    @entry
    def __getitem__(self, name: str) -> "Kernel":
        """A kernel by its symbol or, for kernels from C++, by what C++ calls them, as long as no other is called so:
        module["scale"], module["scale<float, 64>"].

        Errors: NotFoundError lists the kernels that there are."""
        try:
            return self.kernels[name]
        except KeyError:
            found = self._called(name)
            if len(found) == 1:
                return self.kernels[found[0]]
            have = self._list(found or self.kernels) or "none"
            if found:
                raise NotFoundError(f"{self.name}: error[run.which_kernel]: {len(found)} kernels are called `{name}`: {have}") from None
            raise NotFoundError(f"{self.name}: error[run.no_kernel]: the module has no kernel `{name}`; it has {have}") from None

    def _called(self, name: str) -> "List[str]":
        """Symbols of the kernels that C++ calls so; a longer name wins."""
        wanted = name.replace(" ", "")
        ranks: "Dict[str, int]" = {}
        for k in self.description["kernels"]:
            names = [n.replace(" ", "") for n in k["cpp_names"]]
            if wanted in names:
                ranks[k["name"]] = names.index(wanted)
        return [symbol for symbol, rank in ranks.items() if rank == min(ranks.values())]

    def _list(self, symbols: "Iterable[str]") -> str:
        """For messages: what C++ calls the kernels, then their symbols."""
        cpp = {k["name"]: k["cpp_names"][0] for k in self.description["kernels"] if k["cpp_names"]}
        return ", ".join(f"{cpp[symbol]} [{symbol}]" if symbol in cpp else symbol for symbol in symbols)

    def __iter__(self) -> "Iterator[str]":
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def __contains__(self, name: object) -> bool:
        return name in self.kernels

    def __repr__(self) -> str:
        return f"<tilevm.Module {self.name}: {self._list(self.kernels)}>"

    @property
    def kernel(self) -> "Kernel":
        """The only kernel. Errors: NotFoundError if there are several."""
        if len(self.kernels) != 1:
            raise NotFoundError(f"{self.name}: error[run.which_kernel]: the module has {len(self.kernels)} kernels: "
                                f"{self._list(self.kernels)}\n  fix: name one, as in module['{next(iter(self.kernels), 'name')}']")
        return next(iter(self.kernels.values()))

    @property
    def images(self) -> "Sequence[Dict[str, Any]]":
        """Machine code: dicts with kernel, arch ("sm_90a"), kind ("cubin" or "ptx"), symbol, bytes, and current: false if it was
        compiled from other code than the module's."""
        images: "Sequence[Dict[str, Any]]" = self.description["images"]
        return images

    # --- other forms

    @entry
    def disassemble(self, debug: bool = False) -> str:
        """The program as text (docs/text.md), with debug records if asked.

            print(tilevm.load("kernel.tilebc").disassemble())
        """
        return _translate(self._tbc, self.name, _TEXT, debug=debug, verify=False)[0].decode("utf-8", "surrogateescape")

    @entry
    def to_bytes(self, version: "Optional[str]" = None, debug: bool = True) -> bytes:
        """The module as a .tbc file: for readers of `version` ("0.3") and newer; without debug information if not asked.

        Errors: ModuleError names what that version lacks."""
        if version is None and debug:
            return self._tbc
        return _translate(self._tbc, self.name, _TBC, _version(version), debug)[0]

    @entry
    def save(self, path: "Union[str, os.PathLike[str]]", version: "Optional[str]" = None, debug: bool = True) -> None:
        """Writes to_bytes() to a file: complete, or not at all. Errors: OSError; those of to_bytes.

            tilevm.load("kernel.tile").save("kernel.tbc")
        """
        _write(path, self.to_bytes(version, debug))

    @entry
    def export(self, path: "Union[str, os.PathLike[str], None]" = None, version: "Optional[str]" = None) -> bytes:
        """NVIDIA's Tile IR bytecode of a version, "13.1" to "13.5", or of the lowest that holds the program; also to a file
        if one is named.

        Errors: ModuleError names the operation that the version lacks."""
        data = _translate(self._tbc, self.name, _TILEIR, _version(version))[0]
        if path is not None:
            _write(path, data)
        return data

    @entry
    def compile(self, sm: "Union[int, str, Iterable[Union[int, str]]]", options: "Iterable[str]" = ()) -> "Module":
        """The same module with machine code for GPUs of these compute capabilities (90, or [80, 90]), for all kernels.

        `options` are those of the command `tilec` ("-O2", "--lineinfo"). Takes from tenths of a second to seconds a kernel and GPU.
        Runs the compiler of this package in a process of its own. Errors: ModuleError for what the compiler refuses, with the
        place in the source; UnavailableError without compiler, ptxas or libdevice.

            tilevm.load("matmul.tile").compile([80, 90]).save("matmul.tbc")
        """
        try:
            targets = [sm] if isinstance(sm, (int, str)) else list(sm)
        except TypeError:
            raise argument_error(f"sm={sm!r} is no GPU", "pass sm=90, or several as sm=[80, 90]") from None
        if not targets:
            raise argument_error("compile for no GPU", "pass sm=90, or several as sm=[80, 90]")
        if isinstance(options, str):
            raise argument_error(f"options={options!r} is one string", f"pass [{options!r}]")
        words = list(options)
        if not all(isinstance(word, str) for word in words):
            raise argument_error(f"options={words!r}", "pass words as text, as on the command line of tilec")
        return load(_compile(self._tbc, self.name, ",".join(str(t) for t in targets), words), name=self.name)

    # --- for launches

    @property
    def program(self) -> "Any":
        if self._program is None:
            self._program = _tilevm.Program(self._tbc, self.name)
        return self._program


def _write(path: "Union[str, os.PathLike[str]]", data: bytes) -> None:
    path = os.fspath(path)
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb") as file:
            file.write(data)
        os.replace(part, path)
    except BaseException as error:
        if os.path.exists(part):
            os.unlink(part)
        if isinstance(error, OSError):
            error.filename = path
        raise


def digest_of_compiler() -> str:
    """For caches that others keep of what was compiled: another one for each build of the reader and of `tilec`, which TILEVM_TILEC may name."""
    return _digest_of(_native_files.library("tilevm_forms"), _tool_path("tilec"))


@functools.lru_cache(None)
def _digest_of(*paths: str) -> str:
    """Size and time of the files that are there."""
    import hashlib

    text = ""
    for path in filter(os.path.exists, paths):
        about = os.stat(path)
        text += f"{path} {about.st_size} {about.st_mtime_ns};"
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _tool_path(name: str) -> str:
    return os.environ.get(f"TILEVM_{name.upper()}") or _native_files.command(name)


@entry
def tool(name: str) -> str:
    """The path of a command of this package: "tilevm", "tilec", unless TILEVM_TILEVM or TILEVM_TILEC names another one.

    Errors: UnavailableError if this package was built without it."""
    if name not in ("tilevm", "tilec"):
        raise argument_error(f"{name!r} is no command of this package", "name 'tilevm' or 'tilec'")
    path = _tool_path(name)
    if not os.path.exists(path):
        raise UnavailableError(f"error[python.no_tool]: this build of the package has no `{name}`\n"
                               "  fix: install a wheel that was built with it")
    return path


def _compile(tbc: bytes, name: str, sm: str, options: "list[str]") -> bytes:
    import subprocess
    import tempfile

    command = tool("tilec")
    with tempfile.TemporaryDirectory(prefix="tilevm") as folder:
        source, result = os.path.join(folder, os.path.basename(name) or "kernel"), os.path.join(folder, "compiled", "out.tbc")
        os.mkdir(os.path.dirname(result))
        with open(source, "wb") as file:
            file.write(tbc)
        ran = subprocess.run([command, source, f"--sm={sm}", "-o", result, *options], capture_output=True, stdin=subprocess.DEVNULL)
        if ran.returncode == 0:
            with open(result, "rb") as file:
                return file.read()
    text = ran.stderr.decode("utf-8", "replace").replace(source, name).strip()
    status = {1: 3, 2: 1, 5: 4}.get(ran.returncode, 9)
    raise make_error(status, "", text or f"error[python.compile]: tilec ended with status {ran.returncode}")


def _need_name(name: object) -> None:
    if name is not None and (not isinstance(name, str) or "\0" in name):
        raise argument_error(f"name={name!r} is no text for messages")


@entry
def load(source: Source, name: "Optional[str]" = None) -> Module:
    """A program from a file, or from bytes: .tbc, text, NVIDIA's Tile IR bytecode, or Triton's TTIR, told apart by content.

    A str or path names a file (text itself goes through `tilevm.loads`). `name` is for messages; a file has its own.
    Errors: NotFoundError or OSError for files; ModuleError with every mistake of the program, each with its place and fix.

        module = tilevm.load("attention.tilebc")
        module = tilevm.load(open("attention.tbc", "rb").read(), name="attention")
    """
    _need_name(name)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Module(bytes(source), name or "<memory>")
    if not isinstance(source, (str, os.PathLike)):
        raise argument_error(f"load takes a file's name or bytes, not {type(source).__name__}", "loads takes text")
    path = os.fspath(source)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        raise NotFoundError(f"{path}: error[file.read]: there is no such file") from None
    except IsADirectoryError:
        raise argument_error(f"{path!r} is a directory", f"name a file in it{_files_in(path)}") from None
    return Module(data, name or path)


def _files_in(folder: "Union[str, os.PathLike[str]]") -> str:
    """": vector_add.tile, …", of at most four programs."""
    names = sorted(n for n in os.listdir(folder) if str(n).endswith((".tbc", ".tile", ".tilebc", ".ttir")))
    return f": {', '.join(names[:4])}{', …' if len(names) > 4 else ''}" if names else ""


@entry
def loads(text: str, name: str = "<text>") -> Module:
    """A program from text (docs/text.md). Errors: ModuleError.

        module = tilevm.loads("entry @nothing() { return }")
    """
    if not isinstance(text, str):
        raise argument_error(f"loads takes text, not {type(text).__name__}", "load takes bytes and files")
    _need_name(name)
    try:
        return Module(text.encode(), name)
    except UnicodeEncodeError as error:
        raise argument_error(f"the text has half a character at {error.start}", "load takes bytes as they are") from None


@entry
def verify(source: Source, name: "Optional[str]" = None) -> "Tuple[Diagnostic, ...]":
    """Every mistake and warning of a program, in order; empty if there is none. Takes what `load` takes.

        for d in tilevm.verify("kernel.tile"):
            print(d.file, d.line, d.code, d.message, d.fix)
    """
    try:
        return load(source, name).warnings
    except ModuleError as error:
        return error.diagnostics
