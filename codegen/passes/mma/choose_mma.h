// Chooses the instruction of each matrix product, and how warps share the tile: the first kind of codegen/plan/mma/mma_kinds.def that can do it.
// Later passes and the emitter read the choice (KindOf).
//
//   ChooseMma(target, schedule, &module, function);
//
// Before:                          After:
//   %s = mmaf %x, %y, %acc           %s = mmaf %x, %y, %acc {instruction = …, shape = [16, 8, 16], warps = [2, 2]}
#ifndef TILE_CODEGEN_PASSES_MMA_CHOOSE_MMA_H_
#define TILE_CODEGEN_PASSES_MMA_CHOOSE_MMA_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

void ChooseMma(const Target& target, const Schedule& schedule, ir::Module* module, ir::Function* function);

// The pass, with the schedule that was decided.
absl::Status ChooseMma(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_MMA_CHOOSE_MMA_H_
