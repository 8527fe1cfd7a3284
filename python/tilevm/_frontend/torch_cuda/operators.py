"""Implementations of operators that a program registers for GPUs, by torch.library: they are those of the CPU, where its tensors are.

    library.impl("abs", my_abs, "CUDA")       # torch.abs runs my_abs

While a program implements operators of torch itself, functions of torch are not computed as a GPU rounds them (numerics.py): what would run
on a GPU is the program's own code.
"""
from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any, Callable, Set, Tuple

from . import numerics, redirect

if TYPE_CHECKING:
    from types import ModuleType

_KEYS = {"CUDA": "CPU", "AutogradCUDA": "AutogradCPU", "AutocastCUDA": "AutocastCPU"}
_registered: "Set[str]" = set()  # names with their key
_of: "weakref.WeakKeyDictionary[Any, Tuple[bool, Set[str]]]" = weakref.WeakKeyDictionary()  # of a library: for GPUs, and what is in it


def _with_redirection(function: "Callable[..., Any]") -> "Callable[..., Any]":
    """What torch calls below the mode that makes "cuda" the CPU."""

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        with redirect.Redirect():
            return function(*arguments, **keywords)

    return call


def _forget(names: "Set[str]") -> None:
    """Of a library that is no more."""
    numerics.leave_to_the_program(-sum(name.startswith("aten::") for name in names))
    _registered.difference_update(names)
    names.clear()


def install(module: "ModuleType") -> None:
    library: Any = module.library.Library
    begin, implement, destroy = library.__init__, library.impl, library._destroy

    def init(self: Any, ns: str, kind: str, dispatch_key: str = "") -> None:
        begin(self, ns, kind, _KEYS.get(dispatch_key, dispatch_key))
        _of[self] = dispatch_key in _KEYS, set()
        weakref.finalize(self, _forget, _of[self][1])

    def impl(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **options: Any) -> None:
        name = op_name if isinstance(op_name, str) else str(op_name)
        key = _KEYS.get(dispatch_key, dispatch_key)
        by_itself, names = _of.setdefault(self, (False, set()))  # torch has made some before
        for_gpu = dispatch_key in _KEYS or (not dispatch_key and by_itself)
        place = f"{self.ns}::{name.rsplit('::', 1)[-1]}/{key or self.dispatch_key}"
        if for_gpu:
            if place not in names:
                numerics.leave_to_the_program(self.ns == "aten")
            _registered.add(place)
            names.add(place)
            fn, options["allow_override"] = _with_redirection(fn), True
        elif place in _registered:
            return  # that for tensors of the CPU; those of "cuda" are meant
        implement(self, op_name, fn, key, **options)

    def destroyed(self: Any) -> None:
        destroy(self)
        _forget(_of[self][1] if self in _of else set())

    library.__init__, library.impl, library._destroy = init, impl, destroyed
