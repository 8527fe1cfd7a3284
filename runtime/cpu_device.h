// The cpu device: memory of this process, kernels on the VM. Work is done when a call returns, in the order of the calls.
// Every access of a kernel is checked against LaunchSpec::memory; a mistake is an Aborted status whose text is the VM's
// reports.
#ifndef TILE_RUNTIME_CPU_DEVICE_H_
#define TILE_RUNTIME_CPU_DEVICE_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/device.h"

namespace tile::runtime {

// threads: of the VM; 0: all cores.
std::shared_ptr<Device> MakeCpuDevice(int threads = 0);

// Whether RunOptions::order may say this; the error says what is expected.
absl::Status CheckOrder(absl::string_view order);

}  // namespace tile::runtime

#endif  // TILE_RUNTIME_CPU_DEVICE_H_
