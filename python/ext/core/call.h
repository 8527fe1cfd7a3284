/* Callable: what a kernel inherits its call from. A call whose like was bound before takes the Plan that Python made
 * then (plan.c); any other call, and any that a plan refuses, goes to the method _call, which binds, checks and
 * reports. */
#ifndef TILE_PYTHON_EXT_CORE_CALL_H_
#define TILE_PYTHON_EXT_CORE_CALL_H_

#include "python/ext/core/object.h"

int add_call(PyObject* module);

#endif /* TILE_PYTHON_EXT_CORE_CALL_H_ */
