"""`python -m tilevm`, and `tilevm.cutile`, `tilevm.triton`, `tilevm.tilus`: runs a Python program after frontends were installed, in child
processes, too.

    main("tilevm.cutile", __doc__, ["cutile"])

On the cpu there is no other way to run a kernel, so that all frontends are installed whichever was named: a program may use several.
"""
from __future__ import annotations

import os
import sys

from .uncaught import printed, take_flag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence, Tuple

_FRONTENDS = ("cutile", "triton", "tilus")
_OPTIONS = ("--device", "--check", "--capability", "--tune")


def variables(option: str, frontends: "Sequence[str]" = _FRONTENDS) -> "List[str]":
    """Of the environment, which an option such as "--check" stands for."""
    name = option[2:].upper()
    return ["TILEVM_CHECK"] if option == "--check" else [f"TILEVM_{frontend.upper()}_{name}" for frontend in frontends]


def _parse(who: str, frontends: "Sequence[str]", args: "List[str]") -> "Tuple[Dict[str, str], List[str]]":
    """Variables of the environment that options stand for, and what is to be run."""
    found: "Dict[str, str]" = {}
    while args and args[0].startswith("--"):
        name, equals, value = args[0].partition("=")
        if name == "--version":
            from .. import __version__

            print(f"{who} {__version__}")
            raise SystemExit(0)
        if name not in _OPTIONS:
            raise SystemExit(f"{who}: no option {name}; there are {', '.join(_OPTIONS)}")
        if not equals:
            if len(args) < 2:
                raise SystemExit(f"{who}: {name} wants a value")
            value = args.pop(1)
        found.update(dict.fromkeys(variables(name, frontends), value))
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


def install_all(frontends: "Sequence[str]", device: "Optional[str]", **options: "Any") -> None:
    """Each of these; on the cpu the others, too, unless their versions are ones that tilevm does not know.

    `device` None: from the environment of each, or the cpu. Errors: those of install()."""
    import importlib

    states = []
    for frontend in frontends:
        on = device or os.environ.setdefault(f"TILEVM_{frontend.upper()}_DEVICE", "cpu")
        states.append(importlib.import_module(f"tilevm.{frontend}").install(on, **options))
    others = [frontend for frontend in _FRONTENDS if frontend not in frontends and not states[0].is_gpu]
    if others:
        os.environ["TILEVM_BESIDE"] = ",".join(others)  # for child processes
        for frontend in others:
            os.environ[f"TILEVM_{frontend.upper()}_DEVICE"] = "cpu"
            os.environ[f"TILEVM_{frontend.upper()}_CAPABILITY"] = ".".join(map(str, states[0].capability))
            importlib.import_module(f"tilevm.{frontend}._install").install_beside()


def start(frontends: "Sequence[str]", environment: "Dict[str, str]") -> None:
    """Installs them in this process and in those that it starts, as variables of the environment say, these among them.

    Errors: those of install()."""
    os.environ.update(environment)
    install_all(frontends, None)
    for_children()


def main(who: str, text: "Optional[str]", frontends: "Sequence[str]") -> None:
    """`text` is printed for --help."""
    traceback = take_flag(sys.argv)
    environment, rest = _parse(who, frontends, sys.argv[1:]) if sys.argv[1:2] not in (["-h"], ["--help"]) else ({}, ["--help"])
    if not rest or rest[0] in ("-h", "--help"):
        print((text or "").strip())
        raise SystemExit(0 if rest else 2)

    from .._errors import Error

    try:
        start(frontends, environment)
    except Error as error:
        raise SystemExit(f"{who}: {error}") from None
    with printed(traceback):
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
        if not os.path.exists(rest[0]):
            raise SystemExit(f"{who}: there is no file {rest[0]}; this runs Python programs, and `tilevm` is the command")
        sys.argv = rest
        sys.path[0] = os.path.dirname(os.path.abspath(rest[0]))
        runpy.run_path(rest[0], run_name="__main__")
