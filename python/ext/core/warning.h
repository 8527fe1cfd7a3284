/* Warnings of the VM, on their way to Python's. They come while the library runs, and are told when it is done: what is told may
 * raise. */
#ifndef TILE_PYTHON_EXT_CORE_WARNING_H_
#define TILE_PYTHON_EXT_CORE_WARNING_H_

#include "python/ext/core/object.h"

/* The callback of the library. */
void collect_warning(void* user, const char* text);
/* What was collected in this thread: told to a function that takes a list of texts, or to the package's; or forgotten. Not 0, with an
 * exception, if a warning is to be an error. With the GIL, no exception set. */
int tell_warnings_to(PyObject* teller);
int tell_warnings(void);
void forget_warnings(void);
/* None, or raise_status; tells warnings of what succeeded. */
PyObject* none_or_raise_told(tilevm_status status);

/* The package's: receives a list of texts. */
void set_warn_function(PyObject* function);

#endif /* TILE_PYTHON_EXT_CORE_WARNING_H_ */
