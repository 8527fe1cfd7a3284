// What a launch of a kernel is given, and what comes of it. Values; the API around them is vm/vm.h.
#ifndef TILE_VM_MACHINE_LAUNCH_H_
#define TILE_VM_MACHINE_LAUNCH_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "ir/run_report.h"
#include "vm/machine/clock.h"
#include "vm/machine/coverage.h"
#include "vm/machine/launch_types.h"
#include "vm/machine/start_order.h"

namespace tile::vm {

struct Launch {
  int64_t grid[3] = {1, 1, 1};   // 0 in one: no block runs
  std::vector<uint64_t> params;  // one per parameter: the low bits hold the scalar, or the address
  std::vector<Buffer> buffers;
  std::vector<ArrayArgument> arrays;  // none are known of a launch without interface
  std::vector<WrittenBytes> written;  // of buffers that are initialized in part
  std::vector<PointerArgument> pointers;
  bool any_array = false;  // a pointer may lead from its array into any other memory of the launch
  int threads = 0;         // at most; 0: all cores. Little work takes fewer
  CheckLevel check = CheckLevel::kBounds;
  Unspecified unspecified = Unspecified::kZero;
  bool coverage = false;  // under kFull: Outcome::coverage is asked for
  // Rounds of loops that one block may make; 0: no limit. A guard against endless programs when inputs are not trusted.
  int64_t max_rounds = 0;
  uint64_t max_tile_bytes = uint64_t{8} << 30;    // memory for tiles of the blocks that run at once
  uint64_t max_alloca_bytes = uint64_t{1} << 30;  // memory that one block may allocate
  // How the blocks start; none: linear, and under kFull then other orders, from the same memory (orders.h). Results are those
  // of the linear order.
  std::optional<StartOrder> order;
  // Receives what print_tko prints, one call per print, never two at once. Null: standard output.
  std::function<void(absl::string_view)> print;
  // Asked now and then by the thread that called Run, while it waits too; true: stop, the status is then Cancelled. What
  // was written so far stays. May be null.
  std::function<bool()> interrupted;
  // Counts the blocks that are done, from 0, for whoever shows progress meanwhile. May be null.
  std::atomic<int64_t>* blocks_done = nullptr;
  // By the first a launch chooses how many threads it takes (thread_plan.h), by the second in how many orders it runs under
  // kFull (orders.h).
  ClockNs clock = SteadyNs;
  ClockNs work_clock = ThreadNs;
};

// A mistake of the kernel found while running, or what may be one.
using Report = ir::RunReport;

struct Outcome {
  absl::Status status;  // the launch could not be made (wrong parameter count, grid, memory), or was interrupted
  // The kernel trapped, or asserted; at most kMaxReports, of which no two say the same of different blocks.
  std::vector<Report> reports;
  // What works as on hardware but is probably not meant: once for each operation, with its first block in linear order.
  // Of kFull some are errors instead; of kNone there are none.
  std::vector<Report> warnings;
  std::vector<Coverage> coverage;  // of the first order, as far as it came
  int64_t blocks_run = 0;
  int orders = 1;   // in how many orders of the blocks the launch ran
  int threads = 1;  // that ran it, the caller's among them
  bool ok() const { return status.ok() && reports.empty(); }
};
inline constexpr size_t kMaxReports = 32;

}  // namespace tile::vm

#endif  // TILE_VM_MACHINE_LAUNCH_H_
