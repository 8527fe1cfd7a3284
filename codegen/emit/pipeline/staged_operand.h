// Tiles between registers and the places in shared memory that products read. Internal to codegen/emit.
#ifndef TILE_CODEGEN_EMIT_PIPELINE_STAGED_OPERAND_H_
#define TILE_CODEGEN_EMIT_PIPELINE_STAGED_OPERAND_H_

#include "codegen/emit/context/emitter.h"
#include "codegen/plan/staging/staging.h"

namespace tile::codegen {

// Writes the value's registers to this memory, as `tile` says. Before others read it they need a proxy fence of the writers and a barrier; before
// it is written again, a barrier.
void StoreOperand(Emitter& e, const ir::Value* v, const StagedTile& tile, llvm::Value* memory);

// The same of block scales, rows x blocks, as tcgen05.cp takes them (codegen/layout/block_scales.h).
void StoreScales(Emitter& e, const ir::Value* v, llvm::Value* memory);

// The registers of this value, which lies in this memory as `tile` says. Those who wrote it are awaited.
Registers LoadOperand(Emitter& e, const ir::Value* v, const StagedTile& tile, llvm::Value* memory);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_PIPELINE_STAGED_OPERAND_H_
