/* Devices, programs and kernels. */
#ifndef TILE_PYTHON_EXT_CORE_DEVICE_H_
#define TILE_PYTHON_EXT_CORE_DEVICE_H_

#include "python/ext/core/object.h"

extern PyTypeObject *DeviceType, *ProgramType, *KernelType;

int add_device(PyObject* module);

#endif /* TILE_PYTHON_EXT_CORE_DEVICE_H_ */
