/* What kernels print, and interrupts: callbacks of the library while kernels run. */
#ifndef TILE_PYTHON_EXT_CORE_PRINT_H_
#define TILE_PYTHON_EXT_CORE_PRINT_H_

#include "python/ext/core/object.h"

void print_text(void* user, const char* text, size_t bytes);
int32_t ask_interrupt(void* user);
/* Raises what the function of set_print raised, if anything. 0, or -1 with the exception. */
int raise_print_error(void);

/* Receives texts. */
void set_print_function(PyObject* function);

#endif /* TILE_PYTHON_EXT_CORE_PRINT_H_ */
