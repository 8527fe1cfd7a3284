"""Kernels as functions of TVM-FFI, which whatever speaks its ABI calls without Python and without this package.

    import tilevm, tilevm.tvm_ffi, tvm_ffi

    tilevm.tvm_ffi.build(tilevm.load("vector_add.tile"), "kernels.so")
    tvm_ffi.load_module("kernels.so").vector_add(a, b, c)          # tensors of torch, NumPy, JAX: any with DLPack

include/tilevm_tvm_ffi.h, which does the same for a program in C, says what such a function takes and which errors it gives.
"""
from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile

from . import get_include, get_library_dir
from ._errors import UnavailableError, argument_error
from ._formula import chosen_kernel
from ._kernel import Kernel
from ._module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, List, Optional, Union

_RUNTIME = "libtilevm.so.1"
_BYTES_A_LINE = 32


def _chosen(module: "Any", kernels: "Optional[Iterable[str]]") -> "Dict[str, Kernel]":
    """By their names in Python. Errors: ArgumentError for a name that no function can have, and for a kernel without interface."""
    if isinstance(module, Module):
        chosen = [module[name] for name in (module.kernels if kernels is None else kernels)]
    elif kernels is not None:
        raise argument_error(f"kernels= chooses among those of a Module, and this is a {type(module).__name__}", "leave kernels= out")
    else:
        chosen = [chosen_kernel(module)]
    for kernel in chosen:
        if not kernel.has_interface or not kernel.grid:
            raise argument_error(f"kernel `{kernel.readable}` has no interface with a launch rule: arguments and grid would be unknown",
                                 "give its interface a `grid`")
        if not kernel.name.isidentifier() or not kernel.name.isascii():
            raise argument_error(f"`{kernel.readable}` cannot be the name of a function in C", "rename the kernel")
    if not chosen:
        raise argument_error("there is no kernel to build")
    return {kernel.name: kernel for kernel in chosen}


def source(module: "Any", kernels: "Optional[Iterable[str]]" = None) -> str:
    """The program in C that build() compiles: the kernels' .tbc as an array, and a function for each of them."""
    chosen = _chosen(module, kernels)
    data = next(iter(chosen.values())).module.to_bytes()
    lines = [",".join(map(str, data[at:at + _BYTES_A_LINE])) for at in range(0, len(data), _BYTES_A_LINE)]
    return "\n".join(['#include "tilevm_tvm_ffi.h"', "static const _Alignas(64) unsigned char module_tbc[] = {", ",\n".join(lines), "};",
                      *(f'TILEVM_TVM_FFI({name}, "{name}", module_tbc, sizeof module_tbc)' for name in chosen), ""])


def _options() -> "List[str]":
    """Where the headers and libraries are. Errors: UnavailableError without apache-tvm-ffi."""
    try:
        from tvm_ffi import libinfo
    except ImportError as error:
        raise UnavailableError(f"error[tvm_ffi.missing]: apache-tvm-ffi is not installed: {error}\n  fix: pip install apache-tvm-ffi") from None
    includes = {libinfo.find_include_path(), libinfo.find_dlpack_include_path(), get_include()}
    library = libinfo.find_libtvm_ffi()
    return [*(f"-I{folder}" for folder in sorted(includes)), "-L" + get_library_dir(), "-l:" + _RUNTIME, "-L" + os.path.dirname(library), "-ltvm_ffi"]


def build(module: "Any", path: "Union[str, os.PathLike[str]]", kernels: "Optional[Iterable[str]]" = None, *, runtime: bool = False) -> None:
    """Writes a shared library with a function of TVM-FFI for each kernel, under the kernel's name.

    `module` is a Module, a Kernel, or what tilevm.script.kernel made; `kernels` chooses among those of a Module. The library carries the
    module with its machine code (Module.compile). It is compiled by the C compiler, $CC or cc, for glibc of this machine or newer.

    It finds libtilevm.so in this package. With `runtime` a copy is put beside it instead, and both can be taken to machines without the package.

    Errors: ArgumentError for what cannot be a function; UnavailableError without a C compiler or apache-tvm-ffi."""
    text, options = source(module, kernels), _options()
    path = os.path.abspath(os.fspath(path))
    folder = os.path.dirname(path)
    compiler = shlex.split(os.environ.get("CC") or "cc")
    with tempfile.TemporaryDirectory() as work:
        program, library = os.path.join(work, "kernels.c"), os.path.join(work, "kernels.so")
        with open(program, "w", encoding="ascii") as file:
            file.write(text)
        command = [*compiler, "-std=gnu11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-s", "-o", library, program, *options,
                   "-Wl,-rpath," + ("$ORIGIN" if runtime else get_library_dir())]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise UnavailableError(f"error[tvm_ffi.compiler]: {compiler[0]} cannot be started: {error.strerror}\n"
                                   "  fix: install a C compiler, or name one in $CC") from None
        if done.returncode != 0:
            raise UnavailableError(f"error[tvm_ffi.compiler]: {compiler[0]} failed: {done.stderr.strip()}\n"
                                   "  fix: use a C compiler for this machine, and versions of tilevm and apache-tvm-ffi that fit")
        if runtime:
            shutil.copy(os.path.join(get_library_dir(), _RUNTIME), os.path.join(folder, _RUNTIME))
        # Renamed over the old one, which a process may have open.
        made = f"{path}.{os.getpid()}"
        shutil.copy(library, made)
        os.replace(made, path)
