"""Kernels of a Python file as .tbc files, for applications: python -m tilevm.triton export SCRIPT --kernel NAME --signature TYPES -o FILE

    python -m tilevm.triton export add.py --kernel add --signature "*fp32:16, *fp32:16, *fp32:16, i32, 128" -o add.tbc --sm 80,90 \\
        --interface "in x: f32[%n] at %x_ptr; in y: f32[%n] at %y_ptr; out z: f32[%n] at %out_ptr; grid ceildiv(x.shape[0], 128)"

TYPES has an item for each parameter of the kernel, in order, as Triton's own tool for this takes them: a type (*fp32, i32, fp16), with :16
for what is a multiple of 16; a number for a constexpr, or for an argument that is always this one.

The interface is that of docs/text.md, with items apart by `;`, %NAME being the kernel's parameter of that name. It says which arrays the
kernel takes, of what shape, and how many blocks there are. Without it arrays are of any size, and who launches the kernel gives the grid.
"""
from __future__ import annotations

import re
import sys

from .. import _module
from .._errors import ArgumentError, Error, argument_error
from .._types import BY_NUMBER
from ._signature import leaves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence, Tuple

_POINTER, _DESCRIPTOR = 1, 5


def split(signature: str) -> "List[str]":
    """Its items: commas within brackets are part of one."""
    return [item.strip() for item in re.split(r",(?![^\[]*\])", signature) if item.strip()]


def _constant(item: str) -> "Any":
    """The value of a constexpr, or None."""
    named = {"True": True, "False": False, "None": None}
    if item in named:
        return named[item]
    for kind in (int, float):
        try:
            return kind(item)
        except ValueError:
            pass
    return item[1:-1] if len(item) > 1 and item[0] == item[-1] and item[0] in "'\"" else ...


def read_signature(text: str, names: "Sequence[str]") -> "Tuple[Dict[str, str], Dict[Tuple[int], Any], Dict[Tuple[int], Any]]":
    """Types, constants and attributes as Triton's ASTSource takes them. Errors: ArgumentError."""
    items = split(text)
    if len(items) != len(names):
        raise argument_error(f"the signature has {len(items)} items; the kernel's parameters are {', '.join(names)}",
                             "give each a type, such as *fp32 or i32, or a number")
    types: "Dict[str, str]" = {}
    constants: "Dict[Tuple[int], Any]" = {}
    attributes: "Dict[Tuple[int], Any]" = {}
    for i, (name, item) in enumerate(zip(names, items)):
        value = _constant(item)
        kind, _, hint = item.partition(":")
        if value is not ... or hint == "1":
            types[name], constants[(i,)] = "constexpr", 1 if value is ... else value
            continue
        if hint not in ("", "16"):
            raise argument_error(f"`{item}` of parameter `{name}`", "after the colon stands 16, or 1")
        types[name] = kind
        if hint:
            attributes[(i,)] = [["tt.divisibility", 16]]
    return types, constants, attributes


def _parameters(types: "Dict[str, str]") -> "List[Tuple[str, int, int]]":
    """(name, kind, element) of each parameter of the compiled kernel; parts of descriptors have no name."""
    found: "List[Tuple[str, int, int]]" = []
    for kind, element, _, name, count in leaves(list(types.values()), list(types))[4]:
        if kind != 0:
            found.append((name, kind, element))
        if kind == _DESCRIPTOR:
            found += [("", kind, element)] * (4 * count)
    return found


def _plain_interface(parameters: "Sequence[Tuple[str, int, int]]") -> str:
    items = []
    for name, kind, element in parameters:
        if kind == _DESCRIPTOR:
            return ""  # whose parts an application computes: raw parameters
        items.append(f"inout {name}: {BY_NUMBER[element].name}[?] at %{name}" if kind == _POINTER else f"scalar {name} = %{name}")
    return "; ".join(items)


