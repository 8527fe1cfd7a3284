// The producer: the last warp of a block whose loops fetch ahead. It runs what the loads need of the program (scalars, views,
// loops around them), waits for free stages and starts TMA copies into them, as far ahead of the other warps as there are
// stages (ring.h).
#ifndef TILE_CODEGEN_EMIT_PIPELINE_PRODUCER_H_
#define TILE_CODEGEN_EMIT_PIPELINE_PRODUCER_H_

#include "codegen/emit/context/emitter.h"
#include "codegen/plan/staging.h"

namespace tile::codegen {

// Starts the copies of a tile to shared memory (i32 address), which count their bytes at the barrier; the thread does that is `mine`.
void LoadByTma(Emitter& e, const ir::Op& load, const StagedTile& tile, llvm::Value* to, llvm::Value* barrier,
               llvm::Value* mine);

// What the producer warp does for one tile block.
void EmitProducer(Emitter& e, const ir::Function& function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_PIPELINE_PRODUCER_H_
