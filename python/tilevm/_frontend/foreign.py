"""What Triton and cuTile say of a mistake before a kernel runs, in the form of this package's own errors, with what to do.

    add.py:9:8: error[triton.compile]: arange's range must be a power of 2
            i = tl.arange(0, B)
                ^
      fix: pass a power of two (triton.next_power_of_2(n)), and mask what is beyond n

Both raise errors of Python's and of their own from deep inside: the line is in the frames of Triton's translator, and in the text of cuTile's errors.
"""
from __future__ import annotations

import difflib
import linecache
import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Iterator, List, Optional, Tuple

# (of the message, what to do)
_FIXES: "Tuple[Tuple[str, str], ...]" = (
    (r"range must be a power of 2|is not a power of two", "pass a power of two (triton.next_power_of_2(n)), and mask what is beyond n"),
    (r"must be of type tl.constexpr|must have type `constexpr|not constant", "make it known when the kernel is compiled: declare the parameter "
     "`B: tl.constexpr`, in cuTile `B: ct.Constant[int]`"),
    (r"Unsupported ptr type", "give load and store a pointer: a parameter that takes a tensor, plus offsets"),
    (r"invalid operands of type pointer", "offsets are integers: convert them by .to(tl.int32)"),
    (r"incompatible dimensions at index", "give both as many dimensions, and equal sizes or 1 in each: x[:, None], x[None, :]"),
    (r"`other` cannot be provided without `mask`", "pass mask=, too: `other` is what the elements that it leaves out read"),
    (r"Block pointers have been removed", "use tl.make_tensor_descriptor, or a Triton that has them (3.6)"),
    (r"'NoneType' object has no attribute|'NoneType' are not supported", "an argument is None: pass a tensor, or leave its use out by `if`, "
     "of a parameter that is a constant"),
    (r"values to unpack", "take as many names as the function returns values"),
    (r"'str' object has no attribute 'scalar'|Expected a dtype constant", "name the type without quotes: tl.float16, in cuTile ct.float16"),
    (r"must be same dtype", "convert one of the two by .to"),
    (r"Cannot access global variable", "assign it as NAME = tl.constexpr(value), or pass it as a parameter"),
    (r"Incompatible shapes for matrix mul", "the second size of the first tile is the first size of the second one: transpose one, or load other shapes"),
    (r"missing a required argument: 'shape'", "pass the shape of the tile: ct.load(array, index=(i, j), shape=(16, 16))"),
    (r"object of type 'int' has no len", "a grid is a tuple: kernel[(blocks,)](…)"),
    (r"outside of the scope of a kernel", "launch a kernel with a grid, kernel[(blocks,)](…); other functions of @triton.jit are called by kernels only"),
    (r"failed to specialize argument of type", "pass tensors, numbers, None, or tuples of them"),
    (r"missing \d+ required positional|arguments but \d+ were given", "pass an argument for each parameter of the kernel"),
    (r"cannot be called directly", "launch it: ct.launch(stream, grid, kernel, (…))"),
)
_CUTILE_PLACE = re.compile(r'^\s*"(?P<file>[^"]+)", line (?P<line>\d+), col (?P<col>\d+)', re.MULTILINE)


def text_of(error: BaseException, called: str) -> "Optional[str]":
    """None for an error that is not a frontend's. `called`: the line of the program, "add.py:12"."""
    kind = type(error)
    if kind.__name__ == "CompilationError" and kind.__module__.startswith("triton."):
        return _of_triton(error)
    frames = list(_frames(error))
    if kind.__module__.startswith("cuda.tile"):
        return _of_cutile(str(error))
    if isinstance(error, KeyError):
        return _of_grid(error, frames, called)
    name = _frontend_of(frames[-1].f_code.co_filename) if frames else ""
    if not name or not called or not isinstance(error, (TypeError, RuntimeError, ValueError)):
        return None
    file, _, line = called.rpartition(":")
    message = str(error).replace("dynamic_func()", "the kernel")
    return _written(file, int(line), 0, f"{name}.launch", message)


