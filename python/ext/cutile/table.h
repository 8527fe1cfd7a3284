/* The part of the CUDA driver that cuTile Python's extension calls, on top of tilevm: cuTile binds the arguments of a
 * launch in its own compiled code, and what it hands to the driver comes here.
 *
 *   table.c     the table of functions, and those of a machine without a GPU
 *   image.c     what cuTile takes for a cubin: a .tbc with names and types of the arguments
 *   launch.c    arguments of launches
 *   error.c     what went wrong
 *
 * On the cpu every function is one of ours; on a GPU all but those of libraries, kernels and launches are the driver's. */
#ifndef TILE_PYTHON_EXT_CUTILE_TABLE_H_
#define TILE_PYTHON_EXT_CUTILE_TABLE_H_

#include "python/ext/core/object.h"

int add_cutile(PyObject* module);

#endif /* TILE_PYTHON_EXT_CUTILE_TABLE_H_ */
