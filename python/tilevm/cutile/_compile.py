"""In place of NVIDIA's assembler: bytecode to a .tbc, for a GPU with machine code in it.

cuTile keeps the result in its cache on disk, under the assembler's version, bytecode and options: the version here is tilevm's, so that
neither takes what the other made.
"""
from __future__ import annotations

import os
import re

from .. import _module
from .._errors import Error, UnavailableError
from .._release import __version__
from ._image import arguments, pack
from .._frontend.report import name_kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, Callable, Iterator, Optional, Sequence

    from .._frontend.state import State
    from ._versions import Frontend


class Compiler:
    """For kernels of one device."""

    def __init__(self, state: "State", frontend: "Frontend") -> None:
        self._state = state
        self._frontend = frontend
        self._tag: "Optional[str]" = None

    # --- questions about the assembler

    def find_binary(self, original: "Callable[[], Any]") -> "Callable[[], Any]":
        """NVIDIA's assembler if it is installed, for programs that ask where it is; else our compiler's place."""

        def find() -> "Any":
            try:
                return original()
            except FileNotFoundError:
                try:
                    path = _module.tool("tilec")
                except UnavailableError:
                    path = _module.tool("tilevm")
                binary = getattr(__import__("cuda.tile._compile", fromlist=["_CompilerBinary"]), "_CompilerBinary")
                return binary(path, os.environ.get("PATH", ""), os.environ.get("LD_LIBRARY_PATH", ""), False)

        return find

    def newest_bytecode(self, original: "Any") -> "Callable[..., Any]":
        """The newest bytecode that cuTile writes by default; tilevm reads all of them."""
        newest = max(self._frontend.bytecode_versions.values())

        def version(temp_dir: str, allow_dev: bool = False) -> "Any":
            return newest

        return version

    def version_string(self, original: "Any") -> "Callable[[], str]":
        def version() -> str:
            if self._tag is None:
                self._tag = f"tilevm {__version__} {_module.digest_of_compiler()} for {_kind(self._state)}"
            return self._tag

        return version

    # --- compiling

    def compile_cubin(self, fname_bytecode: "Any", compiler_options: "Any", sm_arch: str, timeout_sec: "Optional[float]" = None,
                      remarks_output_file: "Any" = None, preview_features: "Sequence[str]" = (),
                      linker_inputs: "Sequence[Path]" = ()) -> "Path":
        """Writes a .tbc beside the bytecode. Errors: CompilationError, of cuTile's TileCompilerExecutionError; its
        TileCompilerTimeoutError."""
        from pathlib import Path

        if linker_inputs or preview_features:
            raise self._error(f"error[cutile.link]: the kernel wants {', '.join((*preview_features, *map(str, linker_inputs)))}: "
                              "tilevm compiles tile code only\n  fix: replace calls of foreign functions by tile operations")
        source = Path(fname_bytecode)
        try:
            module = _module.load(source.read_bytes(), name=source.name)
            if self._state.is_gpu:
                options = [f"-O{compiler_options.opt_level_for_target(sm_arch)}", "--lineinfo"]
                if timeout_sec is not None:
                    options.append(f"--time-limit={max(1, round(timeout_sec))}")
                module = module.compile(sm_arch.removeprefix("sm_").rstrip("af"), options)
        except Error as error:
            if timeout_sec is not None and "time limit" in str(error) or error.code == "codegen.time_limit":
                raise self._frontend.errors.TileCompilerTimeoutError(str(error), "", self.version_string(None)()) from error
            raise self._error(str(error)) from error
        result = source.with_suffix(".cubin")
        result.write_bytes(module.to_bytes())
        return result

    def _error(self, text: str) -> Exception:
        errors = self._frontend.errors
        made: "Any" = type("CompilationError", (errors.TileCompilerExecutionError,), {"__module__": __name__, "__init__": _init})
        error: Exception = made(text, errors.Loc.unknown(), errors.TileCompilerError, self.version_string(None)())
        return error

    def with_arguments(self, original: "Callable[..., Any]") -> "Callable[..., Any]":
        """compile_tile, whose machine code says what the parameters of each kernel in it are."""

        def compile_tile(function: "Any", signatures: "Any", *more: "Any", **options: "Any") -> "Any":
            python = getattr(function, "pyfunc", function)
            signatures = list(signatures)
            try:
                result = original(function, signatures, *more, **options)
            except self._frontend.errors.TileCompilerExecutionError as error:
                self._explain_rank(error, python, signatures)
                raise
            if result.cubin is not None:
                code = python.__code__
                for signature in result.kernel_signatures:
                    name_kernel(signature.symbol, python.__name__)
                kernels = {s.symbol: arguments(s.parameters, code.co_varnames[:len(s.parameters)]) for s in result.kernel_signatures}
                result.cubin = pack(kernels, result.cubin)
            return result

        return compile_tile

    def _explain_rank(self, error: "Any", python: "Any", signatures: "Any") -> None:
        """Tile code has no tensor views of rank 0, and tiles as many dimensions as their array. Errors: CompilationError that says so, where that
        is the mistake."""
        code = python.__code__
        other = re.search(r"has (\d+) entries for a tile of rank (\d+)", str(error))
        if other:
            raise self._error(f"{code.co_filename}:{code.co_firstlineno}: error[cutile.rank]: kernel `{python.__name__}` loads or stores a tile of "
                              f"rank {other[2]}, and the array has rank {other[1]}\n"
                              "  fix: give the tile as many dimensions as the array has, as by tile.reshape((1, n))") from None
        if "error[type.c9]" not in str(error):
            return
        for signature in signatures:
            for name in _without_rank(signature.parameters, code.co_varnames):
                raise self._error(f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}: error[cutile.rank]: `{name}` of kernel "
                                  f"`{python.__name__}` is an array of rank 0, and tile code loads and stores arrays of rank 1 and more\n"
                                  f"  fix: pass {name}.reshape(1), and use it at index (0,)") from None


def _without_rank(constraints: "Any", names: "Sequence[str]") -> "Iterator[str]":
    """Names of the parameters that are arrays of rank 0, or hold some."""
    for constraint, name in zip(constraints, names):
        element = getattr(constraint, "element", None)  # of a list
        inner: "Any" = (element,) if element is not None else getattr(constraint, "items", None) or getattr(constraint, "fields", ())
        if getattr(constraint, "ndim", None) == 0 or any(True for _ in _without_rank(inner, ("",) * len(inner))):
            yield name


def _init(self: "Any", text: str, place: "Any", base: "Any", version: str) -> None:
    """Of a CompilationError: cuTile's own classes take apart what its assembler prints."""
    base.__init__(self, text, place, "", version)


def _kind(state: "State") -> str:
    return state.architecture if state.is_gpu else "cpu"
