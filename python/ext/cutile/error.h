/* Errors of the functions that cuTile calls: a result of the driver, and the exception, which Python asks for afterwards
 * (tilevm/cutile/_launch.py). */
#ifndef TILE_PYTHON_EXT_CUTILE_ERROR_H_
#define TILE_PYTHON_EXT_CUTILE_ERROR_H_

#include "python/ext/core/object.h"

/* Results of the driver that are used here. */
enum {
  CU_SUCCESS = 0,
  CU_INVALID_VALUE = 1,
  CU_OUT_OF_MEMORY = 2,
  CU_INVALID_IMAGE = 200,
  CU_NOT_FOUND = 500,
  CU_LAUNCH_FAILED = 719,
  CU_NOT_SUPPORTED = 801,
};

/* Keeps the exception that is set, for the caller of cuTile's function in this thread; returns `result`. */
int keep_error(int result);

int add_error(PyObject* module);

#endif /* TILE_PYTHON_EXT_CUTILE_ERROR_H_ */
