// The checks of --check=full: see check_full.cc.
#ifndef TILE_VM_CHECK_FULL_H_
#define TILE_VM_CHECK_FULL_H_

#include <memory>

#include "vm/check.h"
#include "vm/launch_state.h"

namespace tile::vm {

// A checker for one launch, whose buffers are in state.memory. The launch runs on one thread.
std::unique_ptr<Checker> MakeFullChecker(LaunchState& state);

}  // namespace tile::vm

#endif  // TILE_VM_CHECK_FULL_H_
