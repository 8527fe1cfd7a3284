/* Random bytes in memory that has no values yet (tilevm/_frontend/torch_cuda/fresh.py): whoever writes there changes them, whatever
 * means of writing he has. Byte i depends on i and a seed alone, so that nothing need be kept. */
#ifndef TILE_PYTHON_EXT_FRONTEND_FRESH_H_
#define TILE_PYTHON_EXT_FRONTEND_FRESH_H_

#include "python/ext/core/object.h"

int add_fresh(PyObject* module);

#endif /* TILE_PYTHON_EXT_FRONTEND_FRESH_H_ */
