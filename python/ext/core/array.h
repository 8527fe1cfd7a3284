/* Arrays: as the library takes them, and what capsules of other libraries say of theirs. */
#ifndef TILE_PYTHON_EXT_CORE_ARRAY_H_
#define TILE_PYTHON_EXT_CORE_ARRAY_H_

#include "python/ext/core/object.h"

/* tilevm_array from (address, type, shape, strides or None); shape and strides are written to the caller's. 0, or -1
 * with an exception. */
int read_array(PyObject* address, int type, PyObject* shape, PyObject* strides, tilevm_array* array, int64_t sizes[16],
               int64_t steps[16]);
/* A tuple of ints. */
PyObject* tuple_of(const int64_t* values, int32_t count);

int add_arrays(PyObject* module);

#endif /* TILE_PYTHON_EXT_CORE_ARRAY_H_ */
