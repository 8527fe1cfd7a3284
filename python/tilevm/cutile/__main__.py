"""python -m tilevm.cutile [--device=cpu|cuda] [--check=LEVEL] [--capability=M.N] script.py …  |  -m module …  |  -c code …

Runs a Python program whose cuTile kernels run on tilevm: on the CPU if nothing else is said. Child processes do so, too. Options of
tilevm stand before the script; TILEVM_CUTILE_DEVICE, TILEVM_CHECK and TILEVM_CUTILE_CAPABILITY are their defaults.
"""
from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, List, Tuple

_OPTIONS = {"--device": "TILEVM_CUTILE_DEVICE", "--check": "TILEVM_CHECK", "--capability": "TILEVM_CUTILE_CAPABILITY",
            "--tune": "TILEVM_CUTILE_TUNE"}


def _parse(args: "List[str]") -> "Tuple[Dict[str, str], List[str]]":
    """Variables of the environment that options stand for, and what is to be run."""
    found: "Dict[str, str]" = {}
    while args and args[0].startswith("--"):
        name, equals, value = args[0].partition("=")
        if name not in _OPTIONS:
            raise SystemExit(f"tilevm.cutile: no option {name}; there are {', '.join(_OPTIONS)}")
        if not equals:
            if len(args) < 2:
                raise SystemExit(f"tilevm.cutile: {name} wants a value")
            value = args.pop(1)
        found[_OPTIONS[name]] = value
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


def main() -> None:
    import runpy

    environment, rest = _parse(sys.argv[1:])
    if not rest or rest[0] in ("-h", "--help"):
        print((__doc__ or "").strip())
        raise SystemExit(0 if rest else 2)
    os.environ.update(environment)
    device = os.environ.setdefault("TILEVM_CUTILE_DEVICE", "cpu")

    from .._errors import Error
    from ._install import install

    try:
        install(device)
    except Error as error:
        raise SystemExit(f"tilevm.cutile: {error}") from None
    for_children()
    if rest[0] == "-m":
        if len(rest) < 2:
            raise SystemExit("tilevm.cutile: -m wants a module")
        sys.argv = rest[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(rest[1], run_name="__main__", alter_sys=True)
    elif rest[0] == "-c":
        if len(rest) < 2:
            raise SystemExit("tilevm.cutile: -c wants code")
        sys.argv = ["-c", *rest[2:]]
        sys.path[0] = ""
        exec(compile(rest[1], "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
    else:
        sys.argv = rest
        sys.path[0] = os.path.dirname(os.path.abspath(rest[0]))
        runpy.run_path(rest[0], run_name="__main__")


if __name__ == "__main__":
    main()
