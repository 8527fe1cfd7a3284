// Devices by name: "cpu", "cuda" (the first GPU), "cuda:N", or "auto": the first GPU if there is one, else the cpu.
// The CUDA driver is opened only for "cuda" and "auto".
//
//   DeviceOptions options;
//   std::string why;                         // of "auto": why there is no GPU
//   absl::StatusOr<std::shared_ptr<Device>> device = OpenDevice("auto", options, &why);
//
// Errors: run.device for a name that means nothing; those of OpenCudaDevice.
#ifndef TILE_RUNTIME_OPEN_DEVICE_H_
#define TILE_RUNTIME_OPEN_DEVICE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/device.h"

namespace tile::runtime {

struct DeviceOptions {
  int threads = 0;  // of the VM; 0: all cores
};

// Whether the name is one that OpenDevice knows; opens nothing.
bool IsDeviceName(absl::string_view name);

absl::StatusOr<std::shared_ptr<Device>> OpenDevice(absl::string_view name, const DeviceOptions& options = {},
                                                   std::string* why_no_gpu = nullptr);

}  // namespace tile::runtime

#endif  // TILE_RUNTIME_OPEN_DEVICE_H_
