// One run of a kernel on arrays of this process: binds values to arguments by the kernel's interface, allocates outputs
// and workspace, and runs it on the VM. A kernel without interface takes its parameters one by one: an array for a
// pointer, a number for a scalar. Arrays are in and out then, but for pointers to const of a kernel from C++.
#ifndef TILE_TOOLS_LAUNCH_RUN_LAUNCH_H_
#define TILE_TOOLS_LAUNCH_RUN_LAUNCH_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "tools/cli/progress.h"
#include "tools/data/array.h"
#include "tools/data/value.h"
#include "vm/vm.h"

namespace tile::tools {

struct LaunchRequest {
  std::vector<std::string> inputs;                              // VALUEs in order of in and inout arrays
  std::vector<std::pair<std::string, std::string>> args;        // NAME=VALUE
  std::vector<int64_t> grid;                                    // empty: by the launch rule
  bool cast = false;
  uint64_t seed = 0;
  int threads = 0;
  vm::Unspecified unspecified = vm::Unspecified::kZero;
  std::optional<vm::StartOrder> order;                          // of the blocks; none: as the VM takes it
  int64_t num_sms = 0;                                          // for launch rules; 0: as many as threads
  Progress* progress = nullptr;                                 // shows how far the inputs are
};

// An array argument of a prepared run.
struct BoundArray {
  std::string name;
  ir::Direction direction = ir::Direction::kInOut;
  Array array;
  bool initialized = true;
  bool given = true;             // by the caller; false: made here, with the interface's initial value
};

struct PreparedRun {
  std::vector<BoundArray> arrays;        // as the interface, or one per pointer parameter
  std::vector<Array> workspaces;
  vm::Launch launch;                     // refers to the arrays' memory

  BoundArray* Find(absl::string_view name);
};

// Gives outputs their initial values and workspaces their zeros, before a launch. PrepareRun has done so for the first.
void ResetRun(const ir::Function& f, PreparedRun* run);

// The error of a VALUE as a diagnostic: "x.npy: error[run.value]: …".
absl::Status ValueError(absl::string_view text, const absl::Status& status);

// Errors: what is missing, of the wrong type or shape. Those of one value are diagnostics already.
absl::StatusOr<std::unique_ptr<PreparedRun>> PrepareRun(const ir::Function& f, const LaunchRequest& request);

}  // namespace tile::tools

#endif  // TILE_TOOLS_LAUNCH_RUN_LAUNCH_H_
