"""Writes the reference of tilevm.script, from its docstrings, behind the mark in docs/script.md:  script.py docs/script.md

Needs the package installed, and Python 3.10 to 3.12, which keep the margin of docstrings. With --check it says whether the page is up
to date.
"""
import inspect
import pathlib
import re
import sys
import textwrap

from tilevm import script
from tilevm.script import _array, _functions, _math, _memory, _reductions, atomic, classic, pointer
from tilevm.script._api import signature_text

MARK = "<!-- reference -->\n"

GROUPS = [
    ("Kernels", "script", script, ["kernel", "function", "Kernel", "range", "print"]),
    ("The grid, and making tiles", "script", _functions, ["bid", "num_blocks", "arange", "full", "zeros", "ones"]),
    ("Arrays", "script", _array, ["Array", "num_tiles", "shared", "tile"]),
    ("Tiles and elements of arrays", "script", _memory, _memory.__all__),
    ("Tiles of pointers", "script.pointer", pointer, pointer.__all__),
    ("The classic atomic functions", "script", classic, classic.__all__),
    ("Tile atomics", "script.atomic", atomic, atomic.__all__),
    ("Scattered stores, registers", "script", atomic, ["store_shared_scatter", "store_global_scatter", "register", "Register"]),
    ("Shapes and choices", "script", _functions,
     ["reshape", "broadcast_to", "expand_dims", "permute", "transpose", "cat", "extract", "where", "astype", "bitcast"]),
    ("Matrices", "script", _functions, ["mma", "dot"]),
    ("Reductions and scans", "script", _reductions, _reductions.__all__),
    ("Functions of elements", "script", _math, [*_math.__all__, "cdiv"]),
    ("What a tile has", "tile", script.Tile, [n for n, v in vars(script.Tile).items() if not n.startswith("_") and getattr(v, "__doc__", None) and
                                              (callable(v) or isinstance(v, property))]),
]


def clean(doc: str) -> str:
    """A docstring without its margin, its examples as listings."""
    first, *rest = doc.split("\n")
    margin = len(rest[-1]) if rest and not rest[-1].strip() else min((len(x) - len(x.lstrip()) for x in rest if x.strip()), default=0)
    text = "\n".join([first.strip(), *(x[margin:].rstrip() for x in rest)]).rstrip()
    return re.sub(r"\n\n((?:    .*(?:\n|$)|\n(?=    ))+)", lambda m: "\n\n```python\n" + textwrap.dedent(m[1]).rstrip() + "\n```\n", text).strip()


def entry(prefix: str, name: str, thing: object) -> str:
    text = clean(thing.__doc__ or "")
    if isinstance(thing, property):
        head = f"{prefix}.{name}"
    elif isinstance(thing, type):
        head = f"{prefix}.{name}" if name != "range" else signature_text(thing.__init__, f"{prefix}.range")
    else:
        head = signature_text(thing, f"{prefix}.{name}")
    return f"**`{head}`**\n\n{text}\n"


def reference() -> str:
    out = []
    for title, prefix, module, names in GROUPS:
        out.append(f"### {title}\n")
        if prefix in ("script.pointer", "script.atomic"):
            out.append(clean(module.__doc__) + "\n")
        for name in names:
            thing = inspect.getattr_static(module, name) if module is script.Tile else getattr(_functions if name == "cdiv" else module, name)
            out.append(entry(prefix, name, thing))
    return "\n".join(out)


def main() -> int:
    check = "--check" in sys.argv
    path = pathlib.Path([a for a in sys.argv[1:] if not a.startswith("-")][0])
    page = path.read_text(encoding="utf-8")
    wanted = page[:page.index(MARK) + len(MARK)] + "\n" + reference()
    if check:
        return 0 if page == wanted else 1
    path.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
