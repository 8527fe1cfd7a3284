// Marks the reductions to the greatest f32 that may compare integers (codegen/plan/mma/integer_max.h), on GPUs with an integer maximum of
// three operands.
#ifndef TILE_CODEGEN_PASSES_MMA_INTEGER_MAX_H_
#define TILE_CODEGEN_PASSES_MMA_INTEGER_MAX_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status IntegerMax(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_MMA_INTEGER_MAX_H_
