/* The interpreter's end, and children of fork. */
#ifndef TILE_PYTHON_EXT_CORE_INTERPRETER_H_
#define TILE_PYTHON_EXT_CORE_INTERPRETER_H_

#include "python/ext/core/object.h"

extern uint64_t forks; /* of this process's ancestors: what they prepared is not used here */

/* The interpreter ends: no callback may take the GIL any more. */
int is_finalizing(void);
/* Around a call that runs kernels, without the GIL. A kernel that runs when the interpreter ends is stopped and waited for, and its
 * thread never comes back. */
void begin_work(void);
void end_work(void);

int add_interpreter(PyObject* module);

#endif /* TILE_PYTHON_EXT_CORE_INTERPRETER_H_ */
