// What run, bench and replay share: their options, and everything between the command line and a launch.
#ifndef TILE_TOOLS_LAUNCH_LAUNCH_COMMAND_H_
#define TILE_TOOLS_LAUNCH_LAUNCH_COMMAND_H_

#include <memory>
#include <string>
#include <vector>

#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/data/compare_arrays.h"
#include "tools/launch/engine.h"
#include "tools/launch/run_launch.h"
#include "tools/module/load.h"
#include "vm/vm.h"

namespace tile::tools {

// --kernel, --grid, --arg, --device, --images, --threads, --check, --unspecified, --order, --seed, --cast.
std::vector<OptionSpec> LaunchOptionSpecs();

// They, without --kernel, --device and --images, as a request; --rtol, --atol and --ulp as a tolerance. False after an error on stderr.
bool ParseLaunchOptions(const Options& options, LaunchRequest* request, vm::CheckLevel* check, int* exit);
bool ParseTolerance(const Options& options, Tolerance* tolerance, int* exit);

// A kernel with its arguments, ready to run. Later members refer to earlier ones.
struct LaunchJob {
  std::unique_ptr<DeviceChoice> device;
  std::string file;   // for messages
  std::unique_ptr<LoadedModule> loaded;
  const ir::Function* function = nullptr;
  std::unique_ptr<PreparedRun> run;
  std::unique_ptr<Engine> engine;

  vm::Launch& launch() { return run->launch; }
  std::vector<BufferUse> Uses() const;
  int64_t blocks() const { return BlocksOf(run->launch); }
  static int64_t BlocksOf(const vm::Launch& launch) { return launch.grid[0] * launch.grid[1] * launch.grid[2]; }
};

// ChooseDevice for a command that runs nothing on the VM beside it: the VM's options do not go with a GPU.
std::unique_ptr<DeviceChoice> ChooseOnlyDevice(const Options& options, int* exit);

// From `K [INPUTS…] [options]`. Null after an error on stderr, with the exit code in *exit. `progress` shows how far the
// inputs are.
std::unique_ptr<LaunchJob> PrepareJob(const Options& options, Progress* progress, int* exit);
// The same of another file than the first, on a device of its own. `name`: of
// the kernel; empty: the only one.
std::unique_ptr<LaunchJob> PrepareJob(const Options& options, const std::string& path, std::unique_ptr<DeviceChoice> device,
                                      const std::string& name, Progress* progress, int* exit);

// Runs and measures. The launch covers the part from `from` to `to` of what `progress` shows.
// `repeat`: Engine::Repeat instead of Run; the caller ends the progress.
vm::Outcome RunLaunch(Engine& engine, vm::Launch& launch, const std::vector<BufferUse>& uses, bool repeat,
                      Progress* progress, double from, double to, double* ms);

// How many orders of the blocks --check=full tried, on stderr. Nothing of other launches.
void ReportOrders(const vm::Launch& launch, const vm::Outcome& outcome);

// The exit code of a launch that could not be made or trapped, after printing why, and warnings; kOk if all went well.
int ReportOutcome(const vm::Outcome& outcome, const std::string& file);

}  // namespace tile::tools

#endif  // TILE_TOOLS_LAUNCH_LAUNCH_COMMAND_H_
