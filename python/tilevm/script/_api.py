"""What every function of tilevm.script does first: it must be inside of a kernel, and be called as its signature says."""
from __future__ import annotations

import functools
import inspect

from ._errors import script_error
from ._foreign import call_hint
from ._trace import current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])


def signature_text(function: "Any", name: str) -> str:
    """"load(array, /, index, shape, *, order='C', …)", without types."""
    import re

    signature = inspect.signature(function)
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name != "self"]
    text = str(signature.replace(parameters=plain, return_annotation=signature.empty))
    return name + re.sub(r"<(\w+\.\w+): [^>]*>", r"\1", text)


def api(function: "F") -> "F":
    """Makes a function of the language: errors script.outside and script.arguments."""
    signature = inspect.signature(function)
    module = function.__module__.rpartition(".")[2]
    name = function.__name__ if module.startswith("_") else f"{module}.{function.__name__}"

    @functools.wraps(function)
    def call(*args: "Any", **named: "Any") -> "Any":
        current(name)
        try:
            signature.bind(*args, **named)
        except TypeError as error:
            unknown = {n: v for n, v in named.items() if n not in signature.parameters}
            raise script_error("script.arguments", f"{name}: {error}",
                               f"{call_hint(name, args, unknown)}it is called {signature_text(function, name)}") from None
        return function(*args, **named)

    return call  # type: ignore[return-value]
