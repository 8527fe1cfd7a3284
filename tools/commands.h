// The commands of tilevm.
#ifndef TILE_TOOLS_COMMANDS_H_
#define TILE_TOOLS_COMMANDS_H_

#include <vector>

#include "tools/cli/options.h"
#include "tools/run_launch.h"
#include "vm/vm.h"

namespace tile::tools {

extern const Command kRunCommand;
extern const Command kBenchCommand;
extern const Command kReplayCommand;
extern const Command kAsCommand;
extern const Command kDisCommand;
extern const Command kVerifyCommand;
extern const Command kInfoCommand;
extern const Command kOpsCommand;
extern const Command kImportCommand;
extern const Command kExportCommand;

// What run and bench share: the options, and --grid, --arg, --check, --threads, --seed, --cast as a request. False after
// an error on stderr.
std::vector<OptionSpec> LaunchOptionSpecs();
bool ParseLaunchOptions(const Options& options, LaunchRequest* request, vm::CheckLevel* check, int* exit);

}  // namespace tile::tools

#endif  // TILE_TOOLS_COMMANDS_H_
