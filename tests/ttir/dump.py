#!/usr/bin/env python3
"""Writes the TTIR of the kernels in kernels.py; needs Triton, no GPU.

    python3 tests/ttir/dump.py OUT [NAME...]

With another Triton than 3.6 the names of the files end in its version: descriptor_39.ttir.
"""

import pathlib
import sys

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
    for name in sys.argv[2:] or [n for n in kernels.DUMPS if kernels.ONLY.get(n, version) == version]:
        function = kernels.DUMPS[name][0]
        head = f"// {function.__name__} of kernels.py, written by dump.py with Triton {triton.__version__}.\n"
        for call in calls.CALLS[name]:
            head += comments(call).replace("{kernel}", function.__name__)
        text = ttir(*kernels.DUMPS[name]).replace(folder, "").replace(library, "triton")
        (out / f"{name}{suffix}.ttir").write_text(head + text)


if __name__ == "__main__":
    main()
