"""Launches translated programs, in the place of Tilus' CompiledProgram."""
from __future__ import annotations

import json
import pathlib

from .. import _arrays, _module
from .._errors import TrapError, argument_error
from .._frontend.memory import tensor_at
from .._frontend.report import named
from .._kernel import _bits
from .._launch import Launch
from .._types import BY_NAME
from ._host import evaluate
from ._install import installed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Tuple

    from .._frontend.state import State

_CHECKS = {"": 0, "none": 1, "bounds": 2, "full": 3}


class CompiledProgram:
    """`program_dir` and `get_launch_func()` as Tilus' own has them. Calls take tensors, addresses and numbers, and wait."""

    def __init__(self, program_dir: "Any") -> None:
        self.program_dir = pathlib.Path(program_dir)
        self._about: "Dict[str, Any]" = json.loads((self.program_dir / "launch.json").read_text())
        self._module = _module.load(str(self.program_dir / "kernel.tile"))
        self.kernel = self._module[self._about["name"]]

    def get_launch_func(self) -> "Any":
        return self

    def __call__(self, *args: "Any") -> None:
        """Errors: ArgumentError; TrapError names the line of Python."""
        state = installed()
        assert state is not None
        grid = [evaluate(e, args) for e in self._about["grid"]]
        if any(n == 0 for n in grid):
            return
        launch = self._bind(state, args, (grid[0], grid[1], grid[2]))
        try:
            launch()
        except TrapError as error:
            raise named(error) from None

    def _bind(self, state: "State", args: "Tuple[Any, ...]", grid: "Tuple[int, int, int]") -> Launch:
        check = _CHECKS[state.check or _default_check()]
        handle = self.kernel._handle(state.device)
        launch = Launch(handle, check, state.threads)
        launch.begin(self.kernel, handle, state.device, (check, state.threads, grid))
        for i, (about, value) in enumerate(zip(self._about["parameters"], args)):
            if about["pointer"]:
                launch.set_parameter(i, _pointer(launch, about, value))
            else:
                launch.set_parameter(i, _bits(about["name"], about["element"], value))
        for i, about in enumerate(self._about["workspaces"]):
            launch.set_parameter(len(args) + i, _workspace(launch, f"workspace{i}", about, args))
        launch.set_grid(*grid)
        launch.prepare()
        return launch


def _default_check() -> str:
    import os

    return os.environ.get("TILEVM_CHECK") or ""


def _pointer(launch: Launch, about: "Dict[str, Any]", value: "Any") -> int:
    """The address of an argument. The launch learns which memory it leads to."""
    if value is None:
        return 0
    if isinstance(value, int):
        found = tensor_at(value)
        if found is None and value != 0:
            raise argument_error(f"argument `{about['name']}` points to 0x{value:x}, where no tensor is", "pass the tensor")
        if found is not None:
            begin, bytes = found
            launch.add_memory(f"{about['name']}", begin, BY_NAME["i8"].number, (bytes,), None)
        return value
    view = _host_view(value)
    element = BY_NAME[about["element"]]
    shape, strides = view.shape, view.strides
    if element.bits != view.element.bits and not view.contiguous:
        raise argument_error(f"argument `{about['name']}` has strides and elements of {view.element.bits} bits, the kernel takes {about['element']}",
                             "copy it: .contiguous()")
    number = view.element.number
    launch.add_memory(about["name"], view.address, number, shape, None if view.contiguous else strides)
    launch.keep(value)
    return view.address


def _host_view(value: "Any") -> "_arrays.View":
    """A view of a tensor, whichever device it names: all are on the host."""
    import sys

    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        with torch._C.DisableTorchFunction():
            return _arrays.view_of(value)
    return _arrays.view_of(value)


def _workspace(launch: Launch, name: str, about: "Dict[str, Any]", args: "Tuple[Any, ...]") -> int:
    """The address of zeros that live as long as the launch."""
    import ctypes

    count = evaluate(about["size"], args)
    element = BY_NAME[about["element"]]
    memory: "List[Any]" = [ctypes.create_string_buffer(max(count * element.bits // 8, 1) + 64)]
    address = (ctypes.addressof(memory[0]) + 63) // 64 * 64
    launch.add_memory(name, address, element.number, (count,), None)
    launch.keep(memory[0])
    return address
