"""@script.kernel: a Python function as a kernel that can be called on arrays, written to a file, looked into."""
from __future__ import annotations

import functools
import inspect
import threading

from .. import _arrays
from .._errors import argument_error, entry
from .._warnings import tell_warnings
from ..builder import Value
from . import _control
from ._array import Array, make_planned_views, row_major
from ._dtypes import BY_NAME, DType, dtype
from ._errors import script_error
from ._rewrite import rewrite
from ._signature import Bound, element_fix, parse
from ._tile import Tile, make
from ._trace import Plan, Trace, current, running, set_running

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any, Callable, Dict, Iterable, List, Tuple, TypeVar, Union

    from .._kernel import Kernel as RunKernel
    from .._launch import Launch
    from .._module import Module
    from .._places import Place
    from ._array import Size

    F = TypeVar("F", bound=Callable[..., Any])

_MISSING = inspect.Parameter.empty
_OPTIONS = ("out", "grid", "device", "stream", "check", "threads", "arguments", "memory")


class Kernel:
    """A kernel written in Python; made by `script.kernel`. Called as a `tilevm.Kernel` is, with constants by name:

        c = add(a, b)                        # builds, verifies, runs; the next call with these constants only runs
        c = add(a, b, BLOCK=256, device="cuda", check="full")
        add.save("add.tbc", BLOCK=256)

    `name`, `signature`, `constants` (with their defaults)."""

    def __init__(self, function: "Callable[..., Any]", signature: str, grid: "Any", sizes: str, at: "Place") -> None:
        self.name = function.__name__
        self.signature = signature
        self._grid = grid
        self._at = at
        if sizes not in ("i32", "i64"):
            raise script_error("script.signature", f"sizes={sizes!r}", "'i32' or 'i64'", at)
        self._sizes = sizes
        parameters = inspect.signature(function).parameters
        for p in parameters.values():
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY):
                raise script_error("script.signature", f"`{p}` of `{self.name}`", "parameters of a kernel have names", at)
        self._items = parse(signature, list(parameters), at)
        named = {i.name for i in self._items}
        self.constants: "Dict[str, Any]" = {n: p.default for n, p in parameters.items() if n not in named}
        self._types = {i.element for i in self._items if i.element in self.constants}
        for item in self._items:
            if item.element not in BY_NAME and item.element not in self.constants:
                raise script_error("script.signature", f"`{item.name}`: {item.element} is no element type",
                                   element_fix(item.element), at)
        self._run = rewrite(function, _control)
        self._file = function.__code__.co_filename, function.__code__.co_firstlineno, 1
        self._lock = threading.Lock()
        self._built: "Dict[Any, Tuple[RunKernel, Any]]" = {}  # with the constants, whose addresses may be part of the key
        functools.update_wrapper(self, function, updated=())

    def __repr__(self) -> str:
        return f"<tilevm.script.Kernel {self.name}({self.signature})>"

    # --- programs

    @entry
    def specialize(self, **constants: "Any") -> "RunKernel":
        """The `tilevm.Kernel` for constants; those that are not named have their defaults. Equal ones give the same object.

        Errors: ScriptError and ModuleError, at the Python line that is wrong."""
        values = self._constants(constants)
        key = tuple((n, type(v).__name__, repr(v)) for n, v in values.items())
        with self._lock:
            if key not in self._built:
                self._built[key] = self._build(values), values
            return self._built[key][0]

    def _constants(self, given: "Dict[str, Any]") -> "Dict[str, Any]":
        for name in given:
            if name not in self.constants:
                raise script_error("script.arguments", f"kernel `{self.name}` has no constant `{name}`",
                                   _did_you_mean(name, self.constants) + f"it has {', '.join(self.constants) or 'none'}")
        values = {**self.constants, **given}
        for name, value in values.items():
            if value is _MISSING or value is None and name in self._types:
                raise script_error("script.arguments", f"the constant `{name}` of kernel `{self.name}` has no value",
                                   "a kernel is a function outside of a class: leave `self` out" if name == "self" else
                                   f"pass {name}=…, or give it a default; an array or a scalar stands in the signature")
            if isinstance(value, Tile):
                raise script_error("script.constant", f"the constant `{name}` of kernel `{self.name}` is a tile", "pass a Python value")
        return {n: dtype(v) if n in self._types else v for n, v in values.items()}

    @property
    @entry
    def module(self) -> "Module":
        """The program with the default constants."""
        return self.specialize().module

    @property
    @entry
    def text(self) -> str:
        """The program with the default constants, as text (docs/text.md)."""
        return self.module.disassemble()

    @entry
    def save(self, path: "Union[str, os.PathLike[str]]", **constants: "Any") -> None:
        """Writes the program as .tbc, which runs without Python.

            add.save("add.tbc", BLOCK=512)
        """
        self.specialize(**constants).module.save(path)

    # --- launches

    @entry
    def __call__(self, *args: "Any", stream: "Any" = None, **named: "Any") -> "Any":
        """Runs it: arguments and options of `tilevm.Kernel`, and constants. Element types that are constants without a value follow
        from the arrays. Outputs that are not given are new arrays, of unsigned integers where the signature says so."""
        return self.prepare(*args, **named)(stream)

    if not TYPE_CHECKING:
        def __getattr__(self, name):
            near = {"run": "call it: {0}(…)", "launch": "call it: {0}(…)", "apply": "call it: {0}(…)", "forward": "call it: {0}(…)", "fn": "call it: {0}(…)",
                    "compile": "{0}.module.compile(90)", "warmup": "{0}.specialize(…)", "asm": "{0}.text", "code": "{0}.text", "ir": "{0}.text",
                    "source": "{0}.text", "grid": "{0}.specialize().grid", "arrays": "{0}.specialize().arrays", "export": "{0}.save('{0}.tbc')",
                    "write": "{0}.save('{0}.tbc')", "kernel": "{0}.specialize()"}.get(name, "")
            about = f"; {near.format(self.__dict__.get('name', 'kernel'))}" if near else ""
            raise AttributeError(f"'Kernel' object has no attribute {name!r}{about}")

    def __getitem__(self, blocks: "Any") -> "Any":
        raise argument_error(f"kernel `{self.name}` with blocks in brackets",
                             f"call it: {self.name}(…) has the blocks that its launch rule says, {self.name}(…, grid=(4, 1)) has others")

    @entry
    def prepare(self, *args: "Any", **named: "Any") -> "Launch":
        """A launch that is checked once and run often: `tilevm.Kernel.prepare`, and constants."""
        if running() is not None:
            raise script_error("script.nested", f"kernel `{self.name}` is called in a kernel",
                               "make what both do a function with @script.function; kernels are launched one after the other by Python")
        self._check_names(named)
        kernel, rest, constants = self._kernel_for(args, named)
        launch = kernel.prepare(*args, **rest)
        outputs = [i for i in self._items if i.direction == "out"]
        types = {i.name: dtype(constants.get(i.element, self.constants.get(i.element, i.element))) for i in outputs}
        if any(t.kind == "uint" for t in types.values()):
            out = rest.get("out")
            given = {**rest, **(rest.get("arguments") or {}), **dict(zip((i.name for i in outputs), [out] if _arrays.is_array(out) else out or ()))}
            made = [launch.outputs] if len(outputs) == 1 else list(launch.outputs)
            for k, item in enumerate(outputs):
                if types[item.name].kind == "uint" and given.get(item.name) is None:
                    made[k] = made[k].view(_like(made[k], types[item.name]))
            launch.outputs = made[0] if len(made) == 1 else tuple(made)
        return launch

    def _check_names(self, named: "Dict[str, Any]") -> None:
        """Errors: ArgumentError for a name that is no argument, constant or option."""
        arguments = [i.name for i in self._items]
        for name in named:
            if name in ("num_warps", "num_stages", "num_ctas", "maxnreg"):
                raise argument_error(f"kernel `{self.name}` has no `{name}`", "leave it out: the compiler chooses warps and stages")
            if name not in (*arguments, *self.constants, *_OPTIONS):
                lists = (("arguments", arguments), ("constants", self.constants), ("options", _OPTIONS))
                raise argument_error(f"kernel `{self.name}` has no argument `{name}`", _did_you_mean(name, (*arguments, *self.constants, *_OPTIONS)) +
                                     "; ".join(f"{what} are {', '.join(names) or 'none'}" for what, names in lists))

    def _kernel_for(self, args: "Tuple[Any, ...]", named: "Dict[str, Any]") -> "Tuple[RunKernel, Dict[str, Any], Dict[str, Any]]":
        constants = {n: v for n, v in named.items() if n in self.constants}
        rest = {n: v for n, v in named.items() if n not in self.constants}
        arguments = dict(zip((i.name for i in self._items if i.direction != "out"), args))
        arguments.update(rest)
        for item in self._items:
            wanted = constants.get(item.element, self.constants.get(item.element))
            value = arguments.get(item.name)
            if item.element in self._types and wanted in (None, _MISSING) and value is not None and _arrays.is_array(value):
                constants[item.element] = dtype(getattr(value, "dtype", None) or _arrays.view_of(value).element.name)
        return self.specialize(**constants), rest, constants

    # --- tracing

    def _build(self, constants: "Dict[str, Any]") -> "RunKernel":
        bound = Bound(self._items, constants, self._grid, self._sizes, self._at)
        plan = Plan()
        while True:
            trace = Trace(self.name, plan)
            before = set_running(trace)
            try:
                self._trace(trace, bound, constants)
            finally:
                set_running(before)
            if plan.covers(trace.found):
                module = trace.builder.build()
                tell_warnings([str(found) for found in module.warnings])
                return module[self.name]
            plan.add(trace.found)

    def _trace(self, trace: "Trace", bound: "Bound", constants: "Dict[str, Any]") -> None:
        builder = trace.builder
        builder.at = self._file
        body = builder.entry(self.name, interface=bound.interface, **bound.parameters)
        parameters = {v.name[1:]: v for v in body.__enter__()}
        arguments: "Dict[str, Any]" = dict(constants)
        for item in self._items:
            type = bound.types[item.name]
            if item.direction == "scalar":
                arguments[item.name] = make(parameters[item.name], type, ())
            else:
                array = _array(bound, item.name, type, item.direction != "in", parameters)
                make_planned_views(array)
                arguments[item.name] = array
        builder.at = None
        result = self._run(**arguments)
        if result is not None:  # of a function whose source was not read; else _control.result said it, at the statement
            _control.gives(result, self._file)
        builder.at = self._file
        body.__exit__(None, None, None)
        builder.at = None


