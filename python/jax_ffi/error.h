/* Errors for XLA. */
#ifndef TILE_PYTHON_JAX_FFI_ERROR_H_
#define TILE_PYTHON_JAX_FFI_ERROR_H_

#include "tilevm.h"
#include "xla_ffi.h"

/* An error with a text of ours; `code` is one of XLA. */
TvError* make_error(const TvApi* api, int code, const char* text);
/* Of the last failure of the library. */
TvError* library_error(const TvApi* api, tilevm_status status);

#endif /* TILE_PYTHON_JAX_FFI_ERROR_H_ */
