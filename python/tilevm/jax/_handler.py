"""The handler of the package, registered with JAX under the name that exported programs have: once a process, when this is imported."""
from __future__ import annotations

import ctypes
import os

import jax

from .._errors import UnavailableError, UnsupportedError

TARGET = "tilevm_launch"
_PLATFORMS = {"cpu": "Cpu", "CUDA": "Cuda"}


def _library() -> ctypes.CDLL:
    path = os.path.join(os.path.dirname(os.path.dirname(__file__)), "_jax_ffi.so")
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise UnavailableError(f"error[jax.handler]: {path} cannot be loaded: {error}\n  fix: install the wheel of tilevm again") from None


def _register() -> None:
    """Errors: UnsupportedError for a jaxlib whose interface is another one."""
    library = _library()
    type_id, type_info = (jax.ffi.pycapsule(ctypes.addressof(ctypes.c_char.in_dll(library, name))) for name in ("TilevmTypeId", "TilevmTypeInfo"))
    for platform, suffix in _PLATFORMS.items():
        handlers = {stage: jax.ffi.pycapsule(ctypes.cast(getattr(library, f"Tilevm{stage.capitalize()}{suffix}"), ctypes.c_void_p).value)
                    for stage in ("instantiate", "execute")}
        try:
            jax.ffi.register_ffi_type("tilevm_program", {"type_id": type_id, "type_info": type_info}, platform=platform)
            jax.ffi.register_ffi_target(TARGET, handlers, platform=platform)
        except Exception as error:
            raise UnsupportedError(f"error[jax.version]: jax {jax.__version__} does not take the handler of tilevm: {error}\n"
                                   "  fix: pip install --upgrade 'jax>=0.10'") from None


_register()
