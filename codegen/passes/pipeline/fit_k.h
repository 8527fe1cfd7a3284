// Makes iterations of products smaller along K (resize_k.h) where their operands, which nothing loads ahead, exceed shared memory: the
// operands of an iteration go through it together.
#ifndef TILE_CODEGEN_PASSES_PIPELINE_FIT_K_H_
#define TILE_CODEGEN_PASSES_PIPELINE_FIT_K_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status FitK(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_PIPELINE_FIT_K_H_
