/* Launches. A launch is called as often as a program repeats it, so the form of its last call that needs no help from Python is
 * remembered (`remember`): what the call was given, the stream that this means, and what it returns. A call of the same form runs here;
 * every other one goes to the method _call. */
#ifndef TILE_PYTHON_EXT_CORE_LAUNCH_H_
#define TILE_PYTHON_EXT_CORE_LAUNCH_H_

#include "python/ext/core/object.h"

extern PyTypeObject* LaunchType;

int add_launch(PyObject* module);

#endif /* TILE_PYTHON_EXT_CORE_LAUNCH_H_ */