def _of_triton(error: BaseException) -> "Optional[str]":
    """The innermost error of a function whose place is known; its cause may say what is wrong. Triton removes the frames of its translator."""
    kernels = [getattr(frame.f_locals.get("self"), "fn", None) for frame in _frames(error)]
    known = [kernel for kernel in kernels if hasattr(kernel, "def_file_line_number")]
    if not known:
        return None
    functions = [known[-1], *(value for value in getattr(known[-1], "__globals__", {}).values() if hasattr(value, "def_file_line_number"))]
    seen: "Optional[BaseException]" = error
    place, message = "", ""
    while seen is not None:
        message = str(getattr(seen, "error_message", "" if type(seen) is type(error) else seen) or "") or message
        source, node = getattr(seen, "src", None), getattr(seen, "node", None)
        function = next((f for f in functions if f.src == source), None)
        if function is not None and node is not None and hasattr(node, "lineno"):
            place, line, column = function.file_name, function.def_file_line_number - 1 + node.lineno, node.col_offset + 1
        seen = seen.__cause__
    if not place:
        return None
    quoted = re.fullmatch(r"\w+\(([\"'])(.*)\1\)", message, re.DOTALL)  # the `repr` of an error of Python's
    return _written(place, line, column, "triton.compile", quoted[2].replace("\\'", "'") if quoted else message)


def _of_cutile(text: str) -> "Optional[str]":
    places = [place for place in _CUTILE_PLACE.finditer(text) if not _is_installed(place["file"])]
    if not places:
        return None
    return _written(places[0]["file"], int(places[0]["line"]), int(places[0]["col"]), "cutile.compile", text.splitlines()[0])


def _of_grid(error: KeyError, frames: "List[FrameType]", called: str) -> "Optional[str]":
    """A function that computes a grid asks for an argument that the launch does not have."""
    if len(frames) < 2 or _frontend_of(frames[-2].f_code.co_filename) != "triton" or not called:
        return None
    names = list(frames[-2].f_locals.get("bound_args", ()))
    file, _, line = called.rpartition(":")
    return _written(file, int(line), 0, "triton.grid", f"the grid asks for {error.args[0]!r}; the arguments of the launch are {', '.join(names)}",
                    "ask for an argument of the kernel by its name")


def _written(file: str, line: int, column: int, code: str, message: str, fix: str = "") -> str:
    place = f"{file}:{line}:{column}" if column else f"{file}:{line}"
    source = linecache.getline(file, line).rstrip()
    lines = [f"{place}: error[{code}]: {message}", *([f"    {source}"] if source else []), *(["    " + " " * (column - 1) + "^"] if source and column else [])]
    fix = fix or next((what for pattern, what in _FIXES if re.search(pattern, message)), "") or _meant(message)
    return "\n".join([*lines, f"  fix: {fix}"] if fix else lines)


def _meant(message: str) -> str:
    """Names of the language that look like one that it does not have."""
    missing = re.search(r"[Mm]odule '(triton\.language|cuda\.tile)' has no attribute '(\w+)'", message)
    if missing is None:
        return ""
    import importlib

    close = difflib.get_close_matches(missing[2], dir(importlib.import_module(missing[1])), 1)
    short = "tl" if missing[1].startswith("triton") else "ct"
    return f"{short}.{close[0]} is meant, perhaps" if close else f"look it up in the documentation of this version of {missing[1].partition('.')[0]}"


def _frames(error: BaseException) -> "Iterator[FrameType]":
    at = error.__traceback__
    while at is not None:
        yield at.tb_frame
        at = at.tb_next


def _frontend_of(file: str) -> str:
    if not _is_installed(file) and file != "<string>":
        return ""
    parts = file.replace(os.sep, "/")
    return "cutile" if "/cuda/tile/" in parts or "/tilevm/cutile/" in parts else "triton" if "/triton/" in parts or file == "<string>" else ""


def _is_installed(file: str) -> bool:
    return "site-packages" in file or "dist-packages" in file
