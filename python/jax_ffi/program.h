/* A kernel as a compiled JAX program holds it: read once from the attributes of the call, then launched without Python.
 *
 *   Program* p = program_read(frame, is_gpu, &error);       // when XLA compiles or loads the program
 *   error = program_run(p, frame, stream);                  // each call, from any thread
 *   program_free(p);
 *
 * Attributes: `program`, the bytes of a .tbc; `kernel`, its name; `check` and `threads`, those of tilevm_launch_options; `scalar.NAME`, an
 * i64 or f64 for each scalar that is given. Operands are the arrays of direction in and inout, results those of inout and out, each in
 * the order of the interface. What a buffer's rank has beyond that of the interface are batches: the kernel runs once for each. */
#ifndef TILE_PYTHON_JAX_FFI_PROGRAM_H_
#define TILE_PYTHON_JAX_FFI_PROGRAM_H_

#include "program_state.h"
#include "xla_ffi.h"

Program* program_read(const TvCallFrame* frame, int is_gpu, TvError** error);
void program_free(Program* program);

/* Of a launch that is in no list. */
void bound_free(Bound* bound);

#endif /* TILE_PYTHON_JAX_FFI_PROGRAM_H_ */
