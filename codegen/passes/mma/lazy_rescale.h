// Marks the multiplications that a warp leaves out where all of its factors are one (codegen/plan/mma/lazy_rescale.h): between the wait
// for a deferred product and the next one, or in a block of one warpgroup.
#ifndef TILE_CODEGEN_PASSES_MMA_LAZY_RESCALE_H_
#define TILE_CODEGEN_PASSES_MMA_LAZY_RESCALE_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status LazyRescale(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_MMA_LAZY_RESCALE_H_
