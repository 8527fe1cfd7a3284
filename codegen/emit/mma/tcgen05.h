// Products by tcgen05: one thread begins all instructions of a product, which read both operands from a stage through descriptors and add to columns
// of tensor memory.
//
//   BeginInColumns(e, mma, plan, lhs, rhs, {.first = columns, .any = any});
//
// Internal to codegen/emit.
#ifndef TILE_CODEGEN_EMIT_MMA_TCGEN05_H_
#define TILE_CODEGEN_EMIT_MMA_TCGEN05_H_

#include "codegen/emit/context/emitter.h"
#include "codegen/emit/mma/staged_mma_emitter.h"
#include "codegen/plan/mma/staged_mma.h"

namespace tile::codegen {

// Where the sums are (i32), and whether there are any (i1): else the product begins with zeros.
struct ColumnsAt {
  llvm::Value *first, *any;
};

void BeginInColumns(Emitter& e, const ir::Op& mma, const StagedMmaPlan& plan, const StagedAt& lhs, const StagedAt& rhs,
                    const ColumnsAt& sums);

// Where the block scales of both operands begin in shared memory (i32), as codegen/layout/block_scales.h says.
struct ScalesAt {
  llvm::Value *lhs, *rhs;
};

// The same with block scales, which the thread copies to tensor memory first.
void BeginScaledInColumns(Emitter& e, const ir::Op& mma, const StagedMmaPlan& plan, const StagedAt& lhs,
                          const StagedAt& rhs, const ScalesAt& scales, const ColumnsAt& sums);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_MMA_TCGEN05_H_