def _did_you_mean(name: str, names: "Iterable[str]") -> str:
    """"did you mean BLOCK? ", whatever the case of its letters; "" if no name is near."""
    import difflib

    lower = {n.lower(): n for n in names}
    near = difflib.get_close_matches(name.lower(), lower, 1)
    return f"did you mean {lower[near[0]]}? " if near else ""


def _like(array: "Any", type: "DType") -> "Any":
    """The type as the library of the array calls it."""
    import sys

    torch = sys.modules.get("torch")
    return getattr(torch, type.numpy) if torch is not None and isinstance(array, torch.Tensor) else type.numpy


def _array(bound: "Bound", name: str, type: "DType", writable: bool, parameters: "Dict[str, Value]") -> "Array":
    """An argument as an Array, with what makes its tensor_view."""
    size_type = dtype("i64" if any("i64" in t for n, t in bound.parameters.items() if n in map(str, bound.shapes[name])) else "i32")

    def scalar(word: "Union[int, str]") -> "Size":
        return word if isinstance(word, int) else make(parameters[word], size_type, ())

    sizes = tuple(scalar(w) for w in bound.shapes[name])
    fixed = [s if isinstance(s, int) else None for s in sizes]
    if name in bound.strides:
        strides: "List[Size]" = [scalar(w) for w in bound.strides[name]]
    elif None not in fixed[1:]:
        strides = list(row_major([1, *(s for s in fixed[1:] if s is not None)]))
    else:
        strides = [1]
        for size in reversed(sizes[1:]):
            last = strides[0]
            if isinstance(last, Tile) and not isinstance(size, int) or isinstance(last, Tile) and last.dtype is not size_type:
                wide = last.astype(dtype("i64"))
                strides.insert(0, wide * (size if isinstance(size, int) else size.astype(dtype("i64"))))
            elif isinstance(last, int) and isinstance(size, int):
                strides.insert(0, last * size)
            else:
                other, number = (last, size) if isinstance(last, Tile) else (size, last)
                assert isinstance(other, Tile)
                strides.insert(0, other if isinstance(number, int) and number == 1 else other.astype(dtype("i64")) * number)

    def text(values: "Any") -> str:
        return "?" if isinstance(values, Tile) else str(values)

    view_type = f"tensor_view<{''.join(text(s) + 'x' for s in sizes)}{type.element}, strides=[{','.join(map(text, strides))}]>"

    def make_view() -> "Value":
        trace = current("a view")
        parts = [*sizes, *strides]
        wide = any(isinstance(p, Tile) and p.dtype.element == "i64" for p in parts)
        given: "List[Union[int, Value]]" = [
            p.astype(dtype("i64"))._value if wide and isinstance(p, Tile) else p._value if isinstance(p, Tile) else p for p in parts]
        mark = trace.mark()
        view = trace.builder.make_tensor_view(parameters[name], given[:len(sizes)], given[len(sizes):], view_type)
        if trace.region.dead:
            trace.cut(mark)
        return view

    return Array(name, type, sizes, tuple(strides), writable, parameters[name], view_type, make_view)


