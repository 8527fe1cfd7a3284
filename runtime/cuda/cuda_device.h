// A GPU through the CUDA driver, which is opened at run time.
//
//   absl::StatusOr<std::shared_ptr<Device>> device = OpenCudaDevice(0);
//
// Kernels come from images of the program (ABI.md). The driver compiles PTX; what no image fits is compiled if a Jit is set,
// else refused. The device uses the
// primary context, as the CUDA runtime and other libraries of the process do.
//
// Errors: those of Driver::Open, cuda.no_such_device.
#ifndef TILE_RUNTIME_CUDA_CUDA_DEVICE_H_
#define TILE_RUNTIME_CUDA_CUDA_DEVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device.h"

namespace tile::runtime {

absl::StatusOr<std::shared_ptr<Device>> OpenCudaDevice(int ordinal);

}  // namespace tile::runtime

#endif  // TILE_RUNTIME_CUDA_CUDA_DEVICE_H_
