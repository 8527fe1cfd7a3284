"""`python -m tilevm.cutile` and `python -m tilevm.triton`: runs a Python program after a frontend was installed, in child processes, too.

    main("tilevm.cutile", __doc__, {"--device": "TILEVM_CUTILE_DEVICE"}, install)
"""
from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Dict, List, Mapping, Optional, Tuple


def _parse(who: str, known: "Mapping[str, str]", args: "List[str]") -> "Tuple[Dict[str, str], List[str]]":
    """Variables of the environment that options stand for, and what is to be run."""
    found: "Dict[str, str]" = {}
    while args and args[0].startswith("--"):
        name, equals, value = args[0].partition("=")
        if name not in known:
            raise SystemExit(f"{who}: no option {name}; there are {', '.join(known)}")
        if not equals:
            if len(args) < 2:
                raise SystemExit(f"{who}: {name} wants a value")
            value = args.pop(1)
        found[known[name]] = value
        args = args[1:]
    return found, args


def for_children() -> None:
    """Lets processes that this one starts do as it does: Python runs site/sitecustomize.py first."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")
    parts = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and part != folder]
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if package not in parts and package not in _places_of_installation():
        parts.append(package)
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, *parts])


def _places_of_installation() -> "List[str]":
    import site

    return [*site.getsitepackages(), site.getusersitepackages()]


def main(who: str, text: "Optional[str]", options: "Mapping[str, str]", install: "Callable[[str], object]") -> None:
    """`options`: names to variables of the environment; `text` is printed for --help. `install` takes the device's name."""
    environment, rest = _parse(who, options, sys.argv[1:]) if sys.argv[1:2] not in (["-h"], ["--help"]) else ({}, ["--help"])
    if not rest or rest[0] in ("-h", "--help"):
        print((text or "").strip())
        raise SystemExit(0 if rest else 2)
    os.environ.update(environment)
    device = os.environ.setdefault(options["--device"], "cpu")

    from .._errors import Error

    try:
        install(device)
    except Error as error:
        raise SystemExit(f"{who}: {error}") from None
    for_children()
    run(who, rest)


def run(who: str, rest: "List[str]") -> None:
    """As `python REST…` does, in this process."""
    import runpy

    if rest[0] == "-m":
        if len(rest) < 2:
            raise SystemExit(f"{who}: -m wants a module")
        sys.argv = rest[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(rest[1], run_name="__main__", alter_sys=True)
    elif rest[0] == "-c":
        if len(rest) < 2:
            raise SystemExit(f"{who}: -c wants code")
        sys.argv = ["-c", *rest[2:]]
        sys.path[0] = ""
        exec(compile(rest[1], "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
    else:
        sys.argv = rest
        sys.path[0] = os.path.dirname(os.path.abspath(rest[0]))
        runpy.run_path(rest[0], run_name="__main__")
