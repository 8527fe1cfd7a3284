/* Tensors of the CPU that say they were on a GPU (tilevm/_frontend/torch_cuda). */
#ifndef TILE_PYTHON_EXT_FRONTEND_AS_CUDA_H_
#define TILE_PYTHON_EXT_FRONTEND_AS_CUDA_H_

#include "python/ext/core/object.h"

int add_as_cuda(PyObject* module);

#endif /* TILE_PYTHON_EXT_FRONTEND_AS_CUDA_H_ */
