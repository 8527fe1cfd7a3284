"""cuTile Python, unmodified, on any CPU and on GPUs through tilevm's compiler.

    python -m tilevm.cutile script.py …            # a program
    python -m tilevm.cutile -m pytest tests/ …     # a module

    import tilevm.cutile
    tilevm.cutile.install(device="cpu")            # or "cuda"; before the first launch
    import cuda.tile as ct, numpy
    ct.launch(0, (8,), kernel, (x, y))             # NumPy arrays, torch tensors

cuTile's own frontend compiles a kernel to Tile IR bytecode and binds the arguments of launches; in place of NVIDIA's assembler and
driver stand the VM (device "cpu"), or this package's compiler and runtime ("cuda"). On the cpu, torch's "cuda" device is the
CPU: programs for a GPU run on a machine without one. What a kernel does wrong is a `tilevm.TrapError` with the line of the Python
file. Needs the package cuda-tile; docs/cutile.md says which versions.

    _install.py      what is put in place of what, and when
    _versions.py     what differs between versions of cuda-tile
    _compile.py      bytecode to .tbc;   _image.py: what cuTile takes for a cubin;   _cache.py: checksums of its cache on disk
    _launch.py       launches, host arrays, time limits;   _tune.py: cuda.tile.tune

What it shares with tilevm.triton (errors, torch's "cuda" on the CPU, child processes) is in tilevm/_frontend.
"""
from __future__ import annotations

from .._frontend.report import KernelWarning
from .._frontend.state import State
from .._module import Module, load
from ._image import unpack
from ._install import install, installed

__all__ = ["KernelWarning", "State", "install", "installed", "load_exported"]


def load_exported(image: bytes, name: str = "<exported>") -> Module:
    """What `cuda.tile.compilation.export_kernel(…, output_format="cubin")` wrote under tilevm, as a module: save it, compile it, embed it.

    Errors: ArgumentError for other machine code.

        buffer = io.BytesIO()
        export_kernel(kernel, [signature], buffer, gpu_code="sm_90", output_format="cubin")
        tilevm.cutile.load_exported(buffer.getvalue()).save("kernel.tbc")
    """
    return load(unpack(image), name=name)
