// The commands of tilevm.
#ifndef TILE_TOOLS_TILEVM_COMMANDS_H_
#define TILE_TOOLS_TILEVM_COMMANDS_H_

#include "tools/cli/options.h"

namespace tile::tools {

extern const Command kRunCommand;
extern const Command kBenchCommand;
extern const Command kReplayCommand;
extern const Command kDiffCommand;
extern const Command kAsCommand;
extern const Command kDisCommand;
extern const Command kVerifyCommand;
extern const Command kInfoCommand;
extern const Command kOpsCommand;
extern const Command kImportCommand;
extern const Command kExportCommand;

}  // namespace tile::tools

#endif  // TILE_TOOLS_TILEVM_COMMANDS_H_
