/* The room: what cuTile and Triton share. */
#ifndef TILE_PYTHON_EXT_FRONTEND_FRONTEND_H_
#define TILE_PYTHON_EXT_FRONTEND_FRONTEND_H_

#include "python/ext/core/object.h"

int add_frontend(PyObject* module);

#endif /* TILE_PYTHON_EXT_FRONTEND_FRONTEND_H_ */
