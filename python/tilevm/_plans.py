"""What the extension remembers of a call that was bound, so that it does those that are alike by itself.

Calls are alike (ext/core/call.h) if their arguments have the same types, element types, ranks, devices and names, and the same options.
Everything that Python checks follows from these; sizes, strides, addresses and numbers are checked by the library each time.
"""
from __future__ import annotations

import sys

from . import _arrays, _tilevm
from ._interface import Array
from ._launch import element_number
from ._stream import stream_of
from ._types import BY_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Set, Tuple

    from ._interface import Parameter
    from ._kernel import Kernel
    from ._launch import Launch

_OPTIONS = ("out", "stream", "grid", "device", "check", "threads", "arguments", "memory")
_SCALAR, _SINGLE, _DOUBLE, _WORD = -1, -2, -3, -100  # kinds of numbers in place of element types (ext/core/plan.c)
_INTERFACE, _RAW, _RAW_WITH_MEMORY = range(3)
_seen: "Set[type]" = set()


def _know(value: object) -> None:
    """Lets the extension read arrays of this type, if they are NumPy's or torch's own."""
    kind = type(value)
    if kind in _seen:
        return
    _seen.add(kind)
    module, name = kind.__module__, kind.__qualname__
    if (module, name) in (("numpy", "ndarray"), ("torch", "Tensor"), ("torch.nn.parameter", "Parameter")):
        _tilevm.know_type(kind)


def remember(kernel: "Kernel", key: "Optional[bytes]", keep: "Any", launch: "Launch", args: "Tuple[Any, ...]",
             named: "Dict[str, Any]") -> None:
    """For Kernel: after a call was bound and ran."""
    out = named.get("out")
    if key is None:
        outs = out if isinstance(out, (tuple, list)) else (out,)
        for value in (*args, *named.values(), *outs):
            _know(value)
        return
    if named.get("arguments") is not None or named.get("memory") is not None or launch.copies:
        return
    check, threads, grid = launch.options
    if not kernel.has_interface:
        raw_roles = tuple(_raw_role(parameter, value) for parameter, value in zip(kernel.parameters, args))
        if all(role is not None for role in raw_roles):
            raw = _RAW if launch.device.is_gpu else _RAW_WITH_MEMORY
            kernel._remember(key, _tilevm.Plan(launch.kernel_handle, check, threads, grid, raw, raw_roles, (), (), _stream(launch, named), keep))
        return
    # In the order in which the extension reads them.
    slots: "List[Tuple[str, Any]]" = list(zip(kernel.positional, args))
    for name, value in named.items():
        if name == "out":
            slots += zip(kernel.outputs, value if isinstance(value, tuple) else (value,))
        elif name not in _OPTIONS:
            slots.append((name, value))
    if not all(_plain(kernel, name, value) for name, value in slots):
        return
    roles = tuple(_role(kernel, name, value) for name, value in slots)
    given = {name: i for i, (name, value) in enumerate(slots) if value is not None}
    made: "List[Tuple[str, int, Any, Any, Any]]" = []
    outputs: "List[int]" = []
    results = launch.outputs if isinstance(launch.outputs, tuple) else (launch.outputs,)
    for name, array in zip(kernel.outputs, results):
        if name in given:
            outputs.append(given[name])
            continue
        argument = kernel.argument(name)
        assert isinstance(argument, Array)
        allocate = _allocation(array)
        if allocate is None or BY_NAME[argument.element].bits < 8:
            return
        outputs.append(-1 - len(made))
        made.append((name, BY_NAME[argument.element].number, *allocate))
    if len(made) > _tilevm.max_made:
        return
    kernel._remember(key, _tilevm.Plan(launch.kernel_handle, check, threads, grid, _INTERFACE, roles, tuple(made), tuple(outputs),
                                       _stream(launch, named), keep))


def _plain(kernel: "Kernel", name: str, value: "Any") -> bool:
    """Whether nothing about the argument hangs on more than its key."""
    argument = kernel.argument(name)
    if isinstance(argument, Array):
        if BY_NAME[argument.element].bits < 8:  # its sizes are not those of the bytes
            return False
        return argument.direction == "in" or not getattr(value, "requires_grad", False)  # whether it is refused hangs on torch's mode
    return value is None or isinstance(value, (int, float))


def _role(kernel: "Kernel", name: str, value: "Any") -> "Optional[Tuple[str, int]]":
    if value is None:
        return None
    argument = kernel.argument(name)
    if isinstance(argument, Array):
        return name, element_number(argument, _arrays.view_of(value))
    return name, _SCALAR


def _raw_role(parameter: "Parameter", value: "Any") -> "Optional[Tuple[str, int]]":
    """Of a kernel without interface; None if the extension cannot pass it."""
    if parameter.is_pointer:
        if _arrays.is_array(value):
            return parameter.name, _arrays.view_of(value).element.number
        return parameter.name, _WORD - 64
    if not isinstance(value, (int, float)):
        return None
    if parameter.element in ("f32", "f64"):
        return parameter.name, _SINGLE if parameter.element == "f32" else _DOUBLE
    if parameter.element[0] != "i":
        return None
    return parameter.name, _WORD - int(parameter.element[1:])


def _allocation(array: "Any") -> "Optional[Tuple[Any, Any, Any]]":
    """How to make another array like this one: a function, arguments behind the shape, named ones."""
    if type(array).__module__ == "numpy":
        return sys.modules["numpy"].zeros, (array.dtype,), None
    if type(array).__module__ == "torch":
        torch = sys.modules["torch"]
        return torch.zeros if array.device.type == "cpu" else torch.empty, None, {"dtype": array.dtype, "device": array.device}
    return None


def _stream(launch: "Launch", named: "Dict[str, Any]") -> "Any":
    """None: wait; a stream: do not; a function that gives one: wait for it."""
    if launch.stream is None:
        return None
    if named.get("stream") is not None:
        return launch.stream.handle
    device = launch.device
    current = sys.modules["torch"].cuda.current_stream

    def of_torch() -> "Any":
        stream = stream_of(current(device.ordinal), device)
        return None if stream is None else stream.handle

    return of_torch
