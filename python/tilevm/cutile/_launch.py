"""Launches: cuTile's own, with our errors, and with arrays of the host, which it does not take itself."""
from __future__ import annotations

import dataclasses
import functools

from .. import _arrays, _tilevm
from .._errors import UnsupportedError
from .._frontend.report import check_gpu, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, List, Tuple

    from .._frontend.state import State


def wrap(original: "Callable[..., None]", state: "State") -> "Callable[..., None]":
    """cuTile's `launch`, which also takes NumPy arrays, and raises what the kernel did wrong."""
    take_error = _tilevm.driver_error
    expected = False  # whether the last launch had arrays of the host; cuTile is asked first otherwise, because it is faster

    def launch(*args: "Any", **options: "Any") -> None:
        nonlocal expected
        if not expected:
            try:
                return original(*args, **options)
            except Exception:
                found = take_error()
                if found is not None:
                    raise named(found) from None
                if len(args) != 4 or not _has_host_arrays(args[3], state.is_gpu):
                    raise
        host = HostArrays(state)
        try:
            original(*args[:3], *map(host.convert, args[3:4]), **options)
        except Exception:
            found = take_error()
            if found is not None:
                raise named(found) from None
            raise
        host.copy_back()
        expected = host.found

    launch.__name__ = launch.__qualname__ = "launch"
    launch.__doc__ = original.__doc__
    return launch


def with_errors(original: "Callable[..., Any]") -> "Callable[..., Any]":
    """A function of cuTile's extension, with what went wrong below it."""

    @functools.wraps(original)
    def call(*args: "Any", **options: "Any") -> "Any":
        try:
            return original(*args, **options)
        except Exception:
            found = _tilevm.driver_error()
            if found is not None:
                raise named(found) from None
            raise

    return call


def refuse_extended(original: "Any") -> "Callable[..., None]":
    def launch_extended(*args: "Any", **options: "Any") -> None:
        """Of kernels with threads, which are no tile code."""
        raise UnsupportedError("error[cutile.threads]: launch_extended runs kernels with threads: tilevm runs tile kernels\n"
                               "  fix: use launch, with a kernel of tile code")

    return launch_extended


def _is_host_array(value: "Any", gpu: bool) -> bool:
    if hasattr(value, "data_ptr"):  # torch; asking it for interfaces raises for some types
        return gpu and getattr(value, "is_cuda", True) is False
    return hasattr(value, "__array_interface__") and not hasattr(value, "__cuda_array_interface__")


def _has_host_arrays(value: "Any", gpu: bool) -> bool:
    if isinstance(value, (tuple, list)):
        return any(_has_host_arrays(item, gpu) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return any(_has_host_arrays(getattr(value, field.name), gpu) for field in dataclasses.fields(value))
    return _is_host_array(value, gpu)


class _Array:
    """Memory that cuTile takes for that of a GPU; `interface`: of NumPy, which says the same in the same words."""

    __slots__ = ("__cuda_array_interface__", "owner")

    def __init__(self, interface: "Any", owner: "Any") -> None:
        self.__cuda_array_interface__ = interface
        self.owner = owner


class HostArrays:
    """Those of one launch: on the cpu they are used as they are, on a GPU they are copied there and back. `found`: there were some."""

    def __init__(self, state: "State") -> None:
        self._state = state
        self._copies: "List[Tuple[Any, Any]]" = []
        self.found = False

    def convert(self, value: "Any") -> "Any":
        """An argument with every array of the host replaced. Errors: ArgumentError for arrays that cannot be copied."""
        kind = type(value)
        if kind is tuple or kind is list:
            return kind(map(self.convert, value))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return kind(*map(self.convert, value))
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            parts = {field.name: self.convert(getattr(value, field.name)) for field in dataclasses.fields(value)}
            return dataclasses.replace(value, **parts)
        if not _is_host_array(value, self._state.is_gpu):
            return value
        self.found = True
        if not self._state.is_gpu:
            return _Array(value.__array_interface__, value)
        return self._copied(value)

    def _copied(self, value: "Any") -> "Any":
        """On the GPU, of the same strides."""
        if hasattr(value, "data_ptr"):  # torch
            copy = value.cuda(self._state.device.ordinal)
            self._copies.append((value, copy))
            return copy
        view = _arrays.view_of(value)
        buffer = _tilevm.Buffer(self._state.device.handle, view.bytes)
        buffer.copy(0, view.address, view.bytes, None, True)
        self._copies.append((view, buffer))
        interface = {**value.__array_interface__, "data": (buffer.address(), False), "strides": value.strides}
        return _Array(interface, value)

    def copy_back(self) -> None:
        """Waits for the launch. Errors: TrapError."""
        if self._copies:
            check_gpu()
        for host, copy in self._copies:
            if isinstance(host, _arrays.View):
                if not host.read_only:
                    copy.copy(0, host.address, host.bytes, None, False)
            else:
                host.copy_(copy)
