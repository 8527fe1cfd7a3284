// Overlaps loads with products, as far as the candidate allows: loops over products fetch their operands ahead by TMA (fetch_ahead.h),
// else all threads copy them ahead (copy_ahead.h), else at least the operands of an iteration fit into shared memory.
//
//   absl::Status s = LoadAhead(program);
//   AheadOf(*program.function)            // what became of it (plan/resources/candidate.h)
#ifndef TILE_CODEGEN_PASSES_PIPELINE_LOAD_AHEAD_H_
#define TILE_CODEGEN_PASSES_PIPELINE_LOAD_AHEAD_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status LoadAhead(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_PIPELINE_LOAD_AHEAD_H_
