#!/usr/bin/env python3
"""Writes the TTIR of the kernels in kernels.py; needs Triton, no GPU.

    python3 tests/ttir/dump.py OUT [--generic] [NAME...]

With --generic the text is MLIR's generic form, in files whose names end in _generic.
With another Triton than 3.6 the names of the files end in its version: descriptor_39.ttir.
"""

import pathlib
import re
import sys
import tempfile

import numpy as np
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend
from triton._C.libtriton import ir

import calls
import kernels

# Pointers and these sizes are promised to be multiples of 16, as Triton finds of most arguments at a launch.
ALIGNED = ("*",)


def ttir(fn, types, constants):
    """The text of the module after Triton's passes at the level of TTIR."""
    signature = dict(types, **{name: "constexpr" for name in constants})
    at = {name: (i,) for i, name in enumerate(fn.arg_names)}
    attrs = {at[name]: [["tt.divisibility", 16]] for name, t in types.items() if t.startswith(ALIGNED)}
    src = ASTSource(fn, signature=signature, constexprs={at[n]: v for n, v in constants.items()}, attrs=attrs)
    backend = make_backend(GPUTarget("cuda", 90, 32))
    options = backend.parse_options(dict({}, **src.parse_options()))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    codegen = backend.get_codegen_implementation(options)
    module = src.make_ir(GPUTarget("cuda", 90, 32), options, codegen, backend.get_module_map(), context)
    stages = {}
    backend.add_stages(stages, options, src.language)
    return str(stages["ttir"](module, {}))


def generic(text):
    """The text in generic form, which MLIR takes for a module that does not verify: one with a sum of two types, which is left out again."""
    context = ir.context()
    ir.load_dialects(context)
    with tempfile.NamedTemporaryFile("w", suffix=".ttir") as file:
        file.write(text)
        file.flush()
        module = ir.parse_mlir_module(file.name, context)
    blocks = []
    module.walk(lambda op: blocks.append(op.get_block()) if op.get_name() == "tt.return" else None)
    builder = ir.builder(context)
    builder.set_insertion_point_to_start(blocks[0])
    builder.create_add(builder.get_int32(7777), builder.get_int64(8888))
    lines = str(module).splitlines(keepends=True)
    mark = re.compile(r"value = (7777 : i32|8888 : i64)}|: \(i32, i64\) -> i32")
    return "".join(line for line in lines if not mark.search(line)).replace(file.name, "kernels.ttir")


def text_of(value):
    """A list or number as the comments of tests have it."""
    array = np.asarray(value)
    if array.ndim == 0:
        return repr(array.item())
    numbers = [repr(v.item()) for v in array.reshape(-1)]
    lines, line = [], ""
    for number in numbers:
        line += number + ", "
        if len(line) > 100:
            lines.append(line.rstrip())
            line = ""
    return "[" + "\n//   ".join(lines + [line]).rstrip(", \n/") + "]"


def comments(call):
    args = " ".join(f"{name}={text_of(value)}" for name, value in call.args.items())
    ulp = f" ulp={call.ulp}" if call.ulp else ""
    out = f"// run: @{{kernel}} {args}" + (f" grid={call.grid}" if call.grid else "")
    out += "\n// expect: " + " ".join(f"{name}={text_of(value)}{ulp}" for name, value in call.expect.items())
    return out + (f'\n// expect-print: "{call.printed}"' if call.printed else "") + "\n"


def main():
    out = pathlib.Path(sys.argv[1])
    folder = str(pathlib.Path(kernels.__file__).resolve().parent) + "/"
    library = str(pathlib.Path(triton.__file__).resolve().parent)
    version = "".join(triton.__version__.split(".")[:2])
    suffix = "" if version == "36" else "_" + version
    in_generic_form = "--generic" in sys.argv
    names = [name for name in sys.argv[2:] if name != "--generic"]
    if in_generic_form:
        suffix += "_generic"
    for name in names or [n for n in kernels.DUMPS if kernels.ONLY.get(n, version) == version]:
        function = kernels.DUMPS[name][0]
        head = f"// {function.__name__} of kernels.py, written by dump.py with Triton {triton.__version__}.\n"
        for call in calls.CALLS[name]:
            head += comments(call).replace("{kernel}", function.__name__)
        text = ttir(*kernels.DUMPS[name]).replace(folder, "").replace(library, "triton")
        if in_generic_form:
            text = generic(text)
        (out / f"{name}{suffix}.ttir").write_text(head + text)


if __name__ == "__main__":
    main()
