// Memory of this process on a device: on the cpu it is used where it is, on a GPU copied there and back.
//
//   HostMemory memory(device);
//   absl::StatusOr<uint64_t> address = memory.Add(data, bytes);   // on the device, for ArrayLaunch or a LaunchSpec
//   …launch, and wait…
//   memory.Download();                                              // what the kernel may have written
//
// The memory of the process must live as long. One thread. Errors: those of Device.
#ifndef TILE_RUNTIME_HOST_MEMORY_H_
#define TILE_RUNTIME_HOST_MEMORY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device.h"

namespace tile::runtime {

class HostMemory {
 public:
  enum class Transfer {
    kBoth,
    kIn,   // the launch does not write to it
    kOut,  // its contents do not matter before the launch
  };

  explicit HostMemory(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  // Its address on the device; uploaded when this returns.
  absl::StatusOr<uint64_t> Add(void* data, uint64_t bytes, Transfer transfer = Transfer::kBoth);
  absl::Status Download();

  // Keep remembers what the ranges hold, Restore brings it back, for launches that are to begin alike. On the device's side
  // alone, and not of what is only taken out.
  absl::Status Keep();
  absl::Status Restore();

 private:
  struct Copy {
    void* host;
    uint64_t bytes;
    Transfer transfer;
    uint64_t address;
    uint64_t kept = 0;  // 0: not kept
  };
  bool in_place() const { return device_->info().kind == DeviceKind::kCpu; }

  std::shared_ptr<Device> device_;
  std::vector<Copy> copies_;
};

}  // namespace tile::runtime

#endif  // TILE_RUNTIME_HOST_MEMORY_H_
