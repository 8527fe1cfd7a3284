"""Kernels as callables: binding arguments, allocating outputs, launching.

A call is bound and checked here; the extension then remembers what it came to, and does calls that are alike by itself
(_plans.py, ext/core/call.c)."""
from __future__ import annotations

import os

from . import _arrays, _device, _plans, _tilevm
from ._errors import argument_error, entry
from ._interface import Array, Parameter, Scalar, signature
from ._launch import Launch
from ._types import BY_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Union

    from ._device import Device
    from ._module import Module

    Grid = Union[int, Sequence[int]]

_CHECKS = {None: 0, "none": 1, "bounds": 2, "full": 3}


class Kernel(_tilevm.Callable):
    """A kernel of a module. Call it with arrays.

        add = tilevm.load("vector_add.tbc")["vector_add"]
        c = add(a, b)                       # NumPy in, NumPy out; torch in, torch out
        add(a, b, out=c)                    # into an array that is there
        add(a, b, c=c, check="full")        # by name; with every check of the VM
        launch = add.prepare(a, b, out=c)   # checked once …
        launch()                            # … run often: what the C interface costs, and a microsecond

    `name` (its symbol), `readable` (what C++ calls it, if it comes from there, for messages), `module`, `arrays`, `scalars` (of its interface),
    `parameters` (raw), `has_interface`, `grid` (the launch rule, as expressions), `signature`. May be called by any number of threads."""

    def __init__(self, module: "Module", description: "Dict[str, Any]") -> None:
        self.module = module
        self.name: str = description["name"]
        self.readable: str = description["cpp_names"][1] if description["cpp_names"] else self.name
        self.parameters = tuple(Parameter(p, i) for i, p in enumerate(description["parameters"]))
        self.has_interface: bool = description["arrays"] is not None
        self.arrays = tuple(Array(a, self.parameters) for a in description["arrays"] or ())
        self.scalars = tuple(Scalar(s) for s in description["scalars"] or ())
        self.grid: "Tuple[str, ...]" = tuple(description["grid"])
        self._by_name: "Dict[str, Union[Array, Scalar]]" = {a.name: a for a in self.arrays}
        self._by_name.update((s.name, s) for s in self.scalars)
        self.positional = [a.name for a in self.arrays if a.direction != "out"] + [s.name for s in self.scalars]
        self.outputs = [a.name for a in self.arrays if a.direction == "out"]
        self._handles: "Dict[str, Tuple[int, Any]]" = {}

    def argument(self, name: str) -> "Union[Array, Scalar]":
        """For the package: an argument of the interface by its name."""
        return self._by_name[name]

    @property
    def signature(self) -> str:
        """How it is called: "vector_add(a: f32[n], b: f32[n]) -> c: f32[n]"."""
        return signature(self.readable, self.arrays, self.scalars, self.parameters, self.has_interface)

    def __repr__(self) -> str:
        return f"<tilevm.Kernel {self.signature}>"

    def __getitem__(self, blocks: "Any") -> "Any":
        raise argument_error(f"kernel `{self.readable}` with blocks in brackets",
                             "call it, and give the number of blocks by grid=, as in kernel(x, grid=(4, 1))" +
                             ("; without grid= the launch rule says it" if self.grid else ""))

    @entry
    def load(self, device: "Union[str, Device]" = "auto") -> "Kernel":
        """Gets the kernel ready for a device now rather than at its first launch. Returns itself.

        Errors: UnsupportedError without machine code for that GPU (`Module.compile` makes it, `Device.allow_compile` lets it be made
        now); ModuleError for what the VM refuses."""
        self._handle(_device.device(device))
        return self

    def _check_names(self) -> None:
        """Errors: ArgumentError, if Python cannot say the name of the kernel or of an argument."""
        for name in (self.name, *self._by_name):
            if not name.isascii() and name.encode("utf-8", "replace") != name.encode("utf-8", "surrogateescape"):
                raise argument_error(f"the name {name!r} of kernel `{self.readable}` or one of its arguments is not UTF-8, and Python "
                                     "cannot pass it", "rename it in the module")

    def _handle(self, device: "Device") -> "Any":
        self._check_names()
        known = self._handles.get(device.name)
        if known is not None and known[0] == device.generation:
            return known[1]
        handle = _tilevm.Kernel(device.handle, self.module.program, self.name)
        self._handles[device.name] = (device.generation, handle)
        return handle

    if TYPE_CHECKING:
        def __call__(self, /, *args: "Any", out: "Any" = None, grid: "Optional[Grid]" = None, device: "Union[str, Device, None]" = None,
                     stream: "Any" = None, check: "Optional[str]" = None, threads: int = 0,
                     arguments: "Optional[Mapping[str, Any]]" = None, memory: "Optional[Mapping[str, Any]]" = None,
                     **named: "Any") -> "Any":
            """Runs the kernel; without `stream`, waits until it is done. Takes what `prepare` takes, and `stream`: a tilevm.Stream, a
            torch.cuda.Stream, or the number of a CUstream.

            Returns the array of direction `out`, or a tuple if there are several, or None. Errors: those of `prepare`; TrapError for a
            mistake of the kernel while it runs."""

    @entry
    def _call(self, key: "Optional[bytes]", keep: "Any", args: "Tuple[Any, ...]", named: "Dict[str, Any]") -> "Any":
        """A call that the extension does not know yet; `key` is what calls like this one have in common, None if it cannot say."""
        launch = self.prepare(*args, **{name: value for name, value in named.items() if name != "stream"})
        stream = named.get("stream")
        result = launch(stream)
        _plans.remember(self, key, keep, launch, args, named)
        return result

    @entry
    def prepare(self, /, *args: "Any", out: "Any" = None, grid: "Optional[Grid]" = None,
                device: "Union[str, Device, None]" = None, check: "Optional[str]" = None, threads: int = 0,
                arguments: "Optional[Mapping[str, Any]]" = None, memory: "Optional[Mapping[str, Any]]" = None,
                **named: "Any") -> Launch:
        """Binds arguments and checks them, for a launch that is run once or often.

        Positional arguments are the arrays of direction in and inout, then the scalars, in the order of the interface; any
        argument may be given by name, in `arguments` if its name is one of those below. Arrays are of NumPy, torch, or speak
        DLPack; their elements are those of the interface; integers are signless. Scalars are numbers.

        `out`: the array of direction out, or a sequence of them, None for one that is to be allocated as the launch rule says, of
        the library of the first array. `grid`: blocks, (x, y, z), in place of the launch rule. `device`: "cpu", "cuda:N", "auto" or
        a Device; None: where the arrays are. On a GPU, arrays of the host are copied there and back. `check`: "none", "bounds"
        (default on the cpu, unless TILEVM_CHECK names another) or "full". `threads` of the VM: 0: all cores.

        A kernel without interface takes its raw parameters in order: arrays (or addresses) for pointers, numbers for the rest.
        `memory` names arrays that it may touch: those that a table of pointers leads to, or parameters, for messages.

        Errors: ArgumentError names the argument; UnsupportedError, UnavailableError as `load`."""
        for option, given in (("arguments", arguments), ("memory", memory)):
            if given is not None and not hasattr(given, "items"):
                raise argument_error(f"{option}= is {type(given).__name__}, no mapping of names", f"pass {option}={{'name': array}}")
        if not hasattr(threads, "__index__") or abs(threads.__index__()) >= 1 << 31:
            raise argument_error(f"threads={threads!r} is no number of threads", "pass the number of threads, or 0 for all cores")
        self._check_names()
        values = self._bind(args, arguments, named, out) if self.has_interface else self._bind_raw(args, arguments, named, out)
        views = {name: _arrays.view_of(value) for name, value in values.items() if _arrays.is_array(value)}
        if memory and self.has_interface:
            raise argument_error(f"kernel `{self.readable}` has an interface, which says what it may touch", "leave memory= out")
        for name, value in (memory or {}).items():
            views[f"memory {name}"] = _arrays.view_of(value)
        on = _choose(device, views)
        if check is None and not on.is_gpu:
            check = os.environ.get("TILEVM_CHECK") or None
        if not (check is None or isinstance(check, str)) or check not in _CHECKS:
            raise argument_error(f"check={check!r}", "use 'none', 'bounds' or 'full'")
        if grid is None and not self.grid:
            raise argument_error(f"kernel `{self.readable}` has no launch rule, which says how many blocks there are",
                                 "pass grid=…, a number or up to three, or give the kernel a rule: grid ceildiv(n, 128)")
        handle = self._handle(on)
        launch = Launch(handle, _CHECKS[check], threads)
        blocks = None if grid is None else _blocks(grid)
        launch.begin(self, handle, on, (_CHECKS[check], threads, blocks))
        if self.has_interface:
            self._set(launch, values, views)
        else:
            for name, view in views.items():
                if name.startswith("memory "):
                    launch.add_memory(name[7:], launch.address_of(view, True), view.element.number, view.shape, view.strides)
            self._set_raw(launch, values, views)
        if blocks is not None:
            launch.set_grid(*blocks)
        if self.has_interface:
            self._add_outputs(launch, values, views)
        launch.prepare()
        return launch

    # --- with an interface

    def _bind(self, args: "Tuple[Any, ...]", arguments: "Optional[Mapping[str, Any]]", named: "Dict[str, Any]",
              out: "Any") -> "Dict[str, Any]":
        if len(args) > len(self.positional):
            outputs = ", ".join(f"`{name}`" for name in self.outputs)
            raise argument_error(f"{len(args)} positional arguments; {self.signature} takes {len(self.positional)}",
                                 f"{outputs} is an output: a call returns it, or takes it by out=" if outputs else "")
        values = dict(zip(self.positional, args))
        for name, value in (*named.items(), *(arguments or {}).items()):
            if name not in self._by_name:
                raise argument_error(f"kernel `{self.readable}` has no argument `{name}`; it has {', '.join(self._by_name) or 'none'}")
            if name in values:
                raise argument_error(f"argument `{name}` is given twice")
            values[name] = value
        if out is not None:
            if not _arrays.is_array(out) and not isinstance(out, (list, tuple)):
                raise argument_error(f"out= is {type(out).__name__}, no array", "pass an array, or a sequence of them")
            given = [out] if _arrays.is_array(out) else list(out)
            if len(given) > len(self.outputs):
                raise argument_error(f"out= has {len(given)} arrays; {self.signature} gives {len(self.outputs)}")
            for name, value in zip(self.outputs, given):
                if name in values:
                    raise argument_error(f"argument `{name}` is given twice")
                values[name] = value
        values = {name: value for name, value in values.items() if value is not None}
        for name, value in values.items():
            if isinstance(self._by_name[name], Array) and not _arrays.is_array(value):
                argument = self._by_name[name]
                assert isinstance(argument, Array)
                raise argument_error(f"argument `{name}` is {type(value).__name__}, no array: the kernel takes {argument}",
                                     f"pass a NumPy array or a torch tensor{_array_like(value, argument)}")
        return values

    def _set(self, launch: Launch, values: "Dict[str, Any]", views: "Dict[str, _arrays.View]") -> None:
        for name, value in values.items():
            argument = self._by_name[name]
            if isinstance(argument, Array):
                launch.bind(argument, value, views[name])
            else:
                launch.set_scalar(name, _number(name, value))

    def _add_outputs(self, launch: Launch, values: "Dict[str, Any]", views: "Dict[str, _arrays.View]") -> None:
        first = next((name for name in values if name in views), None)
        library = views[first].library if first is not None else "numpy"
        for name in self.outputs:
            if name not in values:
                _, shape = launch.get_array(name)
                argument = self._by_name[name]
                made = _arrays.new_array(BY_NAME[argument.element], shape, values.get(first or ""), library)
                values[name] = made
                assert isinstance(argument, Array)
                launch.bind(argument, made, _arrays.view_of(made))
        made = tuple(values[name] for name in self.outputs)
        launch.outputs = made[0] if len(made) == 1 else made or None

    # --- without

    def _bind_raw(self, args: "Tuple[Any, ...]", arguments: "Optional[Mapping[str, Any]]", named: "Dict[str, Any]",
                  out: "Any") -> "Dict[str, Any]":
        if named or arguments or out is not None:
            raise argument_error(f"kernel `{self.readable}` has no interface: pass its {len(self.parameters)} parameters by position")
        if len(args) != len(self.parameters):
            raise argument_error(f"{len(args)} arguments; {self.signature} takes {len(self.parameters)} parameters")
        return {str(i): value for i, value in enumerate(args)}

    def _set_raw(self, launch: Launch, values: "Dict[str, Any]", views: "Dict[str, _arrays.View]") -> None:
        named = {view.address for name, view in views.items() if name.startswith("memory ")}
        for i, p in enumerate(self.parameters):
            value = values[str(i)]
            if p.is_pointer and str(i) in views:
                view = views[str(i)]
                address = launch.address_of(view, True)
                if not launch.device.is_gpu and address not in named:
                    launch.add_memory(p.name, address, view.element.number, view.shape, view.strides)
                launch.set_parameter(i, address)
            elif p.is_pointer:
                launch.set_parameter(i, 0 if value is None else _word(p.name, value, 64))
            else:
                launch.set_parameter(i, _bits(p.name, p.element, value))


