/* Errors of the library as exceptions of the package. */
#ifndef TILE_PYTHON_EXT_CORE_ERROR_H_
#define TILE_PYTHON_EXT_CORE_ERROR_H_

#include "python/ext/core/object.h"

/* NULL with an exception for a status that is none of TILEVM_OK: what the factory makes of status and message. Call it
 * in the thread of the failed call, with the GIL. */
PyObject* raise_status(tilevm_status status);
/* An error of our own, in the same form: "error[CODE]: what\n  fix: how". */
PyObject* raise_error(tilevm_status status, const char* code, const char* message);
/* None, or raise_status. */
PyObject* none_or_raise(tilevm_status status);

/* The factory: (status, code, text) -> exception. */
void set_make_error(PyObject* function);

#endif /* TILE_PYTHON_EXT_CORE_ERROR_H_ */
