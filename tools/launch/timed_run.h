// One launch on the default stream of a device, waited for and timed.
//
//   RunLog log;                       // hears what the run says of itself
//   log.Attach(&run_options);
//   RunOutcome outcome = RunTimed(kernel, run_options, blocks, &log, [&](runtime::Stream* s) { return launch.Launch(s); });
//   if (!outcome.ok()) …outcome.reports[0].ToString()
//
// One thread.
#ifndef TILE_TOOLS_LAUNCH_TIMED_RUN_H_
#define TILE_TOOLS_LAUNCH_TIMED_RUN_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/device.h"
#include "tools/launch/device_choice.h"

namespace tile::tools {

struct RunOutcome {
  absl::Status status;                    // the launch could not be made, or was not finished
  std::vector<runtime::Report> reports;   // the kernel trapped
  std::vector<runtime::Report> warnings;  // what is probably not meant
  runtime::RunCounts counts;
  double ms = 0;  // the kernel alone

  bool ok() const { return status.ok() && reports.empty(); }
};

// Must outlive the launches that it is attached to.
struct RunLog {
  std::vector<runtime::Report> warnings;
  runtime::RunCounts counts;

  void Attach(runtime::RunOptions* options);
};

// `options`: those of the launch. `blocks`: of its grid.
RunOutcome RunTimed(const DeviceKernel& kernel, const runtime::RunOptions& options, int64_t blocks, RunLog* log,
                    absl::FunctionRef<absl::Status(runtime::Stream*)> launch);

}  // namespace tile::tools

#endif  // TILE_TOOLS_LAUNCH_TIMED_RUN_H_
