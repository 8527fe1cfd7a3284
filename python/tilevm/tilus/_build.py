"""Takes the place of Tilus' code generator and nvcc: a program becomes kernel.tile and launch.json in a folder of Tilus' cache.

The name of the folder follows from the program, the places of its instructions, the target, and this package's translator, so that a folder
never holds what an older translator wrote.
"""
from __future__ import annotations

import functools
import hashlib
import json
import os
import pathlib
import traceback

from .. import _module
from .._errors import ModuleError, UnsupportedError
from . import _host, _lines
from ._refuse import Refusal, at
from ._translate import translate
from ._types import element, is_pointer, is_small, pointee

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List


@functools.lru_cache(None)
def _digest_of_translator() -> str:
    digest = hashlib.sha256(_module.digest_of_compiler().encode())
    for file in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def folder_of(program: "Any", options: "Any" = None) -> pathlib.Path:
    """The folder of a program's kernel, which need not be built yet."""
    import tilus.option
    import tilus.target

    text = "\n".join((str(options), str(tilus.target.get_current_target()), str(program), _lines.places(program), _digest_of_translator()))
    folder = pathlib.Path(tilus.option.get_option("cache_dir")) / "kernels" / hashlib.sha256(text.encode()).hexdigest()[:24]
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "program.txt").exists():
        (folder / "program.txt").write_text(str(program))
        (folder / "options.txt").write_text(str(options))
    return folder


def build(program: "Any", options: "Any" = None) -> str:
    """Builds a program in its folder, if that has no kernel yet, and gives the folder. Errors: UnsupportedError, ModuleError."""
    folder = folder_of(program, options)
    if (folder / "launch.json").exists():
        return str(folder)
    if len(program.functions) != 1:
        raise UnsupportedError(f"error[tilus.unsupported]: a program of {len(program.functions)} functions\n  fix: one kernel a program")
    function = next(iter(_prepared(program).functions.values()))
    text, workspaces, lets = translate(function, function.name)
    parameters = {var: i for i, var in enumerate(function.params)}
    try:
        launch = {
            "name": function.name,
            "parameters": [_parameter(var) for var in function.params],
            "grid": [_host.store(e, parameters, lets) for e in function.metadata.grid_blocks],
            "workspaces": [{"element": "i8" if is_small(w.dtype) else element(w.dtype), "size": _host.store(w.size, parameters, lets)}
                           for w in workspaces],
        }
    except Refusal as refusal:
        raise at(("", 0, 1), refusal) from None
    (folder / "kernel.tile").write_text(text)
    try:
        _module.loads(text, str(folder / "kernel.tile"))
    except ModuleError as error:
        raise ModuleError(f"error[tilus.translation]: the translation of {function.name} is wrong, which is a mistake of tilevm; the text is "
                          f"{folder / 'kernel.tile'}\n{error}", error.code) from None
    temporary = folder / f"launch.{os.getpid()}"
    temporary.write_text(json.dumps(launch))
    temporary.replace(folder / "launch.json")  # last: with it the folder is complete
    return str(folder)


def refuse_module(module: "Any", *args: "Any", **options: "Any") -> None:
    """Takes the place of tilus.drivers.build_ir_module. Errors: UnsupportedError names the line of the program."""
    import tilus

    package = os.path.dirname(str(tilus.__file__))
    outside = [frame for frame in traceback.extract_stack()[:-1] if not frame.filename.startswith(package)]
    raise at((outside[-1].filename, outside[-1].lineno or 0, 1), Refusal("a module of hidet functions, which are CUDA code of threads",
                                                                        "write the kernel as a tilus.Script"))


def _parameter(var: "Any") -> "Dict[str, Any]":
    return {"name": str(var.name or var.hint), "pointer": is_pointer(var.type), "element": pointee(var.type) if is_pointer(var.type) else element(var.type)}


def _prepared(program: "Any") -> "Any":
    """The program after those of Tilus' passes that give layouts. Later ones lower tensors to pointers, and their bounds are lost."""
    from tilus.ir.tools import verify
    from tilus.transforms import (PassContext, apply_transforms, declare_to_let_pass, layout_inference_pass, let_propagation_pass,
                                  lower_assume_pass)

    verify(program)
    passes: "List[Any]" = [declare_to_let_pass(), let_propagation_pass(), lower_assume_pass(), layout_inference_pass()]
    with PassContext():
        return apply_transforms(program, passes)
