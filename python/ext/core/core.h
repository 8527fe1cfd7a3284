/* The room: types and functions of the module that mirror the library's. */
#ifndef TILE_PYTHON_EXT_CORE_CORE_H_
#define TILE_PYTHON_EXT_CORE_CORE_H_

#include "python/ext/core/object.h"

int add_core(PyObject* module);

#endif /* TILE_PYTHON_EXT_CORE_CORE_H_ */