@entry
def kernel(signature: str, *, grid: "Any" = None, sizes: str = "i32") -> "Callable[[Callable[..., Any]], Kernel]":
    """Makes a kernel of a function.

    `signature`: arrays and scalars, "a: f32[n], b: f32[n] -> c: f32[n]" (docs/script.md). `grid`: the launch rule, one
    to three expressions of sizes, scalars and constants, "ceildiv(n, BLOCK)"; without one each call says grid=. `sizes`: "i64" for arrays with
    a dimension of 2^31 elements or more.

        @script.kernel("a: f32[n], b: f32[n] -> c: f32[n]", grid="ceildiv(n, BLOCK)")
        def add(a, b, c, BLOCK=1024):
            i = script.bid()
            script.store(c, i, script.load(a, i, BLOCK) + script.load(b, i, BLOCK))

        c = add(x, y)

    Errors: script.signature, script.source, script.syntax."""
    from ._errors import place

    at = place()
    if not isinstance(signature, str):
        raise script_error("script.signature", "@script.kernel without a signature", '@script.kernel("x: f32[n] -> y: f32[n]", grid="ceildiv(n, 128)")', at)

    @entry
    def make_kernel(function: "Callable[..., Any]") -> Kernel:
        if not inspect.isfunction(function):
            raise script_error("script.source", f"@script.kernel of {function!r}, which is no function", "write it as def, with @script.kernel in front", at)
        return Kernel(function, signature, grid, sizes, at)

    return make_kernel


def function(f: "F") -> "F":
    """Makes a function that kernels call, in which `for`, `while` and `if` on tiles work as in kernels. Functions without them need no
    decorator. It may return values, not from inside of a loop or branch on a tile.

        @script.function
        def length(n):                       # of the numbers of Collatz
            count = 0
            while n != 1:
                n = script.where(n % 2 == 0, n // 2, 3 * n + 1)
                count += 1
            return count
    """
    made: "F" = functools.wraps(f)(_control.framed(rewrite(f, _control)))  # type: ignore[assignment]
    return made


__all__ = ["Kernel", "kernel", "function"]
