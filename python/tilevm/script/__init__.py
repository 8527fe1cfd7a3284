"""Kernels written in Python: functions on tiles, traced to a tilevm program with its launch rule.

    import numpy
    from tilevm import script

    @script.kernel("a: f32[n], b: f32[n] -> c: f32[n]", grid="ceildiv(n, BLOCK)")
    def add(a, b, c, BLOCK=1024):
        i = script.bid()
        script.store(c, i, script.load(a, i, BLOCK) + script.load(b, i, BLOCK))

    c = add(numpy.arange(8, dtype="float32"), numpy.ones(8, "float32"))
    add.save("add.tbc")

The function runs once for each set of constants, on tiles in place of values, and builds a program; the program runs on any CPU or GPU.
docs/script.md is the way in, and the reference.
"""
from __future__ import annotations

from . import atomic, classic, pointer
from ._array import *  # noqa: F403
from ._array import __all__ as _array_names
from ._dtypes import ALL as _types
from ._dtypes import BY_NAME as _by_name
from ._dtypes import DType
from ._enums import MemoryOrder, MemoryScope, PaddingMode
from ._errors import ScriptError
from ._functions import *  # noqa: F403
from ._functions import __all__ as _function_names
from ._kernel import Kernel, function, kernel
from ._loops import range
from ._math import *  # noqa: F403
from ._math import __all__ as _math_names
from ._memory import *  # noqa: F403
from ._memory import __all__ as _memory_names
from ._print import print
from ._reductions import *  # noqa: F403
from ._reductions import __all__ as _reduction_names
from ._tile import Tile
from .atomic import Register, register, store_global_scatter, store_shared_scatter
from .classic import *  # noqa: F403
from .classic import __all__ as _classic_names

bool_ = _by_name["bool"]
int8, int16, int32, int64 = (_by_name[n] for n in ("i8", "i16", "i32", "i64"))
uint8, uint16, uint32, uint64 = (_by_name[n] for n in ("u8", "u16", "u32", "u64"))
float16, bfloat16, float32, float64 = (_by_name[n] for n in ("f16", "bf16", "f32", "f64"))
tfloat32, float8_e4m3fn, float8_e5m2 = (_by_name[n] for n in ("tf32", "f8E4M3FN", "f8E5M2"))

__all__ = ["kernel", "function", "Kernel", "range", "print", "Tile", "DType", "MemoryOrder", "MemoryScope", "PaddingMode", "ScriptError", "Register",
           "register", "store_shared_scatter", "store_global_scatter", "atomic", "pointer", "classic"]
__all__ += [*_array_names, *_function_names, *_math_names, *_memory_names, *_reduction_names, *_classic_names]
__all__ += ["bool_" if d.name == "bool" else d.numpy for d in _types]

TYPE_CHECKING = False
if not TYPE_CHECKING:  # type checkers know the names
    def __getattr__(name):
        from ._foreign import no_attribute

        raise no_attribute("script", name)