def with_interface(module: "_module.Module", interface: str, parameters: "Sequence[Tuple[str, int, int]]") -> "_module.Module":
    """The module with this interface of its only kernel. Errors: ModuleError names what is wrong in it."""
    if not interface.strip():
        return module
    text = module.disassemble(debug=True)
    called: "Dict[str, str]" = {}
    for i, (name, _, _) in enumerate(parameters):
        if not name:
            continue
        taken = re.search(rf"%{name}\b", text)  # by a value
        called[name] = f"arg{i}" if taken else name
        text = re.sub(rf"%arg{i}\b", f"%{called[name]}", text)

    def parameter(match: "re.Match[str]") -> str:
        if match[1] not in called:
            raise argument_error(f"the interface speaks of %{match[1]}; the kernel's parameters are {', '.join(called)}")
        return f"%{called[match[1]]}"

    items = "\n".join(re.sub(r"%([A-Za-z_]\w*)", parameter, item.strip()) for item in interface.split(";"))
    lines = text.split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("entry "))
    lines[at] = re.sub(r" \{$", lambda _: " interface {\n" + items + "\n} {", lines[at])
    return _module.loads("\n".join(lines), name=module.name)


def _kernel_of(script: str, name: str) -> "Any":
    import os
    import runpy

    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    sys.argv = [script]
    try:
        found = runpy.run_path(script, run_name="<export>").get(name)
    except FileNotFoundError:
        raise argument_error(f"there is no file {script}") from None
    while found is not None and not hasattr(found, "arg_names") or type(found).__name__ in ("Autotuner", "Heuristics"):
        found = getattr(found, "fn", None)  # behind autotune and heuristics
    if found is None or type(found).__name__ != "JITFunction":
        raise argument_error(f"{script} has no kernel `{name}`", "name a function that is decorated with triton.jit")
    return found


def export(script: str, kernel: str, signature: str, interface: "Optional[str]" = None, sm: "Sequence[str]" = (),
           capability: "Optional[str]" = None) -> "_module.Module":
    """The module of a kernel in a Python file, which is run for that; with machine code for the GPUs `sm` ("80", "90").

    Errors: ArgumentError; ModuleError for what is not supported; what the file raises.

        tilevm.triton.export("add.py", "add", "*fp32, *fp32, *fp32, i32, 128", sm=["90"]).save("add.tbc")
    """
    from ._install import install

    install("cpu", capability=capability)
    function = _kernel_of(script, kernel)
    types, constants, attributes = read_signature(signature, function.arg_names)
    import triton
    from triton.compiler import ASTSource

    compiled = triton.compile(ASTSource(function, types, constants, attributes), target=triton.runtime.driver.active.get_current_target())
    module = _module.load(compiled.asm["tbc"], name=f"{kernel}.tbc")
    parameters = _parameters(types)
    module = with_interface(module, _plain_interface(parameters) if interface is None else interface, parameters)
    return module.compile(list(sm)) if sm else module


def main(words: "List[str]") -> None:
    """The command."""
    import argparse

    parser = argparse.ArgumentParser(prog="python -m tilevm.triton export", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("script", help="a Python file; it is run")
    parser.add_argument("--kernel", "-n", required=True, help="name of the kernel")
    parser.add_argument("--signature", "-s", required=True, help="type or constant of each parameter")
    parser.add_argument("--interface", help="arrays, scalars and grid; default: arrays of any size")
    parser.add_argument("--output", "-o", required=True, help="the .tbc file")
    parser.add_argument("--sm", default="", help="machine code for these GPUs, too: 80,90")
    parser.add_argument("--capability", help="compute capability that the kernel sees (9.0)")
    args = parser.parse_args(words)
    try:
        sm = [part for part in args.sm.split(",") if part]
        module = export(args.script, args.kernel, args.signature, args.interface, sm, args.capability)
        module.save(args.output)
    except ArgumentError as error:
        raise SystemExit(f"tilevm.triton: {error}") from None
    except Error as error:
        raise SystemExit(str(error)) from None
    print(f"{args.output}: {module.kernel.signature}" + "".join(f", {image['arch']}" for image in module.images))
