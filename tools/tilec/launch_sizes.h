// Sizes of a launch for `tilec --explain`, as the command line gives them: shapes of arrays and integers, from which the kernel's
// interface makes parameters and the grid.
//
//   --arg a=4096x4096 --arg n=7 --grid=32,32        of a kernel without interface parameters by number: --arg 3=4096
#ifndef TILE_TOOLS_TILEC_LAUNCH_SIZES_H_
#define TILE_TOOLS_TILEC_LAUNCH_SIZES_H_

#include <optional>

#include "absl/status/statusor.h"
#include "codegen/plan/resources/work.h"
#include "ir/module.h"
#include "tools/cli/options.h"

namespace tile::tools {

// nullopt: neither --arg nor --grid was given. Errors say what is missing or wrong.
absl::StatusOr<std::optional<codegen::LaunchSizes>> ReadLaunchSizes(const Options& options, const ir::Function& kernel,
                                                                    int multiprocessors);

}  // namespace tile::tools

#endif  // TILE_TOOLS_TILEC_LAUNCH_SIZES_H_
