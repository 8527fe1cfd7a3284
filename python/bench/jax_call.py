"""What a kernel in a program of JAX takes on the CPU:  jax_call.py   (needs jax, a C compiler, and the package installed)

Prints, each the best of several turns: a call of a handler that does nothing (made here, with XLA's own header), a call of a kernel of one
block, and a prepared launch of that kernel in Python, without JAX. Both calls are one of many in a program.
"""
import ctypes
import pathlib
import subprocess
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy
import tilevm
import tilevm.jax

KERNEL = """entry @copy(%a: tile<ptr<f32>>, %c: tile<ptr<f32>>) interface {
  in a: f32[1] at %a
  out c: f32[1] at %c
  grid 1
} {
  %v, %t = load_ptr_tko weak %a
  store_ptr_tko weak %c, %v
  return
}
"""
EMPTY = """
#include "xla/ffi/api/c_api.h"
XLA_FFI_Error* empty(XLA_FFI_CallFrame* frame) {
  if (frame->extension_start != 0 && frame->extension_start->type == XLA_FFI_Extension_Metadata) {
    XLA_FFI_Metadata* m = ((XLA_FFI_Metadata_Extension*)frame->extension_start)->metadata;
    m->api_version.major_version = XLA_FFI_API_MAJOR;
    m->api_version.minor_version = XLA_FFI_API_MINOR;
  }
  return 0;
}
"""
TURNS, ROUNDS, CALLS = 200, 20, 100


def best(call):
    """Microseconds."""
    call()
    times = []
    for _ in range(TURNS):
        start = time.perf_counter()
        for _ in range(ROUNDS):
            call()
        times.append((time.perf_counter() - start) / ROUNDS * 1e6)
    return min(times)


def per_call(function):
    """Microseconds of one of many calls in one program, each on the result of the one before: what JAX takes to start a program is left out."""
    def chain(x):
        for _ in range(CALLS):
            x = function(x)
        return x

    program, x = jax.jit(chain), jnp.ones(1)
    return best(lambda: program(x).block_until_ready()) / CALLS


def main():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "empty.c"
        source.write_text(EMPTY)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{jax.ffi.include_dir()}", str(source), "-o", f"{folder}/empty.so"], check=True)
        library = ctypes.CDLL(f"{folder}/empty.so")
        jax.ffi.register_ffi_target("empty", jax.ffi.pycapsule(ctypes.cast(library.empty, ctypes.c_void_p).value), platform="cpu")
        empty = per_call(lambda x: jax.ffi.ffi_call("empty", jax.ShapeDtypeStruct((1,), jnp.float32))(x))
        print(f"{empty:6.2f} µs  a handler that does nothing")
        kernel = tilevm.loads(KERNEL).kernel
        call = per_call(tilevm.jax.function(kernel))
        a, c = numpy.ones(1, "float32"), numpy.empty(1, "float32")
        prepared = best(kernel.prepare(a, out=c))
        print(f"{call:6.2f} µs  a kernel of one block\n{prepared:6.2f} µs  a prepared launch of it in Python\n"
              f"{call - empty - prepared:6.2f} µs  over both")


if __name__ == "__main__":
    main()
