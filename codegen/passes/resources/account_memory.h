// How much shared memory the kernel takes, found out before it is emitted (plan/resources/shared_use.h), and whether the GPU has it.
//
//   absl::Status s = AccountMemory(program);      // Fit::kTooMuchShared: another candidate may take less
#ifndef TILE_CODEGEN_PASSES_RESOURCES_ACCOUNT_MEMORY_H_
#define TILE_CODEGEN_PASSES_RESOURCES_ACCOUNT_MEMORY_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status AccountMemory(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_RESOURCES_ACCOUNT_MEMORY_H_
