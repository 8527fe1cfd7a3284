// The GPUs of this machine, without starting one.
//
//   absl::StatusOr<GpuList> list = ListGpus();    // one GPU at least
//
// Errors: those of Driver::Open (driver.h), cuda.no_device among them.
#ifndef TILE_RUNTIME_CUDA_GPUS_H_
#define TILE_RUNTIME_CUDA_GPUS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tile::runtime {

struct Gpu {
  std::string name;  // "NVIDIA H100 80GB HBM3"
  int sm = 0;        // compute capability: 90 for 9.0
};

struct GpuList {
  int driver_version = 0;  // 13000: CUDA 13.0
  std::vector<Gpu> gpus;
};

absl::StatusOr<GpuList> ListGpus();

}  // namespace tile::runtime

#endif  // TILE_RUNTIME_CUDA_GPUS_H_