def _array_like(value: "Any", argument: "Array") -> str:
    """How a list or a number becomes the array that is wanted."""
    dtype = BY_NAME[argument.element].numpy if argument.element in BY_NAME else ""
    return f": numpy.array({argument.name}, {dtype!r})" if dtype and isinstance(value, (list, tuple, int, float)) else ""


def _blocks(grid: "Any") -> "Tuple[int, int, int]":
    from operator import index

    try:
        sizes = tuple(map(index, grid if isinstance(grid, (tuple, list)) else (grid,)))
    except TypeError:
        raise argument_error(f"grid={grid!r} is no number of blocks", "pass x, (x, y) or (x, y, z)") from None
    if not 1 <= len(sizes) <= 3:
        raise argument_error(f"a grid of {len(sizes)} sizes", "pass one to three")
    if not all(abs(size) < 1 << 63 for size in sizes):
        raise argument_error(f"grid={grid!r} is larger than any", "pass numbers below 2^63")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _number(name: str, value: "Any") -> "Union[int, float]":
    if hasattr(value, "item"):
        try:
            value = value.item()
        except (RuntimeError, ValueError, TypeError) as error:  # of torch, of NumPy: several elements
            raise argument_error(f"argument `{name}` is no single number: {error}") from None
    if isinstance(value, (int, float)):
        return value
    raise argument_error(f"argument `{name}` is {type(value).__name__}, no number")


