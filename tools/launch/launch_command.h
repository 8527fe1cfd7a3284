// What run, bench and replay share: their options, and everything between the command line and a launch.
#ifndef TILE_TOOLS_LAUNCH_LAUNCH_COMMAND_H_
#define TILE_TOOLS_LAUNCH_LAUNCH_COMMAND_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/device.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/data/compare_arrays.h"
#include "tools/launch/device_choice.h"
#include "tools/launch/run_launch.h"
#include "tools/launch/timed_run.h"
#include "tools/module/load.h"

namespace tile::tools {

// Where and how kernels run: --device, --images, --compile, --threads, --check, --unspecified, --order.
std::vector<OptionSpec> DeviceOptionSpecs();

// Those, and --kernel, --grid, --arg, --seed, --cast.
std::vector<OptionSpec> LaunchOptionSpecs();

// These, without --kernel, --device, --images, --compile and --threads, as a request; --rtol, --atol and --ulp as a tolerance.
// False after an error on stderr.
bool ParseLaunchOptions(const Options& options, LaunchRequest* request, int* exit);
bool ParseTolerance(const Options& options, Tolerance* tolerance, int* exit);

// A kernel with its arguments, ready to run. Later members refer to earlier ones.
struct LaunchJob {
  std::unique_ptr<DeviceChoice> device;
  std::string file;  // for messages
  std::unique_ptr<LoadedModule> loaded;
  const ir::Function* function = nullptr;
  std::unique_ptr<PreparedRun> run;
  bool kept = false;  // the memory before the first of repeated launches
};

// ChooseDevice for a command that runs nothing on the VM beside it: the VM's options do not go with a GPU.
std::unique_ptr<DeviceChoice> ChooseOnlyDevice(const Options& options, int* exit);

// From `K [INPUTS…] [options]`. Null after an error on stderr, with the exit code in *exit. `progress` shows how far the
// inputs are. `order`: of the blocks, where --order says nothing.
std::unique_ptr<LaunchJob> PrepareJob(const Options& options, Progress* progress, int* exit,
                                      const std::string& order = "");
// The same of another file than the first, on a device of its own. `name`: of
// the kernel; empty: the only one.
std::unique_ptr<LaunchJob> PrepareJob(const Options& options, const std::string& path,
                                      std::unique_ptr<DeviceChoice> device, const std::string& name, Progress* progress,
                                      int* exit, const std::string& order = "");

// Where prints of the kernel go; none: standard output.
using PrintFunction = std::function<void(absl::string_view)>;

// Where it is none and there is a bar, standard output makes room for it.
void SetPrint(const DeviceKernel& kernel, PrintFunction print, Progress* progress);

// Runs and measures; results are in the arrays then, also those of a kernel that trapped. The launch covers the part from
// `from` to `to` of what `progress` shows.
RunOutcome RunJob(LaunchJob& job, PrintFunction print, Progress* progress, double from, double to);
// For measuring: every call begins with the memory as it was before the first, results are not brought back. The caller ends
// the progress.
RunOutcome RepeatJob(LaunchJob& job, PrintFunction print, Progress* progress, double from, double to);

// How many orders of the blocks --check=full tried, on stderr. Nothing of other launches.
void ReportOrders(const runtime::LaunchSpec& spec, const RunOutcome& outcome);

// The exit code of a launch that could not be made or trapped, after printing why, and warnings; kOk if all went well.
int ReportOutcome(const RunOutcome& outcome, const std::string& file);

}  // namespace tile::tools

#endif  // TILE_TOOLS_LAUNCH_LAUNCH_COMMAND_H_
