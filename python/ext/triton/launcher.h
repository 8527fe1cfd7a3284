/* Launches of Triton kernels: Triton's own compiled code specialises a call, and hands the arguments to a launcher of the back end,
 * which is here. TritonFunction: a kernel of a module; TritonLauncher: what Triton calls to launch one, by its signature.
 *
 *   launcher.c    the launcher: grid, hooks, the launch
 *   words.c       arguments as the words of a launch, and the memory behind pointers */
#ifndef TILE_PYTHON_EXT_TRITON_LAUNCHER_H_
#define TILE_PYTHON_EXT_TRITON_LAUNCHER_H_

#include "python/ext/core/object.h"

int add_triton(PyObject* module);

#endif /* TILE_PYTHON_EXT_TRITON_LAUNCHER_H_ */
