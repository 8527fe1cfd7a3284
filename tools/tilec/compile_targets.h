// GPUs to compile for, as --sm names them: 90, 90a, sm_90, 100f; `all` targets but families; `native`, those that are in this machine.
#ifndef TILE_TOOLS_TILEC_COMPILE_TARGETS_H_
#define TILE_TOOLS_TILEC_COMPILE_TARGETS_H_

#include <string>
#include <vector>

#include "codegen/target/target.h"

namespace tile::tools {

// Each target once, in the order named. The exit code, after an error on stderr if it is not kOk: kUsage for a word that
// names no target, kEnvironment for `native` where there is no GPU, or one that no target is for.
int ReadTargets(const std::vector<std::string>& lists, std::vector<const codegen::Target*>* targets);

}  // namespace tile::tools

#endif  // TILE_TOOLS_TILEC_COMPILE_TARGETS_H_
