// A kernel on arrays of this process, on any device: copies them in, launches, copies them out. What tools use, where
// every launch is on its own.
//
//   HostLaunch launch(device, kernel);
//   launch.Bind(*function, grid, words, arrays);      // words: host addresses, as for the VM
//   absl::StatusOr<double> ms = launch.Run();         // one launch, waited for; Aborted: it trapped
//   launch.CopyOut();                                 // arrays with copy_out
//
// Addresses on the device are aligned to 4096 bytes, so that what a launch rule found out about alignment stays true.
// One thread.
#ifndef TILE_RUNTIME_HOST_LAUNCH_H_
#define TILE_RUNTIME_HOST_LAUNCH_H_

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/device.h"

namespace tile::runtime {

struct HostArray {
  std::string name;
  void* data = nullptr;
  uint64_t bytes = 0;
  ir::Element element;
  std::vector<int64_t> shape;  // for messages; may be empty
  bool initialized = true;     // false: contents need not be copied in
  bool copy_out = true;
  bool restore = false;        // Restore brings back what it held before the first launch
};

class HostLaunch {
 public:
  HostLaunch(std::shared_ptr<Device> device, std::shared_ptr<LoadedKernel> kernel)
      : device_(std::move(device)), kernel_(std::move(kernel)) {}
  ~HostLaunch();
  HostLaunch(const HostLaunch&) = delete;
  HostLaunch& operator=(const HostLaunch&) = delete;

  // Once. Pointers in `words` must be null or lie in one of the arrays.
  absl::Status Bind(const ir::Function& function, const std::array<int64_t, 3>& grid, std::vector<uint64_t> words,
                    std::vector<HostArray> arrays);
  // Milliseconds between events around the launch.
  absl::StatusOr<double> Run();
  absl::Status CopyIn();
  // Arrays with `restore` as they were after Bind, from a copy on the device.
  absl::Status Restore();
  absl::Status CopyOut();

 private:
  struct Copy {
    HostArray host;
    uint64_t allocation = 0, address = 0;
    uint64_t pristine = 0;  // 0: not restorable
  };
  // The device address of a host address.
  absl::StatusOr<uint64_t> Translate(uint64_t address, int param) const;

  std::shared_ptr<Device> device_;
  std::shared_ptr<LoadedKernel> kernel_;
  std::vector<Copy> copies_;
  std::shared_ptr<PreparedLaunch> launch_;
  std::unique_ptr<Event> start_, end_;
};

}  // namespace tile::runtime

#endif  // TILE_RUNTIME_HOST_LAUNCH_H_