def _word(name: str, value: "Any", bits: int) -> int:
    number = _number(name, value)
    if not isinstance(number, int):
        raise argument_error(f"argument `{name}` is a float; the kernel takes an integer of {bits} bits")
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise argument_error(f"argument `{name}` is {number}, which does not fit {bits} bits")
    return number & ((1 << bits) - 1)


def _bits(name: str, element: str, value: "Any") -> int:
    """Of a scalar, as its element type has them."""
    import struct

    formats = {"f16": "<e", "f32": "<f", "f64": "<d"}
    if element in formats:
        try:
            return int.from_bytes(struct.pack(formats[element], float(_number(name, value))), "little")
        except OverflowError:
            return int.from_bytes(struct.pack(formats[element], float("inf") if value > 0 else float("-inf")), "little")
    if BY_NAME[element].is_float:
        raise argument_error(f"argument `{name}` is a {element}, which a kernel without interface cannot take from Python",
                             "give the kernel an interface")
    return _word(name, value, 1 if element == "i1" else BY_NAME[element].bits)


def _choose(device: "Union[str, Device, None]", views: "Dict[str, _arrays.View]") -> "Device":
    gpus = sorted({v.device for v in views.values() if v.device != "cpu"})
    if len(gpus) > 1:
        raise argument_error(f"the arrays are on several devices: {', '.join(gpus)}", "copy them to one")
    if device is None or (device == "auto" and gpus):
        return _device.device(gpus[0] if gpus else "cpu")
    chosen = _device.device(device)
    if gpus and _device.device(gpus[0]) is not chosen:
        where = next(name for name, v in views.items() if v.device != "cpu")
        raise argument_error(f"argument `{where}` is on {gpus[0]}, the launch on {chosen.name}", "copy it, or leave device= out")
    return chosen
