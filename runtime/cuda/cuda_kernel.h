// Kernels on a GPU: choosing an image, loading it, packing a launch. Internal to runtime/cuda.
#ifndef TILE_RUNTIME_CUDA_CUDA_KERNEL_H_
#define TILE_RUNTIME_CUDA_CUDA_KERNEL_H_

#include <memory>

#include "runtime/cuda/context.h"
#include "runtime/device.h"

namespace tile::runtime::cuda {

// Where no image fits, the kernel is compiled; without a `jit` (null) that is error run.no_image: here if no image can run
// on this device, whatever the arguments, else when a launch is prepared.
absl::StatusOr<std::shared_ptr<LoadedKernel>> MakeKernel(std::shared_ptr<Context> context,
                                                         std::shared_ptr<const Program> program,
                                                         const ir::Function& function, std::shared_ptr<Jit> jit);

}  // namespace tile::runtime::cuda

#endif  // TILE_RUNTIME_CUDA_CUDA_KERNEL_H_
