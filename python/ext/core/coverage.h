/* What kernels were seen to choose, on the way to the function that asked for it. */
#ifndef TILE_PYTHON_EXT_CORE_COVERAGE_H_
#define TILE_PYTHON_EXT_CORE_COVERAGE_H_

#include "python/ext/core/object.h"

/* The callback of the library for launches that are made now; NULL while nobody asked. */
tilevm_coverage_fn coverage_callback(void);

int add_coverage(PyObject* module);

#endif /* TILE_PYTHON_EXT_CORE_COVERAGE_H_ */
