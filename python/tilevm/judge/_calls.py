"""Calls that the tests of a task make: its functions note with what they are called.

    with recorded(module, head) as calls: test()
    calls["softmax"]                             # [(arguments, keywords), …]

Functions are those of the text before the tests: `def softmax`, `attention = _attention.apply`, and of a class of torch.autograd.Function
`LayerNorm.apply` and `LayerNorm.forward`.
"""
from __future__ import annotations

import ast
import contextlib
import inspect
import sys

from . import _values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Callable, Dict, Iterator, List, Tuple

    Call = Tuple[Tuple[Any, ...], Dict[str, Any]]


def named(holder: "Any", name: str) -> "Any":
    """`softmax`, or `LayerNorm.apply`. Errors: AttributeError."""
    for part in name.split("."):
        holder = getattr(holder, part)
    return holder


@contextlib.contextmanager
def recorded(module: "ModuleType", head: str) -> "Iterator[Dict[str, List[Call]]]":
    """The calls from outside of the functions, by name, while it is open."""
    calls: "Dict[str, List[Call]]" = {name: [] for name in _functions(module, head)}
    depth = [0]

    def noting(name: str, function: "Callable[..., Any]") -> "Callable[..., Any]":
        def call(*args: "Any", **keywords: "Any") -> "Any":
            if depth[0] == 0:
                calls[name].append(copied((args, keywords)))
            depth[0] += 1
            try:
                return function(*args, **keywords)
            finally:
                depth[0] -= 1

        return call

    before = []
    for name in calls:
        owner, _, attribute = name.rpartition(".")
        holder = named(module, owner) if owner else module
        before.append((holder, attribute, vars(holder).get(attribute)))
        made = noting(name, getattr(holder, attribute))
        setattr(holder, attribute, staticmethod(made) if owner else made)
    try:
        yield calls
    finally:
        for holder, attribute, value in reversed(before):
            if value is None:  # it was inherited
                delattr(holder, attribute)
            else:
                setattr(holder, attribute, value)


def most_called(calls: "Dict[str, List[Call]]") -> str:
    """What the tests are about: a function whose name begins with `_` only where they call no other one. "" if they call none."""
    return max((name for name in calls if calls[name]), key=lambda name: (not name.startswith("_"), len(calls[name])), default="")


def _functions(module: "ModuleType", head: str) -> "List[str]":
    """Names that a test may call; a kernel is no function here."""
    try:
        tree = ast.parse(head)
    except SyntaxError:
        return []
    found = []
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            name = node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
        else:
            continue
        value = vars(module).get(name)
        if inspect.isclass(value) and _is_differentiated(value):
            found += [f"{name}.apply", f"{name}.forward"]
        elif not name.startswith(("__", "test_")) and (inspect.isfunction(value) and value.__module__ == module.__name__ or _owner(value) is not None):
            found.append(name)
    return list(dict.fromkeys(found))


def _is_differentiated(value: "Any") -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and issubclass(value, torch.autograd.Function)


def _owner(function: "Any") -> "Any":
    """The class of `LayerNorm.apply`; None for other functions."""
    owner = getattr(function, "__self__", None)
    return owner if inspect.isclass(owner) and _is_differentiated(owner) and getattr(function, "__name__", "") == "apply" else None


def bound(function: "Callable[..., Any]", args: "Tuple[Any, ...]", keywords: "Dict[str, Any]") -> "Dict[str, Any]":
    """Arguments by the names of parameters, in their order."""
    owner = _owner(function)
    if owner is None:
        return dict(inspect.signature(function).bind(*args, **keywords).arguments)
    parameters = list(inspect.signature(owner.forward).bind(None, *args, **keywords).arguments.items())
    return dict(parameters[1:])  # without the context


def copied(value: "Any") -> "Any":
    if isinstance(value, (tuple, list)):
        return type(value)(map(copied, value))
    if isinstance(value, dict):
        return {key: copied(each) for key, each in value.items()}
    return value.detach().clone() if _values.is_tensor(value) else value
