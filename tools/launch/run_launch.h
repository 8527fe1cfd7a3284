// One run of a kernel on arrays of this process: binds values to arguments by the kernel's interface, allocates outputs, and
// makes a runtime::ArrayLaunch of it. A kernel without interface takes its parameters one by one: an array for a pointer, a
// number for a scalar. Arrays are in and out then, but for pointers to const of a kernel from C++.
#ifndef TILE_TOOLS_LAUNCH_RUN_LAUNCH_H_
#define TILE_TOOLS_LAUNCH_RUN_LAUNCH_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "runtime/array_launch.h"
#include "runtime/host_memory.h"
#include "tools/cli/progress.h"
#include "tools/data/array.h"
#include "tools/launch/device_choice.h"
#include "tools/launch/timed_run.h"

namespace tile::tools {

struct LaunchRequest {
  std::vector<std::string> inputs;                        // VALUEs in order of in and inout arrays
  std::vector<std::pair<std::string, std::string>> args;  // NAME=VALUE
  std::vector<int64_t> grid;                              // empty: by the launch rule
  bool cast = false;
  uint64_t seed = 0;
  runtime::RunOptions options;   // of the VM
  Progress* progress = nullptr;  // shows how far the inputs are
};

// An array argument of a prepared run.
struct BoundArray {
  std::string name;
  ir::Direction direction = ir::Direction::kInOut;
  Array array;
};

// Later members refer to earlier ones.
struct PreparedRun {
  DeviceKernel kernel;
  RunLog log;
  std::vector<BoundArray> arrays;  // as the interface, or one per pointer parameter
  std::unique_ptr<runtime::HostMemory> memory;
  std::unique_ptr<runtime::ArrayLaunch> launch;
  runtime::LaunchSpec spec;  // what the device is given

  BoundArray* Find(absl::string_view name);
  int64_t blocks() const { return spec.grid[0] * spec.grid[1] * spec.grid[2]; }
};

// The error of a VALUE as a diagnostic: "x.npy: error[run.value]: …".
absl::Status ValueError(absl::string_view text, const absl::Status& status);

// Errors: what is missing, of the wrong type or shape. Those of one value are diagnostics already.
absl::StatusOr<std::unique_ptr<PreparedRun>> PrepareRun(const DeviceKernel& kernel, const LaunchRequest& request);

}  // namespace tile::tools

#endif  // TILE_TOOLS_LAUNCH_RUN_LAUNCH_H_
