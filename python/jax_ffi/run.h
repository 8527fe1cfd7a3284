/* Calls of a kernel: a launch is taken out of the program, gets the buffers of the call, runs once for each batch and goes back. Programs come
 * back to the same few buffers, so that some launches wait with what they are bound to: one that fits needs nothing but to run. */
#ifndef TILE_PYTHON_JAX_FFI_RUN_H_
#define TILE_PYTHON_JAX_FFI_RUN_H_

#include "program_state.h"
#include "xla_ffi.h"

TvError* program_run(Program* program, const TvCallFrame* frame, void* stream);

#endif /* TILE_PYTHON_JAX_FFI_RUN_H_ */
